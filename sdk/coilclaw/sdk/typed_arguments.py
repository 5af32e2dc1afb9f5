"""Arguments in the form that a tool's input schema asks for.

A snippet passes decimals, durations and bytes, which tools take in several forms: a decimal as text or as a number,
bytes as text or in base64. The guest writes `{"": [kind, …]}` where one stands, and the schema decides here what
becomes of it, before anything is hashed, decided or validated. A dict that only looks like this is sent as a
`literal`. A date where a date-time is wanted is the beginning of that day. Text of a snippet where bytes are wanted is
refused: it might be the data, or the data in base64.
"""

from __future__ import annotations

import base64
import binascii
import decimal
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from coilclaw.sdk.value_plan import concrete, text_format

__all__ = ["MARK", "Unfit", "in_schema_form"]

MARK: Final = b'{"":["'
"""How a marked value begins in what the guest sends."""

_ENCODED: Final = {"base64", "base64url", "hex"}
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_DEEPEST: Final = 200
"""Arguments that are nested more deeply cannot be read from JSON."""
_MOST_DIGITS: Final = 400


class Unfit(ValueError):
    """A value that its place does not take; the message says which and why."""


def in_schema_form(given: dict[str, Any], schema: Mapping[str, Any], *, by_snippet: bool = False) -> dict[str, Any]:
    """The arguments without marks, each value in the form of its place. Raises Unfit.

    Arguments that a snippet passes are Python's: its bytes are bytes, and not text.
    """
    found = schema.get("$defs")
    formed: dict[str, Any] = _Forms(found if isinstance(found, Mapping) else {}, by_snippet).of(given, schema, "", 0)
    return formed


class _Forms:
    def __init__(self, definitions: Mapping[str, Any], by_snippet: bool) -> None:
        self._definitions = definitions
        self._by_snippet = by_snippet

    def of(self, value: Any, schema: object, place: str, depth: int) -> Any:
        if depth > _DEEPEST or not isinstance(value, dict | list | str):
            return value
        options = concrete(schema, self._definitions)
        if isinstance(value, str):
            if self._by_snippet and _text_formats(options) and _text_formats(options) <= _ENCODED:
                raise Unfit(f"{place}: takes bytes, not text: pass text.encode(), or base64.b64decode(text) of base64")
            return f"{value}T00:00:00" if _DAY.fullmatch(value) and _wants_moment(options) else value
        if isinstance(value, list):
            return [self.of(each, _item(options, at), f"{place}[{at}]", depth + 1) for at, each in enumerate(value)]
        match value.get("") if len(value) == 1 else None:
            case ["decimal", str(text)]:
                return _decimal(text, options, place)
            case ["duration", str(text), int() | float() as seconds]:
                return seconds if _takes(options, "number", "integer") and not _takes(options, "string") else text
            case ["bytes", str(text)]:
                return _bytes(text, options, place)
            case ["literal", inner]:
                return {"": self.of(inner, _field(options, ""), f"{place}.", depth + 1)}
        return {
            name: self.of(each, _field(options, name), f"{place}.{name}" if place else name, depth + 1)
            for name, each in value.items()
        }


def _field(options: list[Mapping[str, Any]], name: str) -> object:
    """The schema of a field, of whichever of the options has it."""
    found = []
    for option in options:
        properties = option.get("properties")
        if isinstance(properties, Mapping) and name in properties:
            found.append(properties[name])
        elif "additionalProperties" in option:
            found.append(option["additionalProperties"])
    return found[0] if len(found) == 1 else {"anyOf": found}


def _item(options: list[Mapping[str, Any]], at: int) -> object:
    found = []
    for option in options:
        places = option.get("prefixItems")
        found.append(places[at] if isinstance(places, list) and at < len(places) else option.get("items"))
    return found[0] if len(found) == 1 else {"anyOf": found}


def _takes(options: list[Mapping[str, Any]], *kinds: str) -> bool:
    return any(option.get("type") in kinds for option in options)


def _text_formats(options: list[Mapping[str, Any]]) -> set[str | None]:
    return {text_format(option) for option in options if option.get("type") == "string"}


def _wants_moment(options: list[Mapping[str, Any]]) -> bool:
    """Whether text here is a date-time and nothing else."""
    return _text_formats(options) == {"date-time"}


def _decimal(text: str, options: list[Mapping[str, Any]], place: str) -> Any:
    if _takes(options, "string") or not _takes(options, "number", "integer"):
        return text
    try:
        exact = decimal.Decimal(text)
        number = float(exact)
        if exact.is_finite() and exact.adjusted() < _MOST_DIGITS and exact == exact.to_integral_value():
            return int(exact)
    except (ValueError, ArithmeticError):
        number = math.inf
    if not math.isfinite(number):
        raise Unfit(f"{place}: {text[:40]} is not a number that JSON can write")
    if not _takes(options, "number"):
        raise Unfit(f"{place}: {text[:40]} is not a whole number")
    return number


def _bytes(text: str, options: list[Mapping[str, Any]], place: str) -> str:
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise Unfit(f"{place}: bytes that are not in base64") from None
    formats = [text_format(option) for option in options if option.get("type") == "string"]
    if None in formats or not formats:
        # Where text is taken too, nobody could tell it from the text that bytes are written as.
        raise Unfit(f"{place}: bytes are not taken here; decode them to text, or encode them as the tool says")
    if "base64url" in formats:
        return base64.urlsafe_b64encode(data).decode()
    if "base64" in formats:
        return text
    if "hex" in formats:
        return data.hex()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Unfit(f"{place}: these bytes are not UTF-8 text, which this tool takes only") from None
