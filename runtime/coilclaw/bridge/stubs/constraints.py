"""What a value must hold besides its type, in a few words."""

from __future__ import annotations

from typing import Any, Final

from coilclaw.bridge.stubs.text import comment, literal
from coilclaw.sdk.value_plan import text_format

__all__ = ["choices_of", "constraints", "without_number"]

_MOST_CHOICES: Final = 24
_LONGEST_CHOICES: Final = 400
_LONGEST_FIELD: Final = 80
_WORTH_A_WORD: Final = 33
"""A text that may be longer than this is seldom too long."""
_BRIEF_PATTERN: Final = 24
_BOUNDS: Final = (("exclusiveMinimum", "> {}"), ("exclusiveMaximum", "< {}"), ("multipleOf", "a multiple of {}"))


def constraints(schema: Any, *, brief: bool = False, depth: int = 0) -> str:
    """The limits of a value: `1-50`, `> 0, at most 5 items`. Brief, those are left out that are rarely met."""
    if not isinstance(schema, dict) or depth > 2:
        return ""
    parts = [_range(schema, "minimum", "maximum", ""), *(_bound(schema, key, words) for key, words in _BOUNDS)]
    if not brief or _small(schema.get("maxLength")) or _number(schema, "minLength") not in (None, "1"):
        parts.append(_range(schema, "minLength", "maxLength", " characters"))
    if "prefixItems" not in schema:
        parts.append(_range(schema, "minItems", "maxItems", " items"))
    if isinstance(pattern := schema.get("pattern"), str) and not (brief and len(pattern) > _BRIEF_PATTERN):
        parts.append(f"matches {literal(pattern, 80) or 'a pattern'}")
    if isinstance(form := schema.get("format"), str) and text_format(schema) is None:
        parts.append(comment(form, 24))
    if schema.get("uniqueItems") is True:
        parts.append("no two alike")
    if isinstance(choices := schema.get("enum"), list) and choices and not choices_of(choices).startswith("Literal"):
        parts.append(f"one of {len(choices)} values")
    for key in ("anyOf", "oneOf"):
        if isinstance(options := schema.get(key), list):
            parts.append(_of_one(options, brief, depth))
    if isinstance(items := schema.get("items"), dict) and (inner := constraints(items, brief=brief, depth=depth + 1)):
        parts.append(f"each {inner}")
    return ", ".join(part for part in parts if part)


def _of_one(options: list[Any], brief: bool, depth: int) -> str:
    """The limits of the one option that is a value, or of the number that a decimal is taken as."""
    others = [each for each in options if not (isinstance(each, dict) and each.get("type") == "null")]
    if any(isinstance(each, dict) and each.get("format") == "decimal" for each in others):
        others = [each for each in others if not (isinstance(each, dict) and each.get("type") == "string")]
    return constraints(others[0], brief=brief, depth=depth + 1) if len(others) == 1 else ""


def _range(schema: dict[str, Any], low: str, high: str, unit: str) -> str:
    least, most = _number(schema, low), _number(schema, high)
    if least == "1" and most is None and unit:
        return "not empty"
    if least is not None and most is not None:
        return f"{least}-{most}{unit}" if not least.startswith("-") else f">= {least}, <= {most}{unit}"
    if least is not None:
        return f"at least {least}{unit}" if unit else f">= {least}"
    if most is not None:
        return f"at most {most}{unit}" if unit else f"<= {most}"
    return ""


def _bound(schema: dict[str, Any], key: str, words: str) -> str:
    number = _number(schema, key)
    return "" if number is None else words.format(number)


def _number(schema: dict[str, Any], key: str) -> str | None:
    value = schema.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return literal(int(value) if whole else value, 24)


def _small(value: Any) -> bool:
    return isinstance(value, int) and value < _WORTH_A_WORD


def without_number(options: list[Any]) -> list[Any]:
    """A decimal is taken as a number too, which is worth no word."""
    if not any(isinstance(each, dict) and each.get("format") == "decimal" for each in options):
        return options
    return [each for each in options if not (isinstance(each, dict) and each.get("type") == "number")]


def choices_of(choices: list[Any]) -> str:
    """An enumeration as Python spells it, or the type of its values when they are too many."""
    spelled = [literal(choice, _LONGEST_FIELD) for choice in choices[: _MOST_CHOICES + 1]]
    plain = all(choice is None or isinstance(choice, str | int | float) for choice in choices)
    written = [each for each in spelled if each is not None]
    if not plain or len(written) != len(choices) or len(", ".join(written)) > _LONGEST_CHOICES:
        kinds = {type(choice) for choice in choices}
        return "str" if kinds == {str} else "Any"
    return f"Literal[{', '.join(written)}]"
