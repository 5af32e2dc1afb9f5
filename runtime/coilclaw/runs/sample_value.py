"""A value that a JSON Schema allows, made from the schema alone: what a rehearsed call is answered with.

The same schema always gives the same value. Schemas may come from elsewhere, so everything is bounded
and no pattern of theirs is ever run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from coilclaw.sdk import Tool

__all__ = ["sample_of", "stand_in"]

_MOST_NODES: Final = 2000
_DEEPEST: Final = 20
_MOST_ITEMS: Final = 50
_LONGEST: Final = 10_000
_FORMATS: Final = {
    "date-time": "2000-01-01T00:00:00Z",
    "date": "2000-01-01",
    "time": "00:00:00Z",
    "duration": "PT0S",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "stub@example.org",
    "uri": "https://example.org/",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "decimal": "0",
    "binary": "",
    "base64": "",
    "base64url": "",
    "hex": "",
    "json-string": "null",
    "path": "stub",
    "file-path": "stub",
    "directory-path": "stub",
}


class _NoEnd(Exception):
    """This branch of the schema goes on for ever, or for too long."""


def stand_in(tool: Tool) -> bytes:
    """What a call of this tool might return, as JSON."""
    return json.dumps(sample_of(tool.output_schema)).encode()


def sample_of(schema: Any) -> Any:
    """A small value that the schema allows; None when there is no telling."""
    try:
        return _Sampler(schema).sample(schema, ())
    except (_NoEnd, RecursionError):
        return None


class _Sampler:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = _MOST_NODES

    def sample(self, schema: Any, path: tuple[str, ...]) -> Any:
        self._left -= 1
        if self._left < 0 or len(path) > _DEEPEST:
            raise _NoEnd
        if not isinstance(schema, Mapping):
            return None
        if isinstance(schema.get("$ref"), str):
            name = schema["$ref"]
            if name in path:
                raise _NoEnd
            return self.sample(self._resolve(name), (*path, name))
        for given in _given(schema):
            return given
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                return self._one_of(schema[key], path)
        if isinstance(schema.get("allOf"), list):
            schema = self._merged(schema)
        return self._by_type(schema, path)

    def _resolve(self, name: str) -> Any:
        found = self._root
        for part in name.removeprefix("#").split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def _one_of(self, options: list[Any], path: tuple[str, ...]) -> Any:
        """The first that comes to an end; nothing is the last resort, because code looks into what it gets."""
        empty = [each for each in options if isinstance(each, Mapping) and each.get("type") == "null"]
        for option in [each for each in options if each not in empty][:_MOST_ITEMS]:
            try:
                return self.sample(option, path)
            except _NoEnd:
                if self._left < 0:
                    raise
        if empty:
            return None
        raise _NoEnd

    def _merged(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        merged = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"][:_MOST_ITEMS]:
            found = part
            if isinstance(part, Mapping) and isinstance(part.get("$ref"), str):
                found = self._resolve(part["$ref"])
            if isinstance(found, Mapping):
                properties = {**_table(merged, "properties"), **_table(found, "properties")}
                merged = {**found, **merged, **({"properties": properties} if properties else {})}
        return merged

    def _by_type(self, schema: Mapping[str, Any], path: tuple[str, ...]) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((each for each in kind if each != "null"), "null")
        if kind is None:
            kind = "object" if "properties" in schema else "array" if "items" in schema else None
        match kind:
            case "object":
                return self._object(schema, path)
            case "array":
                return self._array(schema, path)
            case "string":
                return _string(schema)
            case "integer" | "number":
                return _number(schema, whole=kind == "integer")
            case "boolean":
                return False
        return None

    def _object(self, schema: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        required = schema.get("required")
        needed = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        made: dict[str, Any] = {}
        for name, each in _table(schema, "properties").items():
            try:
                made[name] = self.sample(each, path)
            except _NoEnd:
                if name in needed:
                    raise
        for name in needed[:_MOST_ITEMS]:
            made.setdefault(name, None)
        more = schema.get("additionalProperties")
        for number in range(min(_count(schema, "minProperties"), _MOST_ITEMS) - len(made)):
            made[f"stub{number + 1}"] = self.sample(more, path)
        return made

    def _array(self, schema: Mapping[str, Any], path: tuple[str, ...]) -> list[Any]:
        first = schema.get("prefixItems")
        made = [self.sample(each, path) for each in first[:_MOST_ITEMS]] if isinstance(first, list) else []
        while len(made) < min(_count(schema, "minItems"), _MOST_ITEMS):
            made.append(self.sample(schema.get("items"), path))
        return made


def _given(schema: Mapping[str, Any]) -> list[Any]:
    """What the schema itself offers as a value, best first."""
    offers = [schema["const"]] if "const" in schema else []
    for key in ("enum", "examples"):
        if isinstance(schema.get(key), list):
            offers += schema[key][:1]
    offers += [schema["default"]] if "default" in schema else []
    return [each for each in offers if _is_json(each)]


def _is_json(value: Any) -> bool:
    try:
        return len(json.dumps(value, allow_nan=False)) <= _LONGEST
    except (TypeError, ValueError, RecursionError):
        return False


def _table(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def _count(schema: Mapping[str, Any], key: str) -> int:
    found = schema.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def _string(schema: Mapping[str, Any]) -> str:
    text = _FORMATS.get(str(schema.get("format")), "stub")
    text += "x" * (min(_count(schema, "minLength"), _LONGEST) - len(text))
    longest = schema.get("maxLength")
    return text[:longest] if isinstance(longest, int) and longest >= 0 else text


def _number(schema: Mapping[str, Any], *, whole: bool) -> int | float:
    """Zero if it is allowed, otherwise the bound that is nearest to it."""
    step = _finite(schema, "multipleOf") or (1 if whole else 0)
    low, above = _finite(schema, "minimum"), _finite(schema, "exclusiveMinimum")
    high, below = _finite(schema, "maximum"), _finite(schema, "exclusiveMaximum")
    number: float = 0
    if low is not None and low > number:
        number = low
    if above is not None and above >= number:
        number = above + (step or max(1.0, abs(above)))
    if high is not None and high < number:
        number = high
    if below is not None and below <= number:
        number = below - (step or max(1.0, abs(below)))
    if not step and above is not None and below is not None and above < below and not above < number < below:
        number = (above + below) / 2
    if step > 0 and number % step:
        number = (math.ceil if number > 0 else math.floor)(number / step) * step
    return int(number) if whole else number


def _finite(schema: Mapping[str, Any], key: str) -> float | None:
    found = schema.get(key)
    known = isinstance(found, int | float) and not isinstance(found, bool) and abs(found) < 1e300
    return found if known else None
