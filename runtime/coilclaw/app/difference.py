"""Texts and their differences as rows, in a time that nobody who wrote one of them can stretch."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from coilclaw.sdk.legible import legible_line

__all__ = ["Row", "difference_rows", "file_lines", "odd_encoding", "text_rows"]

_CONTEXT: Final = 3
_MOST_EMPTY: Final = 3
_MOST_COMPARED: Final = 1500
"""Lines that are compared with each other; it takes time that grows with the square of this, or worse."""

_Opcode: TypeAlias = tuple[str, int, int, int, int]


class Row(NamedTuple):
    """A line of what a person is asked about. Where it has to be folded, `lead` is replaced by a mark."""

    lead: str
    text: str = ""
    colour: str | None = None
    bold: bool = False


def difference_rows(old: Sequence[str], new: Sequence[str], lead: str = "") -> Iterator[Row]:
    """Yield the rows of a unified difference, without a heading; none if the lines are the same.

    What both have at the beginning and at the end is set aside first. If too much is left between, all of it is shown
    as removed and added.
    """
    for group in _groups(old, new):
        first, last = group[0], group[-1]
        header = f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        yield Row(lead, header, "cyan")
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from text_rows(f"{lead} ", old[a:b])
            else:
                yield from text_rows(f"{lead}-", old[a:b], "red")
                yield from text_rows(f"{lead}+", new[c:d], "green")


def text_rows(lead: str, lines: Sequence[str], colour: str | None = None) -> Iterator[Row]:
    """Yield each line behind `lead`. Many empty lines in a row are counted: they would push the rest out of sight."""
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and not lines[end]:
            end += 1
        if end - at > _MOST_EMPTY:
            yield Row(lead, f"⟦{end - at} empty lines⟧", colour)
            at = end
        else:
            yield Row(lead, legible_line(lines[at]), colour)
            at += 1


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[list[_Opcode]]:
    if old == new:
        return
    before, after = _shared(old, new)
    start = max(0, before - _CONTEXT)
    old_end, new_end = len(old) - max(0, after - _CONTEXT), len(new) - max(0, after - _CONTEXT)
    removed, added = len(old) - before - after, len(new) - before - after
    if removed and added and removed + added > _MOST_COMPARED:
        group: list[_Opcode] = [
            ("equal", start, before, start, before),
            ("replace", before, len(old) - after, before, len(new) - after),
            ("equal", len(old) - after, old_end, len(new) - after, new_end),
        ]
        yield [each for each in group if each[1:2] != each[2:3] or each[3] != each[4]]
        return
    import difflib

    matcher = difflib.SequenceMatcher(None, old[start:old_end], new[start:new_end])
    for each in matcher.get_grouped_opcodes(_CONTEXT):
        yield [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in each]


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many lines both have in common at the beginning, and how many at the end."""
    shortest = min(len(old), len(new))
    before = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    left = shortest - before
    return before, next((at for at in range(left) if old[-1 - at] != new[-1 - at]), left)


def _range(first: int, end: int) -> str:
    """A range of lines as `diff -u` writes it."""
    length = end - first
    if length == 1:
        return str(first + 1)
    return f"{first + 1 if length else first},{length}"


def file_lines(data: bytes) -> list[str]:
    """The lines of a Python file as Python reads them: other characters at which text may break are no new lines."""
    try:
        text = data.decode(_encoding(data))
    except (LookupError, ValueError):
        text = data.decode(errors="backslashreplace")
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n") if text else []


def odd_encoding(data: bytes) -> str | None:
    """A warning about a Python file that says it is not written in UTF-8."""
    encoding = _encoding(data)
    if encoding in ("utf-8", "utf-8-sig"):
        return None
    return f"the file says it is written in {encoding}; shown is what Python makes of it."


def _encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:
        return "an unknown encoding"
