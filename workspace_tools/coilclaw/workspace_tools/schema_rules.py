"""JSON Schemas that somebody else wrote: examined when a tool is made, enforced when it is called.

The author of a schema may be careless or hostile, and so may be whoever sends the data. So size and
depth are bounded, references stay inside the document, and checking has a budget of steps. A
pattern is matched without backtracking, and left to the other side if that is not possible.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from coilclaw.sdk import ToolDefinitionError
from coilclaw.workspace_tools.names import shown_text
from coilclaw.workspace_tools.schema_checks import LONGEST_NAME, NAMED, InvalidSchema, bounded_validator, problems_with

__all__ = ["Rules"]

_MOST_BYTES: Final = 64 * 1024
_MOST_DEPTH: Final = 48
_MOST_REFERENCES: Final = 500
_MOST_SHOWN_NODES: Final = 4_000
_LONGEST_WORDS: Final = 1_000
_TYPES: Final = frozenset(("string", "integer", "number", "boolean", "null", "array", "object"))

_SINGLE: Final = (
    "items", "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_REFUSED: Final = ("$dynamicRef", "$recursiveRef", "extends", "disallow", "dependencies")


class Rules:
    """One schema that was found usable. Raises `ToolDefinitionError` when it is made from another."""

    def __init__(self, schema: object, *, field: str = "schema") -> None:
        self._field = field
        self._validator: Any = None
        self._lock = threading.Lock()
        if not isinstance(schema, dict):
            raise self._error("a JSON Schema is an object")
        try:
            text = json.dumps(schema, allow_nan=False)
        except (ValueError, TypeError, RecursionError):
            raise self._error("the schema is not JSON, or is nested too deeply") from None
        if len(text) > _MOST_BYTES:
            raise self._error(f"the schema is larger than {_MOST_BYTES} bytes")
        self.given: dict[str, Any] = json.loads(text)  # Nobody else holds this copy.
        self._places: dict[str, dict[str, Any]] = {}
        self._examine(self.given, "#", 0)
        self._circular = self._references()

    def _error(self, problem: str, *, hint: str | None = None) -> ToolDefinitionError:
        return ToolDefinitionError(problem, field=self._field, hint=hint)

    # Examining -----------------------------------------------------------------------------------------

    def _examine(self, schema: object, place: str, depth: int) -> None:
        """Look at every place where a schema stands, and remember it."""
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            raise self._error(f"{place} is not a schema")
        if depth > _MOST_DEPTH:
            raise self._error(f"the schema is nested more than {_MOST_DEPTH} deep")
        self._places[place] = schema
        for keyword in _REFUSED:
            if keyword in schema:
                raise self._error(f"{place}/{keyword} is not supported", hint="use $ref and $defs")
        self._examine_words(schema, place)
        for keyword in NAMED:
            if keyword not in schema:
                continue
            if not isinstance(schema[keyword], dict):
                raise self._error(f"{place}/{keyword} is not an object")
            for name, member in schema[keyword].items():
                if len(name) > LONGEST_NAME or not name.isprintable():
                    raise self._error(f"{place}/{keyword} has a name that cannot be shown: {name[:40]!r}")
                self._examine(member, f"{place}/{keyword}/{_escaped(name)}", depth + 1)
        for keyword in _LISTS:
            if isinstance(schema.get(keyword), list):
                for index, member in enumerate(schema[keyword]):
                    self._examine(member, f"{place}/{keyword}/{index}", depth + 1)
            elif keyword in schema and keyword not in _SINGLE:
                raise self._error(f"{place}/{keyword} is not a list")
        for keyword in _SINGLE:
            if keyword in schema and not isinstance(schema[keyword], list):
                self._examine(schema[keyword], f"{place}/{keyword}", depth + 1)

    def _examine_words(self, schema: Mapping[str, Any], place: str) -> None:
        kinds = schema.get("type", [])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if not all(isinstance(kind, str) and kind in _TYPES for kind in kinds):
            raise self._error(f"{place}/type is not a JSON type: {str(schema['type'])[:40]!r}")
        for keyword in ("enum", "required"):
            if not isinstance(schema.get(keyword, []), list):
                raise self._error(f"{place}/{keyword} is not a list")
        if not all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in schema.get("required", [])):
            raise self._error(f"{place}/required is not a list of names")
        for keyword in ("$ref", "title", "pattern"):
            if not isinstance(schema.get(keyword, ""), str):
                raise self._error(f"{place}/{keyword} is not text")

    def _references(self) -> frozenset[str]:
        """The places whose reference leads back to themselves; every reference must name a schema in this document."""
        targets: dict[str, str] = {}
        for place, schema in self._places.items():
            if "$ref" in schema:
                target = unquote(schema["$ref"].rstrip("/")) or "#"
                if not target.startswith("#"):
                    raise self._error(
                        f"{place} refers to another document: {schema['$ref'][:80]!r}", hint="put it under $defs"
                    )
                if target not in self._places:
                    if isinstance(self._found(target), bool):
                        continue
                    raise self._error(f"{place} refers to {schema['$ref'][:80]!r}, which is not a schema here")
                targets[place] = target
        if len(targets) > _MOST_REFERENCES:
            raise self._error(f"the schema has more than {_MOST_REFERENCES} references")
        ends = list(dict.fromkeys(targets.values()))
        reached = {end: _bits(ends, {to for place, to in targets.items() if _is_within(place, end)}) for end in ends}
        for number, middle in enumerate(ends):
            for end in ends:
                if reached[end] >> number & 1:
                    reached[end] |= reached[middle]
        return frozenset(
            place
            for place, target in targets.items()
            if _is_within(place, target)
            or any(reached[target] >> number & 1 and _is_within(place, end) for number, end in enumerate(ends))
        )

    def _found(self, target: str) -> object:
        at: Any = self.given
        for part in target.split("/")[1:]:
            at = at.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(at, dict) else None
        return at

    def surface(self) -> tuple[list[str], list[str], bool]:
        """The names at the top in order, those that are required, and whether other names may be passed too.

        A name that is not listed is a mistake, unless the schema says in so many words that it is not, or says
        what it takes in ways that a list of names cannot tell.
        """
        names: dict[str, None] = {}
        required: dict[str, None] = {}
        opened = False
        following, seen = ["#"], {"#"}
        while following:
            place = following.pop(0)
            schema = self._places.get(place, {})
            names.update(dict.fromkeys(schema.get("properties", {})))
            required.update(dict.fromkeys(schema.get("required", [])))
            opened |= schema.get("additionalProperties", False) is not False or bool(schema.get("patternProperties"))
            opened |= any(keyword in schema for keyword in ("anyOf", "oneOf", "if", "dependentSchemas"))
            nearby = [f"{place}/allOf/{index}" for index in range(len(schema.get("allOf", [])))]
            if "$ref" in schema:
                nearby.append(unquote(schema["$ref"].rstrip("/")) or "#")
            following.extend(each for each in nearby if each not in seen)
            seen.update(nearby)
        return [name for name in {**names, **required} if name], [name for name in required if name], opened

    # Showing -------------------------------------------------------------------------------------------

    def shown(self) -> dict[str, Any]:
        """The schema for readers: as given, but a reference that leads back to itself is shown as anything."""
        copy = self._shown(self.given, "#")
        assert isinstance(copy, dict)
        properties = copy.get("properties")
        if isinstance(properties, dict):
            # Readers of the top level look inside; `true` and `false` have no inside.
            copy["properties"] = {name: {} if shape is True else _plain(shape) for name, shape in properties.items()}
        return copy

    def _shown(self, value: Any, place: str) -> Any:
        if isinstance(value, dict):
            if place in self._circular:
                return {}
            words = ("description", "title") if place in self._places else ()
            return {
                name: _seen(member) if name in words else self._shown(member, f"{place}/{_escaped(name)}")
                for name, member in value.items()
            }
        if isinstance(value, list):
            return [self._shown(member, f"{place}/{index}") for index, member in enumerate(value)]
        return value

    def inlined(self) -> dict[str, Any]:
        """The shown schema without references, for readers that resolve none."""
        left = _MOST_SHOWN_NODES

        def copied(place: str, value: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0 or place in self._circular:
                return {}
            if isinstance(value, dict):
                if "$ref" in value and place in self._places:
                    target = unquote(value["$ref"].rstrip("/")) or "#"
                    return copied(target, self._places.get(target, {}))
                words = ("description", "title") if place in self._places else ()
                return {
                    name: _seen(member) if name in words else copied(f"{place}/{_escaped(name)}", member)
                    for name, member in value.items()
                    if name not in ("$defs", "definitions") or place not in self._places
                }
            if isinstance(value, list):
                return [copied(f"{place}/{index}", member) for index, member in enumerate(value)]
            return value

        whole: dict[str, Any] = copied("#", self.given)
        return whole

    # Enforcing -----------------------------------------------------------------------------------------

    def problems(self, data: Any) -> list[str]:
        """What is wrong with the data, at most five things; empty when it fits."""
        return problems_with(data, self._compiled())

    def check(self) -> None:
        """Find out now whether the schema follows its own rules, which is otherwise seen at the first call."""
        self._compiled()

    def _compiled(self) -> Any:
        with self._lock:
            if self._validator is None:
                self._validator = self._compile()
            return self._validator

    def _compile(self) -> Any:
        try:
            return bounded_validator(self.given, self._places.values())
        except InvalidSchema as error:
            raise self._error(str(error)) from None


def _plain(shape: object) -> object:
    return {"not": {}} if shape is False else shape


def _seen(words: Any) -> Any:
    """A schema's words are read by models and people; what cannot be seen is no part of them."""
    if not isinstance(words, str) or (words.isprintable() and len(words) <= _LONGEST_WORDS):
        return words
    return shown_text(words, _LONGEST_WORDS)


def _is_within(place: str, other: str) -> bool:
    return place == other or place.startswith(other + "/")


def _bits(ends: list[str], chosen: set[str]) -> int:
    return sum(1 << number for number, end in enumerate(ends) if end in chosen)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
