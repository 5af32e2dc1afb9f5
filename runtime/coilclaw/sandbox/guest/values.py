"""Turning a snippet's objects into JSON."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import pathlib
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, MappingView, Set
from typing import Any

from coilclaw.sandbox.guest.run_warnings import run_warnings
from coilclaw.sdk.result import Err, Ok, ToolCallError
from coilclaw.sdk.typed_values import duration_text, moment_text, with_bytes_as_text, with_literals

__all__ = ["arguments_json", "value_json"]

_AS_TEXT = (fractions.Fraction, uuid.UUID, pathlib.PurePath)
_BYTES = (bytes, bytearray, memoryview)
_MARKED = (decimal.Decimal, datetime.timedelta, *_BYTES)
_IN_ORDER: tuple[Any, ...] = (MappingView, deque, range)
_DEEPEST = 100
_LEAVES = {str, int, float, bool, type(None)}


def _plain(value: Any) -> Any:
    """JSON data for the objects whose meaning is plain; TypeError for the others."""
    if isinstance(value, Ok):
        return {"ok": True, "value": value.value}
    if isinstance(value, Err):
        return {"ok": False, "code": value.code, "message": value.message, "hint": value.hint}
    if isinstance(value, ToolCallError):
        return {"code": value.code, "message": value.message, "hint": value.hint}
    if isinstance(value, _IN_ORDER):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime.date | datetime.time):
        return moment_text(value)
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
    instead = ": pass what its .getvalue() returns" if hasattr(value, "getvalue") else ""
    raise TypeError(f"{type(value).__name__} is not JSON data{instead}")


# Arguments -----------------------------------------------------------------------------------------


def _argument(value: Any) -> Any:
    """Like `_plain`. What tools take in several forms says what it is, and the host picks the form of the schema."""
    if isinstance(value, decimal.Decimal):
        return {"": ["decimal", str(value)]}
    if isinstance(value, datetime.timedelta):
        return {"": ["duration", duration_text(value), value.total_seconds()]}
    if isinstance(value, _BYTES):
        return {"": ["bytes", base64.b64encode(value).decode()]}
    return _plain(value)


_to_chunks = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, _argument, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, False
)


def arguments_json(value: Any) -> str:
    """Arguments for a tool. What has no plain meaning is refused, never guessed."""
    # The encoder is made once; json.dumps with options would build one for every call.
    text = "".join(_to_chunks(value, 0))
    if '{"":["' not in text:
        return text
    # Marks, or what looks like one. By itself: `""` in place of a name says that there are no arguments.
    *lists, named = value if isinstance(value, list) else [value]
    parts = [with_literals(each, _unmarked) for each in lists]
    whole = {name: with_literals(each, _unmarked) for name, each in named.items()}
    return "".join(_to_chunks([*parts, whole] if lists else whole, 0))


def _unmarked(value: Any) -> Any:
    return value if isinstance(value, _MARKED) else _plain(value)


# The value of a run --------------------------------------------------------------------------------


def value_json(value: Any) -> str:
    """The snippet's value for people and models: what is not JSON is shown where it stands."""
    try:
        text = _encode_value(value)
        try:
            if not _has_mixed_keys(value):
                return text
        except RecursionError:
            return text  # Deeper than the host takes, which says so.
    except (TypeError, ValueError, RecursionError):
        pass
    # A number or a key that JSON does not have, keys that it would write alike, or something that contains itself.
    try:
        return _encode_value(_walked(value, 0, set()))
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_repr(value))


def _has_mixed_keys(value: Any) -> bool:
    """Whether a dictionary in it has keys of several types, such as 1 and "1". It does not contain itself."""
    if isinstance(value, dict):
        if len(set(map(type, value))) > 1:
            return True
        parts: Any = value.values()
    elif isinstance(value, list | tuple):
        parts = value
    else:
        return False
    return not _LEAVES.issuperset(map(type, parts)) and any(map(_has_mixed_keys, parts))


def _shown(value: Any) -> Any:
    """JSON data for any object, as pydantic would write it; its repr if it has no such form."""
    try:
        if isinstance(value, decimal.Decimal):
            return str(value)
        if isinstance(value, datetime.timedelta):
            return duration_text(value)
        if isinstance(value, _BYTES):
            return with_bytes_as_text(bytes(value))
        return _plain(value)
    except (TypeError, ValueError):
        if isinstance(value, Iterator):
            told = f"the items of a {type(value).__name__} are not shown: wrap it in list(…)"
            run_warnings.add("iterator", told)
        return _repr(value)


def _walked(value: Any, depth: int, within: set[int]) -> Any:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, str | int | float):
        return value
    if not isinstance(value, dict | list | tuple):
        return _walked(_shown(value), depth + 1, within) if depth < _DEEPEST else _repr(value)
    if id(value) in within or depth >= _DEEPEST:
        return "{...}" if isinstance(value, dict) else "[...]"
    within.add(id(value))
    try:
        if isinstance(value, dict):
            keys = _keys(value)
            return {key: _walked(each, depth + 1, within) for key, each in zip(keys, value.values(), strict=True)}
        return [_walked(each, depth + 1, within) for each in value]
    finally:
        within.discard(id(value))


def _keys(value: dict[Any, Any]) -> list[Any]:
    """A key for each entry; of several that JSON would write alike, the later ones are shown by their repr."""
    found: dict[str, Any] = {}
    for key in value:
        name = _key(key)
        text = name if isinstance(name, str) else json.dumps(name)
        if text in found:
            told = f"the keys {_repr(key)} and {_repr(found[text])} are alike in JSON: make the keys text that differs"
            run_warnings.add("same_keys", told)
            text = _repr(key)
            while text in found:
                text += " "
        found[text] = key
    return list(found)


def _key(key: Any) -> Any:
    if isinstance(key, tuple):
        return ",".join(str(_key(part)) for part in key)
    if isinstance(key, enum.Enum):
        return _key(key.value)
    if key is None or isinstance(key, str | int):
        return key
    plain = _shown(key)
    return plain if isinstance(plain, str) else _repr(key)


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__} that cannot be shown>"


_encode_value = json.JSONEncoder(default=_shown, allow_nan=False).encode
