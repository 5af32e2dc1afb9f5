"""The grammar of `shell.run`: from the text of a command to a `CommandLine`, or a refusal.

It is a small part of what bash understands, and means the same as in bash: words with quotes and backslashes,
patterns, pipes, `&&`, `||`, `;`, `!`, and redirections. Everything else is refused with what to do instead. The
text is read once, from left to right, in time that grows with its length and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from coilclaw.integrations.shell.programs import KEYWORDS, REFUSED

__all__ = ["CommandLine", "Pipeline", "Redirection", "Refused", "Stage", "Word", "from_argv", "parsed"]

_LONGEST_COMMAND = 32_768
_MOST_WORDS = 2_000
_MOST_STAGES = 100
_MOST_WILD = 100
_MOST_PATTERNS = 200

_BLANK = re.compile(r"(?:[ \t]|\\\n)*+")
_LINES = re.compile(r"(?:[ \t\n]|\\\n|#[^\n]*)*+")
"""What may stand after an operator that ends a command: empty lines and comments too."""
_ORDINARY = re.compile(r"[^ \t\n|&;()<>'\"\\$`*?\[\]{}~]+")
_ESCAPED = re.compile(r"(?:\\[^\n])+")
_WILD = re.compile(r"[*?]+")
_IN_DOUBLE_QUOTES = re.compile(r"[^\"\\$`]+")
_BRACKET = re.compile(r"\[[!^]?-?(?:[A-Za-z0-9_.,](?:-[A-Za-z0-9])?)++-?\]")
_RANGE = re.compile(r"(.)-([A-Za-z0-9])")
_OPERATOR = re.compile(r"\|\||&&|&>>|&>|>>|>\||>&|[|;\n<>]")
_SPECIAL = re.compile(r"[*?\[\\]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=", re.DOTALL)

_REFUSED_OPERATORS = {
    "<<": "a here-document is not supported; write the text to a file with tools.files.write and read that with <",
    "<<<": "`<<<` is not supported; pipe the text in with printf, or write it to a file and read that with <",
    "<>": "`<>` is not supported; use < or >",
    "<&": "`<&` is not supported; read from a file with <",
    "<(": "`<( )` is not supported; write the output to a file first and name that",
    ">(": "`>( )` is not supported; use a pipe",
    "|&": "`|&` is not supported; write 2>&1 |",
    ";;": "`;;` belongs to `case`, which is not supported; decide in Python",
    "&": "`&` would run the command in the background; start calls with tools.shell.run.start(…) instead",
    "(": "parentheses (subshells, functions, arrays) are not supported; write one call for each, or quote them",
    ")": "parentheses (subshells, functions, arrays) are not supported; write one call for each, or quote them",
}
_NO_VALUES = (
    "`{}` would be replaced by a value; there are no variables here: put the value in with a "
    "Python f-string, or quote the character with '…'"
)


_NO_SUBSTITUTION = (
    "command substitution is not supported; run it in its own call, in Python, and put its output in with an f-string"
)


class Refused(Exception):
    """The command is not run; the message says why, and what to do instead."""


@dataclass(frozen=True, slots=True)
class Word:
    """One argument; `pattern` is the unquoted pattern it was written as, with `\\` before what is literal in it."""

    text: str
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Redirection:
    descriptor: int
    operator: Literal["<", ">", ">>", ">&"]
    target: str
    """A path; after `>&` the number of a descriptor."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One program of a pipeline: its name and arguments, and where it reads and writes."""

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()

    @property
    def argv(self) -> list[str]:
        return [word.text for word in self.words]


