"""Commands of a given length, made so that a careless parser or search takes long over them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["commands", "deep_tree"]


def deep_tree(folder: Path) -> None:
    """Folders in folders, files with long names of one letter, and links: what patterns are slow on."""
    for first in range(12):
        for second in range(12):
            place = folder / f"d{first}" / f"e{second}"
            place.mkdir(parents=True)
            for third in range(6):
                (place / f"f{third}").touch()
    (folder / "long").mkdir()
    for number in range(300):
        (folder / "long" / ("a" * 200 + str(number))).touch()
    (folder / "links").mkdir()
    previous = Path("../d0")
    for number in range(30):
        (folder / "links" / f"l{number}").symlink_to(previous)
        previous = Path(f"l{number}")
    (folder / "secret").mkdir()


def commands(size: int) -> dict[str, str]:
    """Each is `size` characters long, or nearly."""

    def filled(piece: str, start: str = "", end: str = "") -> str:
        return start + piece * ((size - len(start) - len(end)) // len(piece)) + end

    return {
        "pipes": filled("a|"),
        "arithmetic": filled("$["),
        "substitutions": filled("$("),
        "backquotes": filled("`"),
        "parentheses": filled("("),
        "braces": filled("{"),
        "brackets": filled("["),
        "bracket words": filled("[ ", "echo "),
        "open brackets": filled("[a", "echo "),
        "ranges": filled("a-b", "echo [", "]"),
        "single quotes": filled("'a'", "echo "),
        "double quotes": filled('"a"', "echo "),
        "an open quote": filled("a", "echo '"),
        "escapes": filled("\\a", "echo "),
        "escapes in quotes": filled("\\\\", 'echo "', '"'),
        "continued lines": filled("\\\n", "echo a"),
        "comments": filled("#\n", "ls "),
        "newlines": filled("\n", "ls"),
        "words": filled("a ", "cat "),
        "paths": filled("d/", "cat "),
        "many paths": filled("d0/e1/f2 ", "cat "),
        "links": filled("links/l29/e0/f0 ", "cat "),
        "stars": filled("*", "ls "),
        "stars and letters": filled("*a", "ls "),
        "stars and letters in a folder": filled("*a", "ls long/", "b"),
        "short patterns": filled("long/*a*a*a*a*b ", "ls "),
        "deep patterns": filled("*/", "ls "),
        "wide patterns": filled("*/*/* ", "ls "),
        "many sets": filled("[a-c]", "ls long/"),
        "options": filled("-abcdefgh ", "unknown "),
        "pieces of an argument": filled("a:", "unknown -x"),
        "assignments": filled("a=", "unknown "),
        "values of an option": filled("--x=" + "=a/" * 1358 + "a ", "ls "),
        "values with some parts": filled("--x=" + "=a/" * 15 + " ", "ls "),
        "values that are lists": filled("x" + ",a/" * 20 + "a ", "unknown "),
        "a cluster of paths": filled("-" + "1/" * 2039 + " ", "ls "),
        "a cluster of letters": filled("-" + "ab" * 2039 + " ", "ls "),
        "unknown clusters of paths": filled("-" + "1/" * 20 + " ", "unknown "),
        "unknown clusters of letters": filled("-abcdefghijklmnopqrstuvw/x/y/z ", "unknown "),
        "deep paths": filled("d/" * 2000 + "a" * 79 + " ", "cat "),
        "many deep paths": filled("d/" * 20 + "a ", "cat "),
        "redirections": filled(">a ", "echo "),
        "redirections and patterns": filled(">a? ", "echo *|"),
        "redirected stages": filled("echo * >a;"),
        "doubled variables": filled("x1=$x0$x0; "),
        "negations": filled("! "),
        "semicolons": filled("a;"),
        "conjunctions": filled("a&&"),
        "prefixes": filled("env ", "", "ls"),
        "sed": filled("\\/", "sed s/", "/x/ f"),
        "awk": filled("a", "awk '", "'"),
        "find": filled("-name a ", "find d0 "),
        "find that starts": filled("-exec ls {} + ", "find d0 "),
        "a linked list": filled("a ", "ln -s "),
        "tokens": filled("rm.", "make "),
    }
