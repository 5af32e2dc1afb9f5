"""Plans: where the results of a tool hold values of Python's own types, read from its output schema.

A schema may come from a server and have anything in it: what is looked at is bounded, and what is not understood
stays text. `typed_values` says how a plan is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["concrete", "text_format", "value_plan"]

_FORMATS: Final = frozenset(
    ("date-time", "date", "time", "duration", "decimal", "uuid", "binary", "base64", "base64url", "hex")
)
_DATES: Final = {"date", "date-time"}
_MOST_PARTS: Final = 2000
_DEEPEST: Final = 20
_MOST_OPTIONS: Final = 24
_LONGEST: Final = 8192


def value_plan(schema: object) -> str:
    """The plan of a schema as compact JSON; empty when its values are plain, or too many to tell."""
    if not isinstance(schema, Mapping):
        return ""
    try:
        planner = _Planner(schema)
        plan = planner.plan(schema, 0)
        text = json.dumps([plan, *planner.definitions], separators=(",", ":"), ensure_ascii=False)
    except (_TooMuch, RecursionError, ValueError, TypeError):
        return ""
    return text if plan is not None and len(text) <= _LONGEST else ""


def text_format(schema: Mapping[str, Any]) -> str | None:
    """The format of a string that stands for a value of another type."""
    if schema.get("type") != "string" or "enum" in schema or "const" in schema:
        return None
    found = schema.get("format")
    if schema.get("contentEncoding") in ("base64", "base64url"):
        found = schema["contentEncoding"]
    return found if isinstance(found, str) and found in _FORMATS else None


def concrete(schema: object, definitions: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas that a value may follow: references and unions resolved, as far as they are few."""
    found: list[Mapping[str, Any]] = []
    waiting: list[object] = [schema]
    for _ in range(4 * _MOST_OPTIONS):
        if not waiting or len(found) > _MOST_OPTIONS:
            return found
        part = waiting.pop(0)
        if not isinstance(part, Mapping):
            continue
        options = next((part[key] for key in ("anyOf", "oneOf", "allOf") if isinstance(part.get(key), list)), None)
        if isinstance(name := part.get("$ref"), str):
            waiting.append(definitions.get(name.rsplit("/", 1)[-1]))
        elif options is not None and ("allOf" not in part or len(options) == 1):
            waiting += options[: _MOST_OPTIONS + 1]
        elif isinstance(kinds := part.get("type"), list):
            waiting += [{**part, "type": kind} for kind in kinds[:_MOST_OPTIONS]]
        elif part.get("type") != "null":
            found.append(part)
    return found


class _TooMuch(Exception):
    """There is more in the schema than is worth a plan."""


