"""Turning a snippet's objects into JSON."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import pathlib
import uuid
from collections.abc import Mapping, Set
from typing import Any

from coilclaw.sdk.result import Err, Ok, ToolCallError

__all__ = ["arguments_json", "value_json"]

_AS_TEXT = (decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePath)


def _plain(value: Any) -> Any:
    """JSON data for the objects whose meaning is plain; TypeError for the others."""
    if isinstance(value, Ok):
        return {"ok": True, "value": value.value}
    if isinstance(value, Err):
        return {"ok": False, "code": value.code, "message": value.message, "hint": value.hint}
    if isinstance(value, ToolCallError):
        return {"code": value.code, "message": value.message, "hint": value.hint}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, _AS_TEXT):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        try:
            return sorted(value)
        except TypeError:
            return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON data")


def value_json(value: Any) -> str:
    """The snippet's value for people and models: what is not JSON is shown by its repr."""
    try:
        return _encode_value(value)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_repr(value))


def _plain_or_repr(value: Any) -> Any:
    try:
        return _plain(value)
    except TypeError:
        return _repr(value)


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__} that cannot be shown>"


_to_chunks = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, _plain, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, False
)


def arguments_json(value: Any) -> str:
    """Arguments for a tool. What has no plain meaning is refused, never guessed."""
    # The encoder is made once; json.dumps with options would build one for every call.
    return "".join(_to_chunks(value, 0))


_encode_value = json.JSONEncoder(default=_plain_or_repr, allow_nan=False).encode
