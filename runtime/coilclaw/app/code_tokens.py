"""Python source as rows of coloured pieces, so that a terminal, a chat and a browser show the same."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from typing import Final

__all__ = ["code_rows"]

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""Where Python ends a line. `str.splitlines` knows more ends, and a snippet could use them to move a mark."""
_LONGEST: Final = 200_000
"""Characters beyond which the source is shown without colours."""


def code_rows(source: str) -> list[list[tuple[str, str]]]:
    """One row for each line, each a list of kinds and texts, which together are the line.

    Kinds are `keyword`, `string`, `number`, `comment`, `name`, `operator` and `text`. Source that is not Python is
    `text` from where it stops being so.
    """
    lines = _LINE_END.split(source)
    if lines and not lines[-1]:
        lines.pop()
    rows: list[list[tuple[str, str]]] = [[] for _ in lines]
    done = (1, 0)
    if len(source) <= _LONGEST:
        try:
            for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
                kind = _kind(token)
                if kind is not None and token.start >= done:
                    _add(rows, lines, done, token.start, "text")
                    _add(rows, lines, token.start, token.end, kind)
                    done = token.end
        except (tokenize.TokenError, SyntaxError, IndexError):
            pass
    _add(rows, lines, done, (len(lines) + 1, 0), "text")
    return rows


def _kind(token: tokenize.TokenInfo) -> str | None:
    match token.type:
        case tokenize.NAME:
            return "keyword" if keyword.iskeyword(token.string) else "name"
        case tokenize.STRING:
            return "string"
        case tokenize.NUMBER:
            return "number"
        case tokenize.COMMENT:
            return "comment"
        case tokenize.OP:
            return "operator"
    if tokenize.tok_name[token.type].startswith("FSTRING"):
        return "string"
    return None


def _add(
    rows: list[list[tuple[str, str]]], lines: list[str], start: tuple[int, int], end: tuple[int, int], kind: str
) -> None:
    for number in range(start[0], min(end[0], len(lines)) + 1):
        first = start[1] if number == start[0] else 0
        last = end[1] if number == end[0] else None
        if text := lines[number - 1][first:last]:
            rows[number - 1].append((kind, text))
