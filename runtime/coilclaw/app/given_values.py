"""Values that a program passes to the app, as the JSON that crosses to tools and into the sandbox.

JSON has no form for bytes, decimals, dates and some others. Where one stands, `{"": [kind, …]}` says which it is: for
an argument, the tool's schema then decides about its form (`sdk.typed_arguments`); for an input, the sandbox makes the
value again (`sandbox.guest.inputs`).
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from coilclaw.app.errors import BadArgument
from coilclaw.sdk.typed_values import duration_text, moment_text

__all__ = ["argument_values", "input_values", "json_values"]

_Walk: TypeAlias = Callable[[Any], Any]
_Form: TypeAlias = Callable[[Any, _Walk], Any]

_BYTES: Final = (bytes, bytearray, memoryview)
_DEEPEST: Final = 200


def json_values(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name as JSON data: dates, models and much else become that. Raises BadArgument."""
    from pydantic_core import from_json, to_json

    try:
        data: dict[str, Any] = from_json(to_json(values))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadArgument(f"`{name}` cannot be written as JSON: {error}") from None
    return data


def argument_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a tool, as a snippet would send them. Raises BadArgument."""
    return _formed("arguments", values, _argument)


def input_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs of a snippet, which gets equal values of the same types. Raises BadArgument."""
    return _formed("inputs", values, _input)


def _formed(name: str, values: Mapping[str, Any], form: _Form) -> dict[str, Any]:
    try:
        formed = {key: _walked(each, form, 0) for key, each in values.items()}
    except (ValueError, TypeError, RecursionError) as error:
        raise BadArgument(f"`{name}` cannot be written as JSON: {error}") from None
    return json_values(name, formed)


def _walked(value: Any, form: _Form, depth: int) -> Any:
    if value is None or type(value) in (str, int, float, bool):
        return value
    if depth > _DEEPEST:
        raise ValueError("a value contains itself, or is nested too deeply")
    return form(value, lambda part: _walked(part, form, depth + 1))


def _argument(value: Any, walk: _Walk) -> Any:
    if isinstance(value, decimal.Decimal):
        return {"": ["decimal", str(value)]}
    if isinstance(value, datetime.timedelta):
        return {"": ["duration", duration_text(value), value.total_seconds()]}
    if isinstance(value, _BYTES):
        return {"": ["bytes", base64.b64encode(value).decode()]}
    if isinstance(value, list | tuple | set | frozenset):
        return [walk(each) for each in value]
    if isinstance(value, Mapping):
        made = {key: walk(each) for key, each in value.items()}
        return {"": ["literal", made[""]]} if made.keys() == {""} else made  # It only looks like one of these.
    return _other(value, walk)


def _input(value: Any, walk: _Walk) -> Any:
    match value:
        case enum.Enum():
            return walk(value.value)
        case decimal.Decimal():
            return {"": ["decimal", str(value)]}
        case uuid.UUID():
            return {"": ["uuid", str(value)]}
        case datetime.datetime():
            return {"": ["date-time", moment_text(value)]}
        case datetime.date() | datetime.time():
            return {"": ["date" if isinstance(value, datetime.date) else "time", moment_text(value)]}
        case datetime.timedelta():
            return {"": ["duration", duration_text(value)]}
        case bytes() | bytearray() | memoryview():
            return {"": ["base64", base64.b64encode(value).decode()]}
        case list():
            return [walk(each) for each in value]
        case tuple() | set() | frozenset():
            kind = next(each for each in (tuple, set, frozenset) if isinstance(value, each))
            return {"": [kind.__name__, [walk(each) for each in value]]}
        case Mapping() if "" in value or any(type(key) is not str for key in value):
            return {"": ["dict", [[walk(key), walk(each)] for key, each in value.items()]]}
        case Mapping():
            return {key: walk(each) for key, each in value.items()}
    return _other(value, walk)


def _other(value: Any, walk: _Walk) -> Any:
    """The fields of a record; for anything else its JSON data, if pydantic knows one."""
    from pydantic import BaseModel
    from pydantic_core import to_jsonable_python

    if isinstance(value, BaseModel):
        return walk(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: walk(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return to_jsonable_python(value)
