"""Bounded checking of data against a JSON Schema that somebody else wrote.

Checking has a budget of steps and of depth. A pattern is matched without backtracking, and left to the other side
if that is not possible.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from coilclaw.workspace_tools.schema_patterns import Patterns

__all__ = ["LONGEST_NAME", "NAMED", "InvalidSchema", "bounded_validator", "problems_with"]

LONGEST_NAME: Final = 128
NAMED: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_MOST_STEPS: Final = 50_000
_MOST_DATA_DEPTH: Final = 100
_MOST_PROBLEMS: Final = 5
_LONGEST_MATCHED_TEXT: Final = 1_000
_MOST_UNIQUE_ITEMS: Final = 300
_IDENTITY: Final = ("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary")


class InvalidSchema(Exception):
    """A schema that is not valid JSON Schema."""


def bounded_validator(given: Mapping[str, Any], places: Iterable[Mapping[str, Any]]) -> Any:
    """A validator that counts its steps. Raises InvalidSchema if the schema breaks the rules of its own draft."""
    from jsonschema import Draft202012Validator, SchemaError  # type: ignore[import-untyped]
    from jsonschema.validators import extend, validator_for  # type: ignore[import-untyped]
    from referencing import Registry

    schema = _enforceable(given)
    named = schema.get("$schema")
    kind = validator_for(schema, default=Draft202012Validator) if isinstance(named, str) else Draft202012Validator
    check: Any = kind.check_schema  # Its types do not say that it may do without formats.
    try:
        check(schema, format_checker=None)  # Patterns need not be Python's.
    except SchemaError as error:
        place = "/".join(["#", *map(str, error.absolute_path)])
        raise InvalidSchema(f"{place} is not valid JSON Schema: {error.message[:200]}") from None
    except RecursionError:
        raise InvalidSchema("the schema is nested too deeply") from None
    patterns = Patterns(_spend)
    checks = {
        **kind.VALIDATORS,
        "uniqueItems": _unique_items(kind.VALIDATORS["uniqueItems"]),
        "pattern": _pattern(patterns),
        "patternProperties": _pattern_properties(patterns),
        "additionalProperties": _additional_properties(patterns),
    }
    if any("patternProperties" in each for each in places):
        # Not enforced: which names are left would be found out with Python's own engine, which backtracks.
        checks["unevaluatedProperties"] = lambda *_: ()
    counted = {keyword: _counted(check) for keyword, check in checks.items()}
    # An empty registry: nothing is ever fetched.
    return extend(kind, counted)(schema, registry=Registry())


def problems_with(data: Any, validator: Any) -> list[str]:
    """What is wrong with the data, at most five things; empty when it fits."""
    _work.left, _work.depth = _MOST_STEPS, 0
    found: list[str] = []
    try:
        for error in validator.iter_errors(data):
            found.append(_explained(error))
            if len(found) == _MOST_PROBLEMS:
                break
    except _TooMuch as reason:
        found.append(str(reason))
    except RecursionError:
        found.append("nested too deeply to be checked")
    return found


class _TooMuch(Exception):
    """Checking would take too long, or go too deep."""


class _Work(threading.local):
    left = 0
    depth = 0


_work = _Work()
_Check = Callable[[Any, Any, Any, Any], Any]


def _counted(check: _Check) -> _Check:
    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        # A keyword with a list or an object walks through it: an enum of thousands is thousands of comparisons.
        _spend(1 + len(value) // 4 if isinstance(value, (list, dict)) else 1)
        _work.depth += 1
        try:
            if _work.depth > _MOST_DATA_DEPTH:
                raise _TooMuch("nested too deeply to be checked")
            yield from check(validator, value, instance, schema) or ()
        finally:
            _work.depth -= 1

    return run


def _spend(steps: int) -> None:
    _work.left -= steps
    if _work.left < 0:
        raise _TooMuch("too large to be checked against the tool's schema")


def _unique_items(check: _Check) -> _Check:
    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        # Comparing each with each: a long list is left to whoever receives it.
        if isinstance(instance, list) and len(instance) <= _MOST_UNIQUE_ITEMS:
            _spend(len(instance) ** 2 // 4)
            yield from check(validator, value, instance, schema)

    return run


def _pattern(patterns: Patterns) -> _Check:
    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        from jsonschema import ValidationError

        short = isinstance(instance, str) and len(instance) <= _LONGEST_MATCHED_TEXT
        if short and not patterns.matches(value, instance):
            yield ValidationError("does not match")

    return run


def _pattern_properties(patterns: Patterns) -> _Check:
    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(instance, dict):
            return
        for pattern, member in value.items():
            if patterns.can_match(pattern):
                for name in _matched_names(patterns, [pattern], instance):
                    yield from validator.descend(instance[name], member, path=name, schema_path=pattern)

    return run


def _additional_properties(patterns: Patterns) -> _Check:
    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        from jsonschema import ValidationError

        if not isinstance(instance, dict):
            return
        # A pattern that is not enforced may stand for any name.
        named = _matched_names(patterns, schema.get("patternProperties", ()), instance)
        others = instance.keys() - schema.get("properties", {}).keys() - named
        if value is False and others:
            yield ValidationError("has other names")
        elif isinstance(value, dict):
            for name in sorted(others):
                yield from validator.descend(instance[name], value, path=name)

    return run


def _matched_names(patterns: Patterns, wanted: Collection[str], instance: Mapping[str, Any]) -> set[str]:
    if wanted and any(len(name) > LONGEST_NAME for name in instance):
        raise _TooMuch("a name in it is too long")
    _spend(len(instance) * len(wanted))
    return {name for name in instance if any(patterns.matches(pattern, name) for pattern in wanted)}


def _enforceable(schema: Any) -> Any:
    """A copy without names that move references."""
    if isinstance(schema, list):
        return [_enforceable(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    copy: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _IDENTITY and isinstance(value, (str, bool)):
            continue
        if keyword in ("enum", "const", "default", "examples"):
            copy[keyword] = value
        elif keyword in NAMED and isinstance(value, dict):
            copy[keyword] = {name: _enforceable(member) for name, member in value.items()}
        else:
            copy[keyword] = _enforceable(value)
    return copy


def _explained(error: Any) -> str:
    """What a person can act on. The data itself is left out: it may be long, or secret."""
    place = ".".join(str(part) for part in error.absolute_path)[:200]
    value = json.dumps(error.validator_value, default=str)
    value = value if len(value) <= 120 else value[:120] + "…"
    if error.validator == "required":
        missing = next((name for name in error.validator_value if name not in error.instance), "a name")
        text = f"{missing!r} is missing"
    elif error.validator in ("additionalProperties", "unevaluatedProperties"):
        text = "has a name that is not allowed"
    elif error.validator in ("anyOf", "oneOf"):
        text = "fits none, or more than one, of the alternatives"
    elif error.validator is None:
        text = "nothing is allowed here"
    else:
        text = f"must have {error.validator} {value}"
    return f"{place}: {text}" if place else text
