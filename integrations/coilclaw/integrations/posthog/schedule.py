"""Cron expressions, and the interval of PostHog that serves one."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from coilclaw.sdk import ToolFailure

__all__ = ["Interval", "interval_of"]

Interval: TypeAlias = Literal["hourly", "daily", "weekly", "monthly"]

_FIELDS: Final = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    ("day of the week", 0, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)
_PART: Final = re.compile(r"(?:\*|([0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?)(?:/([0-9]{1,2}))?")


def interval_of(cron: str) -> Interval:
    """The rarest interval that still checks as often as the expression asks, as far as there is one."""
    texts = cron.lower().split()
    if len(texts) != len(_FIELDS):
        raise _wrong(f"{cron!r} has {len(texts)} fields instead of 5")
    _, hours, days, _, weekdays = (
        _values(text, name, low, high, names) for text, (name, low, high, names) in zip(texts, _FIELDS, strict=True)
    )
    if len(hours) > 1:
        return "hourly"
    any_day, any_weekday = texts[2].startswith("*"), texts[4].startswith("*")
    if any_day and not any_weekday and len(weekdays) == 1:
        return "weekly"
    if any_weekday and not any_day and len(days) == 1:
        return "monthly"
    return "daily"


def _values(text: str, name: str, low: int, high: int, names: tuple[str, ...]) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        found = _PART.fullmatch(part)
        if not found:
            raise _wrong(f"{part!r} is not a {name}")
        first, last, step = found[1], found[2], found[3]
        start = low if first is None else _value(first, name, low, high, names)
        end = high if first is None or step else start
        if last is not None:
            end = _value(last, name, low, high, names)
        if end < start or (step is not None and not 0 < int(step) <= high):
            raise _wrong(f"{part!r} is not a {name}")
        values.update(range(start, end + 1, int(step or 1)))
    return frozenset(values)


def _value(text: str, name: str, low: int, high: int, names: tuple[str, ...]) -> int:
    if text in names:
        return names.index(text) + low
    if not text.isdigit() or not low <= int(text) <= high:
        raise _wrong(f"{text!r} is not a {name} ({low} to {high})")
    return int(text)


def _wrong(message: str) -> ToolFailure:
    return ToolFailure(
        f"not a cron expression: {message}",
        code="invalid_cron",
        hint="minute hour day month weekday, e.g. '0 9 * * *' for every day at nine",
    )
