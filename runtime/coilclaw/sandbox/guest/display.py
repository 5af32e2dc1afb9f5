"""`display(value)`: show text, Markdown, a table, SVG or PNG to whoever reads the report of the run."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final

from coilclaw.sandbox.guest.run_warnings import run_warnings
from coilclaw.sandbox.guest.values import value_json
from coilclaw.sdk.result import Err, Ok

__all__ = ["Display", "make_display"]

Display = Callable[..., None]

_STREAM: Final = 3
_MOST_OUTPUTS: Final = 100
_MOST_BYTES: Final = 1024 * 1024
_MOST_ROWS: Final = 1000
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_SVG: Final = ("<svg", "<?xml")
_TEXTS: Final = ("text/plain", "text/markdown", "image/svg+xml")
_encode: Final = base64.b64encode
_json: Final = value_json


def make_display(send: Callable[[int, str], None], flush: Callable[[], None]) -> Display:
    """The function of one run; `send` passes an output to the host, behind what `flush` sends first."""
    shown = 0

    def display(*values: Any, mime: str | None = None) -> None:
        """Show each value: text, a list of records (as a table), SVG text, PNG bytes, or other data as JSON.

        display("**done**", mime="text/markdown") shows Markdown. Outputs are in the report of the run, as `outputs`.
        """
        nonlocal shown
        for value in values:
            kind, data = _output(value, mime)
            sent = f"{kind}\n{data}".encode("utf-8", "backslashreplace")
            if len(sent) > _MOST_BYTES:
                raise ValueError(f"display(): {len(sent)} bytes are too many for one output (at most {_MOST_BYTES})")
            if shown >= _MOST_OUTPUTS:
                raise ValueError(f"display(): at most {_MOST_OUTPUTS} outputs in one run; put several into one")
            shown += 1
            run_warnings.has_output = True
            flush()
            send(_STREAM, sent.decode())

    return display


def _output(value: Any, mime: str | None) -> tuple[str, str]:
    """The type of an output and its data. No hooks of the value are asked how it wants to be shown."""
    if mime is not None:
        if mime not in _TEXTS or not isinstance(value, str):
            raise ValueError(f"display(): mime is one of {', '.join(_TEXTS)}, for text; leave it out for anything else")
        return mime, value
    if isinstance(value, Ok):
        value = value.value
    elif isinstance(value, Err):
        return "text/plain", f"{value.code}: {value.message}"
    if isinstance(value, str):
        return ("image/svg+xml" if _is_svg(value) else "text/plain"), value
    if isinstance(value, bytes | bytearray):
        if not value.startswith(_PNG):
            raise ValueError("display(): these bytes are no PNG image; show other data as text")
        return "image/png", _encode(value).decode()
    if isinstance(value, list | tuple) and value and all(_is_record(each) for each in value):
        return "application/vnd.coilclaw.table+json", _table(value)
    if isinstance(value, list | tuple | Mapping | set | frozenset) or _is_record(value):
        return "application/json", _json(value)
    return "text/plain", str(value)


def _is_svg(text: str) -> bool:
    begin = text[:1000].lstrip()
    return begin.startswith(_SVG) and "<svg" in begin


def _is_record(value: Any) -> bool:
    named = isinstance(value, tuple) and hasattr(value, "_fields")
    return named or isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def _table(records: Any) -> str:
    """Columns in the order in which they first appear; a cell that a record does not have is null."""
    rows = [_cells(each) for each in records[:_MOST_ROWS]]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    # Cell by cell: one that is no JSON is shown by its repr, and takes no other with it.
    lines = ",".join("[" + ",".join(_json(row.get(name)) for name in columns) + "]" for row in rows)
    total = f',"total":{len(records)}' if len(records) > _MOST_ROWS else ""
    return f'{{"columns":{_json(columns)},"rows":[{lines}]{total}}}'


def _cells(record: Any) -> dict[str, Any]:
    if isinstance(record, Mapping):
        return {str(name): record[name] for name in record}
    names = getattr(record, "_fields", None) or [field.name for field in dataclasses.fields(record)]
    names = [name for name in names if not name.startswith("_")]
    return {name: getattr(record, name) for name in names}
