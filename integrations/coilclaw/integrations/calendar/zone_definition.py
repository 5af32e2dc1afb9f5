"""A VTIMEZONE for a zone of the IANA database, which every file that names the zone has to include.

Changes that come every year on the same weekday are written as a rule, others as dates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from coilclaw.integrations.calendar.values import written

__all__ = ["zone_definition"]

_YEARS = 20
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class _Kind:
    """What the clock is set from and to."""

    before: timedelta
    after: timedelta
    name: str
    summer: bool


def zone_definition(zone: ZoneInfo, year: int) -> list[str]:
    """The content lines of the zone's definition, good from the year before this one on."""
    first = datetime(max(2, year - 1), 1, 1, tzinfo=UTC)
    last = datetime(min(9998, first.year + _YEARS), 1, 1, tzinfo=UTC)
    start = first.astimezone(zone)
    offset = start.utcoffset() or timedelta(0)
    kinds: dict[_Kind, list[datetime]] = {}
    for instant in _changes(zone, first, last):
        before = (instant - timedelta(seconds=1)).astimezone(zone).utcoffset() or timedelta(0)
        after = instant.astimezone(zone)
        kind = _Kind(before, after.utcoffset() or timedelta(0), after.tzname() or zone.key, bool(after.dst()))
        # A change is written as the clock shows it before it is set.
        kinds.setdefault(kind, []).append((instant + before).replace(tzinfo=None))
    since = _Kind(offset, offset, start.tzname() or zone.key, bool(start.dst()))
    lines = ["BEGIN:VTIMEZONE", f"TZID:{zone.key}", *_observance(since, [datetime(first.year, 1, 1)], _YEARS)]  # noqa: DTZ001
    for kind, changes in kinds.items():
        lines += _observance(kind, changes, last.year - first.year)
    return [*lines, "END:VTIMEZONE"]


def _changes(zone: ZoneInfo, first: datetime, last: datetime) -> Iterator[datetime]:
    """The instants at which the zone's offset changes, found by halving days."""
    day = first
    while day < last:
        low, high = day, day + _DAY
        if low.astimezone(zone).utcoffset() != high.astimezone(zone).utcoffset():
            before = low.astimezone(zone).utcoffset()
            while high - low > timedelta(seconds=1):
                middle = low + timedelta(seconds=(high - low).total_seconds() // 2)
                if middle.astimezone(zone).utcoffset() == before:
                    low = middle
                else:
                    high = middle
            yield high
        day += _DAY


def _observance(kind: _Kind, changes: list[datetime], years: int) -> Iterator[str]:
    name = "DAYLIGHT" if kind.summer else "STANDARD"
    yield f"BEGIN:{name}"
    yield f"DTSTART:{written(changes[0])}"
    yield f"TZOFFSETFROM:{_signed(kind.before)}"
    yield f"TZOFFSETTO:{_signed(kind.after)}"
    yield f"TZNAME:{kind.name}"
    rule = _yearly(changes) if len(changes) >= years - 1 > 1 else None
    if rule:
        yield f"RRULE:{rule}"
    elif len(changes) > 1:
        yield f"RDATE:{','.join(written(each) for each in changes[1:])}"
    yield f"END:{name}"


def _yearly(changes: list[datetime]) -> str | None:
    """The rule that gives these changes, one for each year, if there is a simple one."""
    one = changes[0]
    if [each.year for each in changes] != list(range(one.year, one.year + len(changes))):
        return None
    if any((each.month, each.weekday(), each.time()) != (one.month, one.weekday(), one.time()) for each in changes):
        return None
    if all((each + timedelta(days=7)).month != each.month for each in changes):
        position = -1
    elif len({(each.day - 1) // 7 for each in changes}) == 1:
        position = (one.day - 1) // 7 + 1
    else:
        return None
    return f"FREQ=YEARLY;BYMONTH={one.month};BYDAY={position}{_WEEKDAYS[one.weekday()]}"


def _signed(offset: timedelta) -> str:
    seconds = int(offset.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("+", seconds)
    text = f"{sign}{seconds // 3600:02}{seconds // 60 % 60:02}"
    return text + (f"{seconds % 60:02}" if seconds % 60 else "")
