"""JSON Schema as Python spells it: types, their constraints, and the named types of a whole registry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from keyword import iskeyword
from typing import Any, Final

from coilclaw.bridge.stubs.text import comment, first_sentence, literal

__all__ = ["Spelling", "Types", "constraints"]

_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_TAKEN: Final = frozenset(
    [
        "Any",
        "Err",
        "Literal",
        "NotRequired",
        "Ok",
        "Result",
        "TypedDict",
        "asyncio",
        "bool",
        "dict",
        "float",
        "int",
        "list",
        "str",
        "tools",
        "tuple",
    ]
)
_DEEPEST: Final = 8
_MOST_PARTS: Final = 400
_MOST_LOOKED_AT: Final = 20_000
_MOST_FIELDS: Final = 60
_MOST_CHOICES: Final = 24
_LONGEST_CHOICES: Final = 400
_LONGEST_FIELD: Final = 80
_LONGEST_NAME: Final = 60
_LONGEST_NOTE: Final = 120


class Types:
    """The named types of several tools. Two that share a name but not a shape get different names."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._shapes: dict[tuple[str, str], str] = {}

    def name_of(self, title: str, shape: str, qualifier: str) -> tuple[str, bool]:
        """The name of this shape, and whether it has just been given."""
        known = self._shapes.get((title, shape))
        if known is not None:
            return known, False
        plain = re.sub(r"[^A-Za-z0-9]+", "_", title[:_LONGEST_NAME]).strip("_") or "Object"
        plain = f"T{plain}" if plain[0].isdigit() else plain
        qualified = f"{''.join(part[:1].upper() + part[1:] for part in qualifier.split('_'))}{plain}"
        candidates = [plain, qualified, *(f"{qualified}{number}" for number in range(2, len(self.texts) + 4))]
        name = next(
            each for each in candidates if each not in self.texts and each not in _TAKEN and not iskeyword(each)
        )
        self._shapes[title, shape] = name
        self.texts[name] = ""  # Before its fields: a type may contain itself.
        return name, True