@dataclass(frozen=True, slots=True)
class Pipeline:
    stages: tuple[Stage, ...]
    negated: bool = False
    joined: Literal[";", "&&", "||"] = ";"
    """When it runs: always, or depending on how the pipeline before it ended."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Everything that one call starts."""

    pipelines: tuple[Pipeline, ...]
    folder: str = "."
    """Where a leading `cd` leads."""

    @property
    def has_patterns(self) -> bool:
        return any(
            word.pattern is not None for pipeline in self.pipelines for stage in pipeline.stages for word in stage.words
        )

    @property
    def text(self) -> str:
        """All of it as JSON, in one form only: each program as the list of its words, operators as they are written."""
        items: list[object] = [] if self.folder == "." else [{"cd": self.folder}]
        for pipeline in self.pipelines:
            items += [pipeline.joined] if pipeline is not self.pipelines[0] else []
            items += ["!"] if pipeline.negated else []
            for number, stage in enumerate(pipeline.stages):
                items += ["|"] if number else []
                items.append(stage.argv)
                items += [{f"{each.descriptor}{each.operator}": each.target} for each in stage.redirections]
        return json.dumps(items, ensure_ascii=False)


class _Token(NamedTuple):
    operator: str
    """Empty for a word."""
    word: Word = Word("")
    bare: bool = False
    """Whether nothing in the word was quoted."""
    descriptor: int | None = None


def from_argv(argv: tuple[str, ...]) -> CommandLine:
    """One program with exactly these arguments; nothing in them is special."""
    if not argv or not argv[0]:
        raise Refused("argv must begin with the name of a program")
    if sum(map(len, argv)) > _LONGEST_COMMAND or len(argv) > _MOST_WORDS:
        raise Refused(f"argv is longer than {_LONGEST_COMMAND} characters in all; put the data into a file")
    if any("\0" in each or (not each.isascii() and any("\ud800" <= c <= "\udfff" for c in each)) for each in argv):
        raise Refused("argv contains a null byte or half a character, which no program can be given")
    return CommandLine((Pipeline((Stage(tuple(map(Word, argv))),)),))


def parsed(command: str) -> CommandLine:
    """Read the text of a command. Refused unless all of it belongs to the grammar."""
    if len(command) > _LONGEST_COMMAND:
        raise Refused(f"the command is longer than {_LONGEST_COMMAND} characters; put the data into a file")
    if not command.translate({10: " ", 9: " "}).isprintable():
        unclear = next(each for each in command if each not in "\n\t" and not each.isprintable())
        raise Refused(f"the command contains the invisible character U+{ord(unclear):04X}; leave it out")
    return _with_folder(_Parser().line(command))


