"""What a snippet shows with `display(value)`, as the host accepts it. Every byte of it is data, and may be a lie."""

from __future__ import annotations

import base64
import binascii
import json
import math
from typing import Any, Final

from coilclaw.sdk.frozen import Frozen

__all__ = [
    "DISPLAY_STREAM",
    "JSON",
    "MARKDOWN",
    "PNG",
    "SVG",
    "TABLE",
    "TEXT",
    "DisplayedOutput",
    "accepted_output",
    "finite_json",
]

DISPLAY_STREAM: Final = 3
"""The stream that displayed outputs cross on, each in one piece: its type, a newline, its data."""

TEXT: Final = "text/plain"
MARKDOWN: Final = "text/markdown"
SVG: Final = "image/svg+xml"
PNG: Final = "image/png"
JSON: Final = "application/json"
TABLE: Final = "application/vnd.coilclaw.table+json"
"""`{"columns": [name, …], "rows": [[value, …], …]}`, and `"total"` where there were more rows than these."""

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


class DisplayedOutput(Frozen):
    """One output: text, Markdown and SVG as text, PNG as base64, tables and other data as JSON text."""

    mime: str
    data: str

    def facts(self) -> dict[str, Any]:
        """The output as JSON data; what is JSON is not wrapped in text once more."""
        return {"mime": self.mime, "data": json.loads(self.data) if self.mime in (JSON, TABLE) else self.data}

    @classmethod
    def of_facts(cls, mime: str, data: Any) -> DisplayedOutput:
        """The output that gives these facts."""
        return cls(mime=mime, data=json.dumps(data) if mime in (JSON, TABLE) else str(data))


def accepted_output(sent: str) -> DisplayedOutput | None:
    """The output that a sandbox sent, or None if it is not of the form that it says. Nothing in it is interpreted."""
    mime, newline, data = sent.partition("\n")
    if newline and mime in _CHECKS and _CHECKS[mime](data):
        return DisplayedOutput(mime=mime, data=data)
    return None


def _is_png(data: str) -> bool:
    try:
        return base64.b64decode(data, validate=True).startswith(_SIGNATURE)
    except (binascii.Error, ValueError):
        return False


def _is_json(data: str) -> bool:
    return _json(data) is not None


def _is_table(data: str) -> bool:
    found = _json(data)
    if found is None or not isinstance(found[0], dict):
        return False
    columns, rows, total = (found[0].get(name) for name in ("columns", "rows", "total"))
    return (
        found[0].keys() <= {"columns", "rows", "total"}
        and isinstance(columns, list)
        and all(type(each) is str for each in columns)
        and isinstance(rows, list)
        and all(type(each) is list and len(each) == len(columns) for each in rows)
        and (total is None or (type(total) is int and len(rows) <= total < 2**53))
    )


def _json(data: str) -> tuple[Any] | None:
    """The value in a tuple, because it may be None."""
    try:
        return (finite_json(data),)
    except (ValueError, RecursionError):
        return None


def finite_json(text: str) -> Any:
    """Parse JSON that has no other numbers than JSON has. Raises ValueError: `Infinity`, `NaN` and 1e999 are none."""
    return json.loads(text, parse_constant=_finite, parse_float=_finite)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_CHECKS: Final = {
    TEXT: lambda data: True,
    MARKDOWN: lambda data: True,
    SVG: lambda data: True,
    PNG: _is_png,
    JSON: _is_json,
    TABLE: _is_table,
}