class Spelling:
    """Spells the parts of one schema. What is too deep or too large to be read is `Any`."""

    def __init__(self, schema: Mapping[str, Any], types: Types | None, qualifier: str, *, given: bool) -> None:
        found = schema.get("$defs")
        self._definitions: Mapping[str, Any] = found if isinstance(found, dict) else {}
        self._types = types
        self._qualifier = qualifier
        self._given = given
        self._depth = 0
        self._parts = 0
        self._open: set[str] = set()

    def type(self, schema: Any) -> str:
        """The Python type of a schema. Named object types are collected, or written in place when nobody collects."""
        self._parts += 1
        if not isinstance(schema, dict) or self._depth > _DEEPEST or self._parts > _MOST_PARTS:
            return "Any"
        self._depth += 1
        try:
            return self._type(schema)
        finally:
            self._depth -= 1

    def definition(self, schema: Any) -> Any:
        """What a reference leads to; everything else is itself."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
                return schema
            schema = self._definitions.get(schema["$ref"].rsplit("/", 1)[-1], {})
        return {}

    def note(self, schema: Any) -> str:
        """What is to be known besides the type: what a caller must keep to, and what the value is."""
        if not isinstance(schema, dict):
            return ""
        limits = constraints(self.definition(schema)) if self._given else ""
        about = schema.get("description")
        said = first_sentence(about, _LONGEST_FIELD) if isinstance(about, str) else ""
        return "; ".join(part for part in (comment(limits, _LONGEST_NOTE), said) if part)

    def typed_dict(self, title: str, schema: Mapping[str, Any]) -> str:
        """The name of the TypedDict of this schema."""
        if self._types is None:
            return self._in_place(schema)
        name, fresh = self._types.name_of(title, self._shape(schema), self._qualifier)
        if fresh:
            self._types.texts[name] = self._class(name, schema)
        return name

    def _type(self, schema: dict[str, Any]) -> str:
        if isinstance(reference := schema.get("$ref"), str):
            return self._referenced(reference.rsplit("/", 1)[-1])
        if isinstance(choices := schema.get("enum"), list) and choices:
            return _choices(choices)
        if "const" in schema:
            return _choices([schema["const"]])
        for key in ("anyOf", "oneOf"):
            if isinstance(options := schema.get(key), list) and options:
                return self._union(options)
        if isinstance(options := schema.get("allOf"), list) and len(options) == 1:
            return self.type(options[0])
        kind = schema.get("type")
        if isinstance(kind, list) and kind:
            return self._union([{**schema, "type": each} for each in kind if isinstance(each, str)])
        if not isinstance(kind, str):
            return "Any"
        if kind == "array":
            return self._array(schema)
        if kind == "object":
            if isinstance(schema.get("properties"), dict) and schema["properties"]:
                return self.typed_dict(str(schema.get("title") or "Object"), schema)
            return f"dict[str, {self.type(schema.get('additionalProperties'))}]"
        return _PLAIN.get(kind, "Any")

    def _union(self, options: list[Any]) -> str:
        spelled = list(dict.fromkeys(self.type(option) for option in options[:_MOST_CHOICES]))
        if len(options) > _MOST_CHOICES or "Any" in spelled or not spelled:
            return "Any"
        return " | ".join(spelled)

    def _array(self, schema: dict[str, Any]) -> str:
        places = schema.get("prefixItems")
        if isinstance(places, list) and 0 < len(places) <= _MOST_CHOICES:
            return f"tuple[{', '.join(self.type(place) for place in places)}]"
        return f"list[{self.type(schema.get('items'))}]"

    def _referenced(self, name: str) -> str:
        target = self._definitions.get(name)
        if not isinstance(target, dict):
            return "Any"
        if isinstance(target.get("properties"), dict) and target["properties"]:
            return self.typed_dict(name, target)
        with self._entered(name) as fresh:
            return self.type(target) if fresh else "Any"

    def _in_place(self, schema: Mapping[str, Any]) -> str:
        with self._entered(self._shape(schema)) as fresh:
            if not fresh:
                return "dict[str, Any]"
            fields = [
                f"{key}: {self.type(shape)}"
                for name, shape in schema["properties"].items()
                if (key := literal(name, _LONGEST_FIELD))
            ]
        return "{" + ", ".join(fields) + "}" if len(fields) <= _MOST_CHOICES else "dict[str, Any]"

    @contextmanager
    def _entered(self, name: str) -> Iterator[bool]:
        """Whether we are not inside of it already: a type without a name cannot contain itself."""
        fresh = name not in self._open
        self._open.add(name)
        yield fresh
        if fresh:
            self._open.discard(name)

    def _class(self, name: str, schema: Mapping[str, Any]) -> str:
        required = schema.get("required")
        needed = set(map(str, required)) if isinstance(required, list) else set()
        fields: list[tuple[str, str, str]] = []
        left_out = 0
        for field, shape in schema["properties"].items():
            if len(fields) == _MOST_FIELDS or literal(field, _LONGEST_FIELD) is None:
                left_out += 1
                continue
            spelled = self.type(shape)
            filled_in = not self._given and isinstance(shape, dict) and "default" in shape
            spelled = spelled if field in needed or filled_in else f"NotRequired[{spelled}]"
            fields.append((field, spelled, self.note(shape)))
        more = [f"    # … and {left_out} more fields"] if left_out else []
        if fields and all(field.isascii() and field.isidentifier() and not iskeyword(field) for field, _, _ in fields):
            lines = [f"    {field}: {spelled}{_behind(note)}" for field, spelled, note in fields]
            return "\n".join([f"class {name}(TypedDict):", *lines, *more]) + "\n"
        lines = [f"    {literal(field, _LONGEST_FIELD)}: {spelled},{_behind(note)}" for field, spelled, note in fields]
        return "\n".join([f'{name} = TypedDict("{name}", {{', *lines, *more, "})"]) + "\n"

    def _shape(self, schema: Mapping[str, Any]) -> str:
        """What makes this type the same as another: its schema, and every definition it leads to."""
        reached: dict[str, Any] = {}
        waiting: list[Any] = [schema]
        looked = 0
        while waiting and (looked := looked + 1) < _MOST_LOOKED_AT:
            part = waiting.pop()
            if isinstance(part, dict):
                reference = part.get("$ref")
                if isinstance(reference, str) and (name := reference.rsplit("/", 1)[-1]) not in reached:
                    reached[name] = self._definitions.get(name)
                    waiting.append(reached[name])
                waiting.extend(part.values())
            elif isinstance(part, list):
                waiting.extend(part)
        own = {key: value for key, value in schema.items() if key != "$defs"}
        try:
            text = json.dumps([own, reached], sort_keys=True, default=str)
        except (ValueError, RecursionError, TypeError):
            return f"unlike any other: {id(schema)}"
        # What has a default may be left out by a caller, but always comes back.
        return f"given {text}" if self._given and '"default"' in text else text


def constraints(schema: Any, depth: int = 0) -> str:
    """What a value must hold besides its type, in a few words."""
    if not isinstance(schema, dict) or depth > 2:
        return ""
    parts: list[str] = []
    for key, words in _CONSTRAINTS.items():
        value = None if key in ("minItems", "maxItems") and "prefixItems" in schema else schema.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and (text := literal(value, 24)):
            parts.append("not empty" if value == 1 and key in ("minLength", "minItems") else words.format(text))
    if isinstance(pattern := schema.get("pattern"), str):
        parts.append(f"matches {literal(pattern, 80) or 'a pattern'}")
    if isinstance(form := schema.get("format"), str):
        parts.append(comment(form, 24))
    if schema.get("uniqueItems") is True:
        parts.append("no two alike")
    if isinstance(choices := schema.get("enum"), list) and choices and not _choices(choices).startswith("Literal"):
        parts.append(f"one of {len(choices)} values")
    for key in ("anyOf", "oneOf"):
        if isinstance(options := schema.get(key), list):
            others = [each for each in options if not (isinstance(each, dict) and each.get("type") == "null")]
            if len(others) == 1 and (inner := constraints(others[0], depth + 1)):
                parts.append(inner)
    if isinstance(items := schema.get("items"), dict) and (inner := constraints(items, depth + 1)):
        parts.append(f"each {inner}")
    return ", ".join(parts)


_CONSTRAINTS: Final = {
    "minimum": ">= {}",
    "exclusiveMinimum": "> {}",
    "maximum": "<= {}",
    "exclusiveMaximum": "< {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


def _choices(choices: list[Any]) -> str:
    spelled = [literal(choice, _LONGEST_FIELD) for choice in choices[: _MOST_CHOICES + 1]]
    plain = all(choice is None or isinstance(choice, str | int | float) for choice in choices)
    written = [each for each in spelled if each is not None]
    if not plain or len(written) != len(choices) or len(", ".join(written)) > _LONGEST_CHOICES:
        kinds = {type(choice) for choice in choices}
        return "str" if kinds == {str} else "Any"
    return f"Literal[{', '.join(written)}]"


def _behind(note: str) -> str:
    return f"  # {note}" if note else ""
