"""Command lines made at random, to be compared with a real bash, and the folder they are tried in."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FORBIDDEN_TEXT", "OUTSIDE_TEXT", "Line", "generated", "lay_out"]

OUTSIDE_TEXT = "text-of-a-file-outside"
FORBIDDEN_TEXT = "text-of-a-forbidden-file"

_FILES = [
    "a.md", "b.md", "c d", "-n", "-x.md", "new\nline", "[x]", "x", "*", "?", "{a,b}", "~", "$x", "é.md", ".hidden", "#c", "a=b",
    "back\\slash", "it's", 'say "x"', "dir/one", "dir/two.md", "dir/.h", "dir/-z", "dir2/one", "dir2/deep/er/f.md", "dir 3/x", "!",
]  # fmt: skip
_BAD = [
    "bad/private/key", "./bad/private/key", "bad//private/key", "bad/out/secret.txt", "bad/leak", "bad/back/key", "../secret.txt",
    "dir/../../secret.txt", "/etc/passwd", "bad/./out/secret.txt", "dir/../bad/private/key", "..", "bad/chain/key", "//etc/passwd",
]  # fmt: skip
_GOOD = [*_FILES, "missing", "dir", "dir2/", "./a.md", "dir/./one", "inner/one", "bad", "-", "--", "o1"]
_GLOBS = [
    "*", "*.md", "?", "??", "[a-c].md", "[!a]*", "[^a-z]*", "*/one", "dir*/*", "dir?/*", "*/", "dir/*", "./*.md", "a*", "*x*", "*.*",
    "d*/?[!n]*", "nomatch*", "dir2/*/*/*", "[x]", "[-n]*", "*[a-]*", "inner/*", ".h*", ".[!.]*", "dir/.*", "*/*/er/*", "**", "*e*.m?",
    "bad/*", "bad/*/key", "*/out/*", "bad/l*", "bad/b*/key", "*/*", "b?d/p*/*", ".*", "../*", "/e*",
]  # fmt: skip
_PLAIN = "abx12.,-_/:=+@%^"
_ODD = "ab '\"\\$*?[]{},.~#=!-12/|&;<>()`\n\t%:"
_PROGRAMS = [
    "printf '<%s>'", "echo", "echo -n", "cat", "ls -d", "ls -1", "wc -c", "grep -c .", "grep -l a", "head -n1", "head -c 5", "sort",
    "sort -u", "tail -n 1", "tr a-c x", "tr -d '\\n'", "cut -c1-3", "test -f", "test -d", "[ a =", "basename", "dirname", "stat -c %F",
    "touch", "mkdir -p", "true", "false", "nosuchprogram", "uniq", "diff", "date -u +%Z", "find dir -name", "printf %s%s\\\\n", "env",
    "'ca't", "\"ec\"ho", "\\cat", "/bin/echo", "/usr/bin/printf %s.", "pwd", "!", "xargs echo", "seq", "rev", "./x", "tee o3",
]  # fmt: skip
_JOINERS = [
    " | ",
    "|",
    " && ",
    "&&",
    " || ",
    "||",
    "; ",
    ";",
    "\n",
    " ;\n",
    " &&\n",
    "|\n",
    " | \\\n",
    " # c\n",
    "& ",
    " |& ",
    " ;; ",
]


@dataclass(frozen=True)
class Line:
    text: str
    names_a_bad_path: bool
    """Whether it was built around a path that no command may use, and not changed afterwards."""


def lay_out(folder: Path) -> Path:
    """Make the workspace afresh, with files of odd names in it, links, and a forbidden folder; return it."""
    shutil.rmtree(folder, ignore_errors=True)
    workspace = folder / "workspace"
    for number, name in enumerate(_FILES):
        place = workspace / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{name}\nb{number}\na\n" if number % 3 else "")
    (workspace / "bad/private").mkdir(parents=True)
    (workspace / "bad/private/key").write_text(FORBIDDEN_TEXT)
    (folder / "secret.txt").write_text(OUTSIDE_TEXT)
    (workspace / "bad/out").symlink_to(folder)
    (workspace / "bad/leak").symlink_to("../../secret.txt")
    (workspace / "bad/back").symlink_to("private")
    (workspace / "bad/chain").symlink_to("back")
    (workspace / "inner").symlink_to("dir")
    return workspace


def generated(count: int, seed: int = 12) -> list[Line]:
    rng = random.Random(seed)
    return [_line(rng) for _ in range(count)]


def _line(rng: random.Random) -> Line:
    if rng.random() < 0.1:
        path = _spelled(rng, rng.choice(_BAD))
        command = rng.choice(["cat {}", "cat a.md {}", "cat < {}", "echo x > {}", "grep -r . {}", "wc -c 'c d' {} | cat",
                              "touch {}", "true && head {}", "sort {} -o o2", "echo a 2>> {}", "ls {}", "test -f {}"])  # fmt: skip
        return Line(command.format(path), names_a_bad_path=True)
    text = _command(rng)
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
        text += rng.choice(_JOINERS[:11] if rng.random() < 0.85 else _JOINERS) + _command(rng)
    if rng.random() < 0.1:
        text = (
            rng.choice(["cd dir && ", "cd dir; ", "cd 'dir 3' && ", "cd bad && ", "cd inner && ", "\n\n", "  \t"])
            + text
        )
    if rng.random() < 0.1:
        text += rng.choice([" # the end", " #", "#x", ";", "\n", " ;\n\n", " \\\n", "&", "|"])
    for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 2])):
        text = _changed(rng, text)
    return Line(text, names_a_bad_path=False)


def _changed(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    match rng.choice(range(4)):
        case 0:
            return text[:at] + "\\\n" + text[at:]
        case 1:
            return text[:at] + rng.choice(_ODD) + text[at:]
        case 2:
            return text[:at] + text[at + 1 :]
    return text[:at] + rng.choice(["''", '""', "\\", " ", "2", "!"]) + text[at:]


def _command(rng: random.Random) -> str:
    parts = [rng.choice(_PROGRAMS)]
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        kind = rng.random()
        if kind < 0.4:
            parts.append(_spelled(rng, rng.choice(_GOOD)))
        elif kind < 0.65:
            parts.append(_half_quoted(rng, rng.choice(_GLOBS)))
        elif kind < 0.8:
            parts.append(_spelled(rng, "".join(rng.choice(_ODD) for _ in range(rng.randrange(1, 6)))))
        else:
            parts.append(
                "".join(rng.choice(_ODD if rng.random() < 0.3 else _PLAIN) for _ in range(rng.randrange(1, 7)))
            )
    if parts[0].startswith("["):
        parts.append("]")
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
        target = _spelled(
            rng, rng.choice(["o1", "o2", "o 3", "-o", "dir/o", "a.md", "dir", "missing/x", "inner/o", "*o"])
        )
        sort = rng.choice([">", "> ", ">>", "2>", "2> ", "1>", ">| ", "&>", "&>> ", "< ", "<", "0<", "2>&1 >", "2 >"])
        redirection = rng.choice([sort + target, sort + target, "2>&1", ">&2", "1>&2", "2>&1", ">& 2"])
        if rng.random() < 0.04:
            redirection = rng.choice(["2>&-", "2>&\\1", "3>o1", "12>o1", "<>o1", "2>&1x", ">&o1", "<&0", "<<x", "<<<x"])
        parts.insert(rng.randrange(len(parts) + 1), redirection)
    return rng.choice(["", "", "", "", "! "]) + rng.choice([" ", " ", "  ", "\t", " \\\n"]).join(parts)


def _spelled(rng: random.Random, text: str) -> str:
    """The text as one word that means exactly it, quoted in some mixture of all the ways there are."""
    word, at = "", 0
    while at < len(text) or not word:
        piece = text[at : at + rng.randrange(1, 6)]
        at += max(len(piece), 1)
        style = rng.randrange(4)
        if style == 0 and "'" not in piece:
            word += f"'{piece}'"
        elif style == 1:
            word += '"' + "".join("\\" + each if each in '$`"\\' else each for each in piece) + '"'
        else:
            for each in piece:
                plain = each.isalnum() or (each in "./_,:%@+^=-" and style == 2)
                word += each if plain else "'\n'" if each == "\n" else "\\" + each
    return word


def _half_quoted(rng: random.Random, pattern: str) -> str:
    if rng.random() < 0.6:
        return pattern
    at = rng.randrange(len(pattern) + 1)
    end = rng.randrange(at, len(pattern) + 1)
    quote = rng.choice("'\"")
    return pattern[:at] + quote + pattern[at:end] + quote + pattern[end:]
