"""Values of RFC 5545: dates, date-times, durations, periods.

A moment is a `date` (a whole day), a `datetime` without a zone (floating: the same wall clock
everywhere) or one with a zone. Anything that is none of them raises `ValueError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TypeAlias

from coilclaw.integrations.calendar.content import Property

__all__ = ["Moment", "as_instant", "duration", "moment", "moments", "wall_clock", "written"]

Moment: TypeAlias = date | datetime
Zones: TypeAlias = Callable[[str], tzinfo]

_MOST_MOMENTS = 5_000
_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)", re.ASCII)
_DATE_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(Z?)", re.ASCII)
_DURATION = re.compile(
    r"([+-]?)P(?:(\d{1,6})W|(?:(\d{1,6})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?)", re.ASCII
)
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


def moment(text: str, zone: tzinfo | None = None) -> Moment:
    """One DATE or DATE-TIME; `zone` is the one its TZID names."""
    text = text.strip().upper()
    if found := _DATE.fullmatch(text):
        return date(*(int(part) for part in found.groups()))
    if not (found := _DATE_TIME.fullmatch(text)):
        raise ValueError(f"{text[:40]!r} is neither a date nor a date-time")
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    # A leap second is written 60, which no clock here can show.
    return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC if found[7] else zone)


def moments(given: Property, zones: Zones) -> list[tuple[Moment, timedelta | None]]:
    """The values of DTSTART, DTEND, RDATE, EXDATE or RECURRENCE-ID; a period also has a length."""
    zone = zones(given.parameters["TZID"]) if given.parameters.get("TZID") else None
    texts = given.value.split(",")
    if len(texts) > _MOST_MOMENTS:
        raise ValueError(f"{given.name} has more than {_MOST_MOMENTS} values")
    found: list[tuple[Moment, timedelta | None]] = []
    for text in texts:
        begin, slash, end = text.partition("/")
        start = moment(begin, zone)
        length = None
        if slash:
            if end.strip().upper().startswith(("P", "+P")):
                length = duration(end)
            else:
                length = as_instant(moment(end, zone), UTC) - as_instant(start, UTC)
        found.append((start, length))
    return found


def duration(text: str) -> timedelta:
    found = _DURATION.fullmatch(text.strip().upper())
    if not found or not any(found.groups()[1:]):
        raise ValueError(f"{text[:40]!r} is not a duration")
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
    length = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return -length if found[1] == "-" else length


def wall_clock(value: Moment) -> datetime:
    """What a clock on the wall shows, without a zone; midnight for a whole day."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return datetime(value.year, value.month, value.day)  # noqa: DTZ001


def as_instant(value: Moment, floating: tzinfo) -> datetime:
    """The point in time in UTC; whole days and floating times are taken to be in the zone `floating`.

    A local time that does not exist takes the offset before the gap, one that exists twice is the
    first: RFC 5545, section 3.3.5, which is also what `fold=0` means.
    """
    zone = value.tzinfo if isinstance(value, datetime) and value.tzinfo else floating
    local = wall_clock(value).replace(tzinfo=zone)
    try:
        return local.astimezone(UTC)
    except OverflowError:
        return _EARLIEST if local.year < 5000 else _LATEST


def written(value: Moment) -> str:
    """The value as it stands in a file; a zone other than UTC goes into a parameter."""
    if not isinstance(value, datetime):
        return f"{value.year:04}{value.month:02}{value.day:02}"
    text = f"{value.year:04}{value.month:02}{value.day:02}T{value.hour:02}{value.minute:02}{value.second:02}"
    return text + "Z" if value.tzinfo is UTC else text