class _Parser:
    def __init__(self) -> None:
        self._pipelines: list[Pipeline] = []
        self._stages: list[Stage] = []
        self._words: list[Word] = []
        self._redirections: list[Redirection] = []
        self._pending: tuple[int, str] | None = None
        self._negated = False
        self._joined: Literal[";", "&&", "||"] = ";"
        self._unfinished = False
        """Whether an operator was read that something must follow, on this line or a later one."""
        self._words_left, self._patterns_left, self._stages_left = _MOST_WORDS, _MOST_PATTERNS, _MOST_STAGES

    def line(self, command: str) -> tuple[Pipeline, ...]:
        for token in _tokens(command):
            if not token.operator:
                self._word(token)
            elif self._pending is not None:
                raise Refused(f"`{self._pending[1]}` needs the name of a file after it")
            elif token.operator == "\n":
                if self._words or self._redirections or self._negated:
                    self._end_pipeline()
                    self._joined = ";"
            elif token.operator == "|":
                self._end_stage()
                self._unfinished = True
            elif token.operator in ("&&", "||", ";"):
                self._end_pipeline()
                self._joined = ";" if token.operator == ";" else "&&" if token.operator == "&&" else "||"
                self._unfinished = token.operator != ";"
            else:
                self._pending = (1 if token.descriptor is None else token.descriptor, token.operator)
                if token.operator == "<":
                    self._pending = (token.descriptor or 0, "<")
        if self._pending is not None:
            raise Refused(f"`{self._pending[1]}` needs the name of a file after it")
        if self._words or self._redirections or self._negated or self._unfinished:
            self._end_pipeline()
        if not self._pipelines:
            raise Refused("there is no command to run")
        return tuple(self._pipelines)

    def _word(self, token: _Token) -> None:
        self._words_left -= 1
        if self._words_left < 0:
            raise Refused(f"the command has more than {_MOST_WORDS} words; loop in Python over fewer at a time")
        if token.word.pattern is not None:
            self._patterns_left -= 1
            if self._patterns_left < 0:
                raise Refused(f"the command has more than {_MOST_PATTERNS} patterns; list the files in Python")
        if self._pending is not None:
            self._redirect(*self._pending, token)
            self._pending = None
        elif token.bare and token.word.text == "!" and not (self._words or self._redirections or self._stages):
            if self._negated:
                raise Refused("`! !` is not supported; leave both out")
            self._negated = True
        elif not self._words and _ASSIGNMENT.match(token.word.text):
            raise Refused("variables cannot be set here; keep values in Python and put them in with an f-string")
        elif not self._words and token.bare and token.word.text in KEYWORDS:
            # Said before what stands inside it is looked at: of a loop, not of the variable in it.
            raise Refused(f"`{token.word.text}` {REFUSED[token.word.text]}")
        else:
            self._words.append(token.word)
            self._unfinished = False

    def _redirect(self, descriptor: int, operator: str, token: _Token) -> None:
        target = token.word.text
        if token.word.pattern is not None:
            raise Refused(f"the pattern {target!r} cannot be the target of a redirection; write the name out")
        if operator == ">&":
            if not token.bare or target not in ("1", "2"):
                raise Refused("`>&` takes 1 or 2 here, as in 2>&1; redirect to a file with >")
            self._redirections.append(Redirection(descriptor, ">&", target))
            return
        if not target:
            raise Refused(f"`{operator}` needs the name of a file after it")
        plain: Literal["<", ">", ">>"] = "<" if operator == "<" else ">>" if operator.endswith(">>") else ">"
        self._redirections.append(Redirection(descriptor, plain, target))
        if operator.startswith("&"):
            self._redirections.append(Redirection(2, ">&", "1"))

    def _end_stage(self) -> None:
        if not self._words:
            raise Refused("there is an operator with no command before or after it, or a redirection without a command")
        if not self._words[0].text:
            raise Refused("the name of the program is empty")
        if self._words[0].pattern is not None:
            raise Refused("the name of the program contains a pattern; write it out")
        self._stages_left -= 1
        if self._stages_left < 0:
            raise Refused(f"the command starts more than {_MOST_STAGES} programs; split it into several calls")
        self._stages.append(Stage(tuple(self._words), tuple(self._redirections)))
        self._words, self._redirections = [], []

    def _end_pipeline(self) -> None:
        self._end_stage()
        self._pipelines.append(Pipeline(tuple(self._stages), self._negated, self._joined))
        self._stages, self._negated, self._unfinished = [], False, False


def _with_folder(pipelines: tuple[Pipeline, ...]) -> CommandLine:
    """Take a leading `cd folder` off; it is the one builtin that is understood, because it is so common."""
    first, rest = pipelines[0], pipelines[1:]
    leading = first.stages[0]
    is_plain = len(first.stages) == 1 and not first.negated and not leading.redirections and len(leading.words) == 2
    if leading.words[0].text != "cd" or not is_plain or not rest or rest[0].joined == "||":
        return CommandLine(pipelines)
    folder = leading.words[1]
    if folder.pattern is not None or not folder.text or folder.text.startswith("-"):
        return CommandLine(pipelines)
    return CommandLine((replace(rest[0], joined=";"), *rest[1:]), folder.text)


def _tokens(text: str) -> Iterator[_Token]:
    at, descriptor, blank = 0, None, _LINES
    while True:
        if skipped := blank.match(text, at):
            at = skipped.end()
        if at >= len(text):
            return
        if text[at] == "#":
            end = text.find("\n", at)
            at = end if end >= 0 else len(text)
            continue
        operator = _OPERATOR.match(text, at)
        for refused in (text[at : at + 3], text[at : at + 2], text[at]):
            if (hint := _REFUSED_OPERATORS.get(refused)) and (operator is None or len(refused) > len(operator[0])):
                raise Refused(hint)
        if operator is not None:
            at = operator.end()
            blank = _LINES if operator[0] in ("\n", "|", "||", "&&", ";") else _BLANK
            yield _Token(operator[0], descriptor=descriptor)
            descriptor = None
            continue
        blank = _BLANK
        token, at = _word(text, at)
        if token.bare and token.word.text.isdigit() and text[at : at + 1] in ("<", ">"):
            descriptor = _descriptor(token.word.text, text[at])
            continue
        yield token