class _Planner:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        found = schema.get("$defs")
        self._named: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
        self._numbers: dict[str, int] = {}
        self._typed: dict[str, bool] = {}
        self._left = _MOST_PARTS
        self.definitions: list[Any] = []

    def plan(self, schema: object, depth: int) -> Any:
        """The plan of a part of the schema, or None when there is nothing to do."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise _TooMuch
        if not isinstance(schema, Mapping):
            return None
        if isinstance(name := schema.get("$ref"), str):
            return self._reference(name.rsplit("/", 1)[-1], depth)
        for key in ("anyOf", "oneOf"):
            if isinstance(options := schema.get(key), list):
                return self._union(schema, options, depth)
        if isinstance(parts := schema.get("allOf"), list):
            return self.plan(parts[0], depth + 1) if len(parts) == 1 else None
        if isinstance(kinds := schema.get("type"), list):
            return self._union(schema, [{**schema, "type": kind} for kind in kinds[:_MOST_OPTIONS]], depth)
        match schema.get("type"):
            case "string":
                return text_format(schema)
            case "array":
                return self._array(schema, depth)
            case "object":
                return self._object(schema, depth)
        return None

    def _reference(self, name: str, depth: int) -> Any:
        target = self._named.get(name)
        if not isinstance(target, Mapping) or not self._is_typed(name, set()):
            return None
        if target.get("type") != "object":
            return self.plan(target, depth + 1)  # A name for a type that has no end is too deep at last.
        return self._defined(name, lambda: self.plan(target, depth + 1))

    def _defined(self, key: str, make: Callable[[], Any]) -> Any:
        """A reference to a definition, which may contain itself."""
        if key not in self._numbers:
            self._numbers[key] = len(self.definitions)
            self.definitions.append(None)
            self.definitions[self._numbers[key]] = make()
        return ["@", self._numbers[key]]

    def _is_typed(self, name: str, seen: set[str]) -> bool:
        """Whether a definition, or one that it leads to, has typed values."""
        if name in self._typed:
            return self._typed[name]
        if name in seen:
            return False
        seen.add(name)
        waiting = [self._named.get(name)]
        found = False
        while waiting and not found:
            part = waiting.pop()
            self._left -= 1
            if self._left < 0:
                raise _TooMuch
            if isinstance(part, Mapping):
                reference = part.get("$ref")
                found = text_format(part) is not None or "prefixItems" in part
                found = found or (isinstance(reference, str) and self._is_typed(reference.rsplit("/", 1)[-1], seen))
                waiting += part.values()
            elif isinstance(part, list):
                waiting += part
        if found or len(seen) == 1:
            self._typed[name] = found
        return found

    def _union(self, schema: Mapping[str, Any], options: list[Any], depth: int) -> Any:
        if len(options) > _MOST_OPTIONS:
            return None
        if (chosen := self._discriminated(schema, options, depth)) is not None:
            return chosen
        formats = set()
        lists, objects = [], []
        for option in options:
            for each in concrete(option, self._named):
                match each.get("type"):
                    case "string":
                        formats.add(text_format(each))
                    case "array":
                        lists.append(each)
                    case "object":
                        objects.append(option if isinstance(option, Mapping) and "$ref" in option else each)
                    case "number" | "integer" | "boolean":
                        pass
                    case _:
                        return None  # It may be anything.
        plans = [self._text(formats), self._same(lists, depth), self._merged(objects, depth)]
        wanted = [each for each in plans if each is not None]
        return wanted[0] if len(wanted) == 1 else ["|", *wanted] if wanted else None

    def _text(self, formats: set[str | None]) -> str | None:
        """A union with plain text stays text: nobody can tell which of the two a text is."""
        if formats == _DATES:
            return "date or date-time"
        return next(iter(formats)) if len(formats) == 1 else None

    def _same(self, options: list[Any], depth: int) -> Any:
        plans = [self.plan(option, depth + 1) for option in options]
        return plans[0] if plans and all(each == plans[0] for each in plans) else None

    def _merged(self, options: list[Any], depth: int) -> Any:
        """Of several objects that nothing tells apart: the fields that mean the same in each that has them."""
        if len(options) < 2:
            return self.plan(options[0], depth + 1) if options else None
        if not all("$ref" in option for option in options):
            return self._common([option.get("properties") for option in options], depth)
        names = [str(option["$ref"]).rsplit("/", 1)[-1] for option in options]
        if not any(self._is_typed(name, set()) for name in names):
            return None
        tables = [each.get("properties") for option in options for each in concrete(option, self._named)]
        field, values = _told_apart(tables)
        if len(values) == len(names):
            plans = {value: self._reference(name, depth) for value, name in zip(values, names, strict=True)}
            return ["?", field, plans]
        return self._defined(" ".join(names), lambda: self._common(tables, depth))

    def _common(self, tables: list[Any], depth: int) -> Any:
        if not all(isinstance(table, Mapping) for table in tables):
            return None
        meant: dict[str, list[Any]] = {}
        for table in tables:
            for name, shape in table.items():
                meant.setdefault(str(name), []).append(self.plan(shape, depth + 1))
        fields = {name: plans[0] for name, plans in meant.items() if all(each == plans[0] for each in plans)}
        fields = {name: plan for name, plan in fields.items() if plan is not None}
        return ["{}", fields, None] if fields else None

    def _discriminated(self, schema: Mapping[str, Any], options: list[Any], depth: int) -> Any:
        told = schema.get("discriminator")
        mapping = told.get("mapping") if isinstance(told, Mapping) else None
        if not isinstance(told, Mapping) or not isinstance(mapping, Mapping):
            return None
        plans = {
            str(value): self._reference(target.rsplit("/", 1)[-1], depth + 1)
            for value, target in mapping.items()
            if isinstance(target, str)
        }
        plans = {value: plan for value, plan in plans.items() if plan is not None}
        return ["?", str(told.get("propertyName")), plans] if plans else None

    def _array(self, schema: Mapping[str, Any], depth: int) -> Any:
        places = schema.get("prefixItems")
        if isinstance(places, list) and places:
            plans = [self.plan(place, depth + 1) for place in places[:_MOST_PARTS]]
            return ["()", plans]  # A tuple, whatever is in it.
        items = self.plan(schema.get("items"), depth + 1)
        return None if items is None else ["[]", items]

    def _object(self, schema: Mapping[str, Any], depth: int) -> Any:
        properties = schema.get("properties")
        fields = {}
        for name, shape in properties.items() if isinstance(properties, Mapping) else ():
            if (plan := self.plan(shape, depth + 1)) is not None:
                fields[str(name)] = plan
        others = self.plan(schema.get("additionalProperties"), depth + 1)
        return ["{}", fields, others] if fields or others is not None else None


def _told_apart(tables: list[Any]) -> tuple[str, list[str]]:
    """A field that has another constant in each of several objects, and these constants."""
    first = tables[0] if tables and all(isinstance(table, Mapping) for table in tables) else {}
    for name in first:
        shapes = [table.get(name) for table in tables]
        values = [shape.get("const") for shape in shapes if isinstance(shape, Mapping)]
        texts = list(dict.fromkeys(value for value in values if isinstance(value, str)))
        if len(texts) == len(tables):
            return str(name), texts
    return "", []
