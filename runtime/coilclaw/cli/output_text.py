"""Displayed outputs as lines of text: a table fits the columns, an image is named. Nothing in them is interpreted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from coilclaw.cli.terminal import counted
from coilclaw.sdk.legible import cells, legible_lines, one_line

if TYPE_CHECKING:
    from coilclaw.sandbox import DisplayedOutput

__all__ = ["output_lines"]

_WIDTH: Final = 80
_MOST_ROWS: Final = 50
_NARROWEST: Final = 8
_LONGEST_CELL: Final = 200
_GAP: Final = "  "


def output_lines(output: DisplayedOutput, width: int = _WIDTH) -> list[str]:
    """The lines of one output, each of them legible; those of a table are at most `width` columns wide."""
    match output.mime:
        case "text/plain" | "text/markdown":
            return legible_lines(output.data.removesuffix("\n"))
        case "application/json":
            return legible_lines(json.dumps(json.loads(output.data), indent=2, ensure_ascii=False))
        case "application/vnd.coilclaw.table+json":
            return list(_table(json.loads(output.data), width))
    return [
        f"[{one_line(output.mime)}, {counted(len(output.data), 'character')}; `coilclaw run show RUN --json` has it]"
    ]


def _table(table: dict[str, Any], width: int) -> Iterator[str]:
    columns = [_cell(each) for each in table["columns"]]
    rows = [[_cell(value) for value in row] for row in table["rows"][:_MOST_ROWS]]
    widths = _widths([columns, *rows], width)
    numeric = [
        all(type(row[at]) in (int, float, type(None)) for row in table["rows"][:_MOST_ROWS])
        for at in range(len(widths))
    ]
    yield _line(columns, widths, numeric)
    yield _GAP.join("-" * each for each in widths)
    for row in rows:
        yield _line(row, widths, numeric)
    missing = table.get("total", len(table["rows"])) - len(rows)
    if missing > 0:
        yield f"… {counted(missing, 'more row')}"
    if len(widths) < len(columns):
        left = columns[len(widths) :]
        yield one_line(f"… {counted(len(left), 'more column')}: {', '.join(left)}", width - 20)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _LONGEST_CELL)


def _widths(lines: Sequence[Sequence[str]], width: int) -> list[int]:
    """How wide each column is. The widest are made narrower first; what does not even fit then is left out."""
    widest = [max(cells(line[at]) for line in lines) or 1 for at in range(len(lines[0]))]
    fitting = max(1, (width + len(_GAP)) // (_NARROWEST + len(_GAP)))
    while len(widest) > fitting and sum(widest) + len(_GAP) * (len(widest) - 1) > width:
        widest.pop()
    while sum(widest) + len(_GAP) * (len(widest) - 1) > width:
        at = widest.index(max(widest))
        widest[at] -= 1
    return widest


def _line(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    shown = (_fitted(text, size, right) for text, size, right in zip(row, widths, numeric, strict=False))
    return _GAP.join(shown).rstrip()


def _fitted(text: str, size: int, right: bool) -> str:
    if cells(text) > size:
        while text and cells(text) > size - 1:
            text = text[:-1]
        text += "…"
    blank = " " * (size - cells(text))
    return blank + text if right else text + blank