def _descriptor(number: str, operator: str) -> int:
    if number not in (("0",) if operator == "<" else ("1", "2")):
        raise Refused(f"the descriptor {number} cannot be redirected with {operator}; only 0<, 1> and 2> can")
    return int(number)


def _word(text: str, at: int) -> tuple[_Token, int]:
    """Read one word."""
    pieces: list[str] = []
    active: set[int] = set()
    """Which of the pieces are parts of a pattern, and not literal."""
    open_bracket, bare = False, True
    while at < len(text):
        if run := _ORDINARY.match(text, at):
            pieces.append(run[0])
            at = run.end()
            continue
        character, following = text[at], text[at + 1 : at + 2]
        if character in " \t\n|&;()<>":
            break
        if character == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise Refused("a single quote is not closed")
            pieces.append(text[at + 1 : end])
            at, bare = end + 1, False
        elif character == '"':
            quoted, at = _double_quoted(text, at + 1)
            pieces.append(quoted)
            bare = False
        elif character == "\\":
            if not following:
                raise Refused("the command ends with a backslash; quote it or leave it out")
            if escaped := _ESCAPED.match(text, at):
                pieces.append(escaped[0][1::2])
                at, bare = escaped.end(), False
            else:
                at += 2  # The line goes on in the next one.
        elif wild := (_WILD if open_bracket or character != "[" else _BRACKET).match(text, at):
            if character == "[" and any(low > high for low, high in _RANGE.findall(wild[0])):
                raise Refused(f"the range in {wild[0]} runs backwards; quote it or turn it around")
            if len(active) >= _MOST_WILD:
                raise Refused(f"a pattern has more than {_MOST_WILD} wildcards; make it shorter, or quote it with '…'")
            active.add(len(pieces))
            pieces.append(wild[0])
            at = wild.end()
        else:
            _check_unquoted(character, following, pieces[-1] if pieces else "", open_bracket)
            open_bracket = open_bracket or character == "["
            pieces.append("{}" if character == "{" else character)
            at += len(pieces[-1])
    if active and open_bracket:
        raise Refused("a `[` in a pattern has no plain end; quote it with '…'")
    marked = (each if number in active else _SPECIAL.sub(r"\\\g<0>", each) for number, each in enumerate(pieces))
    return _Token("", Word("".join(pieces), "".join(marked) if active else None), bare), at


def _check_unquoted(character: str, following: str, before: str, open_bracket: bool) -> None:
    """Refuse a character that bash would replace here by something else."""
    if character == "`" or (character == "$" and following not in ("", *" \t\n|&;<>")):
        raise _no_value(character, following)
    if character in "{}" and character + following != "{}":
        raise Refused("braces would be expanded; write the words out, or quote them with '…'")
    if character == "~" and (not before or before[-1:] in "=:"):
        raise Refused("`~` would be replaced by a home folder; use a path relative to the workspace, or quote it")
    if character == "]" and open_bracket:
        raise Refused("this `[…]` is more than a plain set of letters and digits; quote it with '…'")


def _double_quoted(text: str, at: int) -> tuple[str, int]:
    parts: list[str] = []
    while at < len(text):
        if run := _IN_DOUBLE_QUOTES.match(text, at):
            parts.append(run[0])
            at = run.end()
            continue
        character, following = text[at], text[at + 1 : at + 2]
        if character == '"':
            return "".join(parts), at + 1
        if character == "\\":
            kept = (
                "" if following == "\n" else following if following and following in '$`"\\' else character + following
            )
            parts.append(kept)
            at += 2
        elif character == "$" and following and following in '" |)':
            parts.append(character)
            at += 1
        else:
            raise _no_value(character, following)
    raise Refused("a double quote is not closed")


def _no_value(character: str, following: str) -> Refused:
    if character == "`" or following == "(":
        return Refused(_NO_SUBSTITUTION)
    return Refused(_NO_VALUES.format(character + following.strip()))
