"""JSON Schema as Python spells it: types, their constraints, and the named types of a whole registry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from keyword import iskeyword
from typing import Any, Final

from coilclaw.bridge.stubs.constraints import choices_of, constraints, without_number
from coilclaw.bridge.stubs.text import comment, first_sentence, literal
from coilclaw.sdk.value_plan import text_format

__all__ = ["Spelling", "Types"]

_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_FORMATS: Final = {
    "date-time": "datetime",
    "date": "date",
    "time": "time",
    "duration": "timedelta",
    "decimal": "Decimal",
    "uuid": "UUID",
    "binary": "bytes",
    "base64": "bytes",
    "base64url": "bytes",
    "hex": "bytes",
}
"""How strings are spelled that stand for values of other types: as snippets receive them, and may pass them."""
_MODULES: Final = {"Decimal": "decimal", "UUID": "uuid", "bytes": ""}
_TAKEN: Final = frozenset(
    [
        "Any",
        "Err",
        "Literal",
        "NotRequired",
        "Ok",
        "Result",
        "TypedDict",
        "Decimal",
        "UUID",
        "asyncio",
        "bool",
        "bytes",
        "date",
        "datetime",
        "dict",
        "float",
        "int",
        "list",
        "str",
        "time",
        "timedelta",
        "tools",
        "tuple",
    ]
)
_DEEPEST: Final = 8
_MOST_PARTS: Final = 400
_MOST_LOOKED_AT: Final = 20_000
_MOST_FIELDS: Final = 60
_MOST_CHOICES: Final = 24
_LONGEST_FIELD: Final = 80
_LONGEST_NAME: Final = 60
_LONGEST_NOTE: Final = 120


class Types:
    """The named types of several tools. Two that share a name but not a shape get different names.

    With `in_place`, object types get no names and are written where they are used; with `brief`, limits are left out
    that are rarely met, because an error tells of them too.
    """

    def __init__(self, *, in_place: bool = False, brief: bool = False) -> None:
        self.in_place = in_place
        self.brief = brief
        self.texts: dict[str, str] = {}
        self.imported: set[str] = set()
        """Types of the standard library."""
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

    @property
    def imports(self) -> list[str]:
        """The lines that import what the types are made of."""
        names: dict[str, list[str]] = {}
        for name in sorted(self.imported):
            names.setdefault(_MODULES.get(name, "datetime"), []).append(name)
        return [f"from {module} import {', '.join(found)}" for module, found in sorted(names.items()) if module]


class Spelling:
    """Spells the parts of one schema. What is too deep or too large to be read is `Any`."""

    def __init__(self, schema: Mapping[str, Any], types: Types | None, qualifier: str, *, given: bool) -> None:
        found = schema.get("$defs")
        self._definitions: Mapping[str, Any] = found if isinstance(found, dict) else {}
        self._types = Types(in_place=True) if types is None else types
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
        limits = constraints(self.definition(schema), brief=self._types.brief)
        about = schema.get("description")
        said = first_sentence(about, _LONGEST_FIELD) if isinstance(about, str) else ""
        return "; ".join(part for part in (comment(limits, _LONGEST_NOTE), said) if part)

    def typed_dict(self, title: str, schema: Mapping[str, Any]) -> str:
        """The name of the TypedDict of this schema."""
        if self._types.in_place:
            return self._in_place(schema)
        name, fresh = self._types.name_of(title, self._shape(schema), self._qualifier)
        if fresh:
            text = self._class(name, schema)
            del self._types.texts[name]  # Behind the types that it is made of.
            self._types.texts[name] = text
        return name

    def _type(self, schema: dict[str, Any]) -> str:
        if isinstance(reference := schema.get("$ref"), str):
            return self._referenced(reference.rsplit("/", 1)[-1])
        if isinstance(choices := schema.get("enum"), list) and choices:
            return choices_of(choices)
        if "const" in schema:
            return choices_of([schema["const"]])
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
        if form := text_format(schema):
            self._types.imported.add(_FORMATS[form])
            return _FORMATS[form]
        return _PLAIN.get(kind, "Any")

    def _union(self, options: list[Any]) -> str:
        spelled = list(dict.fromkeys(self.type(option) for option in without_number(options[:_MOST_CHOICES])))
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
            if not more and not any(note for _, _, note in fields):
                return f"class {name}(TypedDict): {'; '.join(f'{field}: {spelled}' for field, spelled, _ in fields)}"
            lines = [f"    {field}: {spelled}{_behind(note)}" for field, spelled, note in fields]
            return "\n".join([f"class {name}(TypedDict):", *lines, *more])
        lines = [f"    {literal(field, _LONGEST_FIELD)}: {spelled},{_behind(note)}" for field, spelled, note in fields]
        return "\n".join([f'{name} = TypedDict("{name}", {{', *lines, *more, "})"])

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


def _behind(note: str) -> str:
    return f"  # {note}" if note else ""
