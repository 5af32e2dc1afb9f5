"""Regular expressions of somebody else's schema, matched in time that grows with the text and never backtracking.

The matching is done by the regex engine of pydantic-core. That engine is linear in the text, but also in the pattern
with its repetitions written out, so a pattern is weighed first. One that is too heavy, or that the engine does not
understand (it has no look-around and no references back), is not enforced: whoever receives the data checks it again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from pydantic_core import SchemaError, SchemaValidator, core_schema

__all__ = ["Patterns"]

_LONGEST: Final = 500
_HEAVIEST: Final = 2_000
_STEPS_PER_WEIGHT: Final = 4
_WEIGHT_PER_STEP: Final = 1_000
"""How much of a pattern is compared with one character in the time of one step, at the slowest."""
_REPEATED: Final = re.compile(r"\{\s*([0-9]*)\s*(?:,\s*([0-9]*)\s*)?\}")
_FLAGS: Final = re.compile(r"\(\?[^:<P]")
_WIDE: Final = re.compile(r"\\[wWpPDS]")
_WIDE_WEIGHT: Final = 10
"""A class of most of Unicode takes about so many times as long to prepare as a letter."""


class Patterns:
    """The patterns of one schema, each prepared when it is first needed. `spend` is told how much work that was."""

    def __init__(self, spend: Callable[[int], None]) -> None:
        self._spend = spend
        self._prepared: dict[str, tuple[SchemaValidator | None, int]] = {}

    def can_match(self, pattern: str) -> bool:
        """Whether the pattern is enforced."""
        return self._weighed(pattern)[0] is not None

    def matches(self, pattern: str, text: str) -> bool:
        """Whether the pattern is found somewhere in the text; always, if it is not enforced."""
        validator, weight = self._weighed(pattern)
        if validator is None:
            return True
        self._spend(weight * len(text) // _WEIGHT_PER_STEP)
        return validator.isinstance_python(text)

    def _weighed(self, pattern: str) -> tuple[SchemaValidator | None, int]:
        if pattern not in self._prepared:
            weight = _weight(pattern)
            if weight <= _HEAVIEST:
                self._spend(weight * _STEPS_PER_WEIGHT)
            self._prepared[pattern] = _validator(pattern) if weight <= _HEAVIEST else None, weight
        return self._prepared[pattern]


def _validator(pattern: str) -> SchemaValidator | None:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError:
        return None


def _weight(pattern: str) -> int:
    """At least the length of the pattern with its repetitions written out.

    Nothing is parsed: whatever looks like a repetition counts as one. A repetition of a group, or of another
    repetition, multiplies all the rest. Flags could change how the pattern is read, and JSON Schema has none.
    """
    if len(pattern) > _LONGEST or _FLAGS.search(pattern):
        return _HEAVIEST + 1
    added, factors = len(pattern), []
    for found in _REPEATED.finditer(pattern):
        # Nine digits are enough of a number to be too many.
        count = max(1, *(int((digits or "0")[:9]) for digits in found.groups()))
        if pattern[: found.start()].endswith((")", "}", "*", "+", "?")):
            factors.append(count)
        else:
            added += count
    wide = _WIDE_WEIGHT if _WIDE.search(pattern) else 1
    return min(added * math.prod(factors) * wide, _HEAVIEST + 1)
