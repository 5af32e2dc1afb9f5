"""The text of a recurrence rule, read strictly."""

from __future__ import annotations

import re

from coilclaw.integrations.calendar.recurrence import Rule
from coilclaw.integrations.calendar.values import moment

__all__ = ["parse_rule"]

_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FREQUENCIES = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY")
_BYDAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,9}", re.ASCII)

# Part of a rule: the lowest and the highest value, and whether values may count from the end.
_RANGES = {
    "BYSECOND": (0, 60, False),
    "BYMINUTE": (0, 59, False),
    "BYHOUR": (0, 23, False),
    "BYMONTHDAY": (1, 31, True),
    "BYYEARDAY": (1, 366, True),
    "BYWEEKNO": (1, 53, True),
    "BYMONTH": (1, 12, False),
    "BYSETPOS": (1, 366, True),
}


def parse_rule(text: str) -> Rule:
    """The rule, or `ValueError` with what is wrong with it."""
    if len(text) > 4000:
        raise ValueError("the rule is too long")
    parts: dict[str, str] = {}
    for part in text.strip().rstrip(";").upper().split(";"):
        name, equals, value = part.partition("=")
        if not equals or not value or name in parts:
            raise ValueError(f"{part[:40]!r} is not one NAME=VALUE")
        parts[name] = value
    frequency = parts.pop("FREQ", "")
    if frequency not in _FREQUENCIES:
        raise ValueError(f"FREQ is not one of {', '.join(_FREQUENCIES)}")
    if "COUNT" in parts and "UNTIL" in parts:
        raise ValueError("COUNT and UNTIL exclude each other")
    if parts.pop("RSCALE", "GREGORIAN") != "GREGORIAN" or parts.pop("SKIP", "OMIT") != "OMIT":
        raise ValueError("only the Gregorian calendar is understood")
    week_start = parts.pop("WKST", "MO")
    if week_start not in _WEEKDAYS:
        raise ValueError("WKST is not a weekday")
    until = parts.pop("UNTIL", None)
    count, interval = parts.pop("COUNT", None), parts.pop("INTERVAL", "1")
    weekdays = _weekdays(parts.pop("BYDAY", ""))
    lists = {name: _numbers(name, parts.pop(name)) for name in _RANGES if name in parts}
    if parts:
        raise ValueError(f"{next(iter(parts))[:40]} is not a part of a rule")
    return Rule(
        frequency=frequency,
        interval=_positive("INTERVAL", interval),
        count=None if count is None else _positive("COUNT", count),
        until=None if until is None else moment(until),
        seconds=lists.get("BYSECOND", ()),
        minutes=lists.get("BYMINUTE", ()),
        hours=lists.get("BYHOUR", ()),
        weekdays=weekdays,
        month_days=lists.get("BYMONTHDAY", ()),
        year_days=lists.get("BYYEARDAY", ()),
        weeks=lists.get("BYWEEKNO", ()),
        months=lists.get("BYMONTH", ()),
        positions=lists.get("BYSETPOS", ()),
        week_start=_WEEKDAYS.index(week_start),
    )


def _positive(name: str, text: str) -> int:
    if not _NUMBER.fullmatch(text) or int(text) < 1:
        raise ValueError(f"{name} is not a positive number")
    return int(text)


def _numbers(name: str, text: str) -> tuple[int, ...]:
    low, high, signed = _RANGES[name]
    found = set()
    for part in text.split(","):
        number = int(part) if _NUMBER.fullmatch(part) else None
        if number is None or not low <= (abs(number) if signed else number) <= high:
            raise ValueError(f"{part[:20]!r} is not a value of {name}")
        found.add(number)
    return tuple(sorted(found))


def _weekdays(text: str) -> tuple[tuple[int, int], ...]:
    found = []
    for part in filter(None, text.split(",")):
        match = _BYDAY.fullmatch(part)
        if not match or abs(int(match[1] or 0)) > 53 or (match[1] and not int(match[1])):
            raise ValueError(f"{part[:20]!r} is not a weekday")
        found.append((int(match[1] or 0), _WEEKDAYS.index(match[2])))
    return tuple(found)
