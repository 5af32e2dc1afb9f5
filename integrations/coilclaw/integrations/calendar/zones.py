"""Time zones: by their IANA name, as a file defines them, and as a definition to be written."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from coilclaw.integrations.calendar.content import Component, Document
from coilclaw.integrations.calendar.recurrence import Budget, Rule, TooDense
from coilclaw.integrations.calendar.rules import parse_rule
from coilclaw.integrations.calendar.values import as_instant, moment, moments, wall_clock

__all__ = ["Zones", "iana_zone", "local_zone", "zone_name"]

_IANA = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,31}(?:/[A-Za-z0-9_+-]{1,32}){0,3}", re.ASCII)
_OFFSET = re.compile(r"([+-])(\d\d)(\d\d)(\d\d)?", re.ASCII)
_MOST_OBSERVANCES = 500
_STEPS = 100_000
_LOCALTIME = Path("/etc/localtime")


def iana_zone(name: str) -> ZoneInfo | None:
    """The zone with this name, or None. The name is checked first: it becomes part of a path."""
    if not _IANA.fullmatch(name):
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def local_zone() -> ZoneInfo:
    """The zone of the machine, by its name; UTC where it has none."""
    try:
        name = str(_LOCALTIME.resolve()).partition("/zoneinfo/")[2]
    except (OSError, RuntimeError):
        name = ""
    return iana_zone(name) or ZoneInfo("UTC")


def zone_name(zone: tzinfo | None) -> str | None:
    """What to call a zone; None for floating times."""
    if zone is None:
        return None
    return str(getattr(zone, "key", None) or ("UTC" if zone is UTC else zone))


class Zones:
    """The zones that the TZIDs of one file mean."""

    def __init__(self, document: Document) -> None:
        self._defined = {each.text("TZID"): each for each in document.components("VTIMEZONE")}
        self._known: dict[str, tzinfo | str] = {}
        self._budget = Budget(_STEPS)

    def __call__(self, name: str) -> tzinfo:
        """The zone, or `ValueError`. What went wrong once is not tried again for each event of a file."""
        if name not in self._known:
            try:
                self._known[name] = self._found(name)
            except ValueError as error:
                self._known[name] = str(error)
        found = self._known[name]
        if isinstance(found, str):
            raise ValueError(found)
        return found

    def _found(self, name: str) -> tzinfo:
        found = iana_zone(name) or self._prefixed(name)
        if found is None and name in self._defined:
            found = _FileZone(name, self._defined[name], self._budget)
        found = found or self._windows(name)
        if found is None:
            raise ValueError(f"the time zone {name[:64]!r} is not known")
        return found

    def _prefixed(self, name: str) -> tzinfo | None:
        """Some programs put themselves in front: `/vendor/Europe/Paris`."""
        parts = name.split("/") if name.startswith("/") else []
        return next((zone for at in range(2, min(len(parts), 8)) if (zone := iana_zone("/".join(parts[at:])))), None)

    def _windows(self, name: str) -> tzinfo | None:
        from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

        known = WINDOWS_TO_OLSON.get(name)
        return iana_zone(known) if known else None


@dataclass(frozen=True)
class _Observance:
    """One STANDARD or DAYLIGHT; times are on the wall clock from before the change."""

    start: datetime
    before: timedelta
    after: timedelta
    rules: tuple[Rule, ...]
    extra: tuple[datetime, ...]

    def changes(self, year: int, budget: Budget) -> Iterator[datetime]:
        """When it begins, from the year before this one on, or earlier if it has ended."""
        budget.spend(1 + len(self.extra))
        for found in (self.start, *self.extra):
            if found.year <= year:
                yield found
        for rule in self.rules:
            last = datetime(year, 12, 31, 23, 59, 59)  # noqa: DTZ001
            if rule.until is not None:
                until = rule.until
                ended = as_instant(until, UTC).replace(tzinfo=None) + self.before if _in_utc(until) else None
                last = min(last, ended or wall_clock(until))
            first = datetime(max(1, last.year - 1), 1, 1)  # noqa: DTZ001
            yield from rule.between(self.start, first, last, budget)


class _FileZone(tzinfo):
    """A zone as a VTIMEZONE describes it, looked up year by year."""

    def __init__(self, name: str, component: Component, budget: Budget) -> None:
        self._name = name
        self._observances = _observances(component)
        self._budget = budget
        self._years: dict[int, list[tuple[datetime, timedelta]]] = {}

    def __str__(self) -> str:
        return self._name

    def utcoffset(self, dt: datetime | None) -> timedelta:
        wall = datetime(2000, 1, 1) if dt is None else dt.replace(tzinfo=None)  # noqa: DTZ001
        changes = self._changes(wall.year)
        at = bisect_right(changes, wall, key=lambda each: each[0])
        return changes[at - 1][1] if at else self._observances[0].before

    def dst(self, dt: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, dt: datetime | None) -> str:
        return self._name

    def fromutc(self, dt: datetime) -> datetime:
        near = dt + self.utcoffset(dt)
        return dt + self.utcoffset(near)

    def _changes(self, year: int) -> list[tuple[datetime, timedelta]]:
        if year not in self._years:
            found = []
            try:
                for each in self._observances:
                    gap = max(timedelta(0), each.after - each.before)
                    found += [(change + gap, each.after) for change in each.changes(year, self._budget)]
            except (TooDense, OverflowError):
                raise ValueError(f"the time zone {self._name[:64]!r} changes too often to follow") from None
            self._years[year] = sorted(found)
        return self._years[year]


def _observances(component: Component) -> list[_Observance]:
    if len(component.children) > _MOST_OBSERVANCES:
        raise ValueError("a time zone has too many parts")
    found = []
    for part in component.children:
        start, before, after = (part.first_of(name) for name in ("DTSTART", "TZOFFSETFROM", "TZOFFSETTO"))
        if start is None or before is None or after is None:
            raise ValueError("a part of a time zone lacks DTSTART, TZOFFSETFROM or TZOFFSETTO")
        rules = tuple(parse_rule(each.value) for each in part.properties("RRULE"))
        extra = [wall_clock(value) for each in part.properties("RDATE") for value, _ in moments(each, lambda name: UTC)]
        begin = wall_clock(moment(start.value))
        found.append(_Observance(begin, _offset(before.value), _offset(after.value), rules, tuple(extra)))
    if not found:
        raise ValueError("a time zone has no parts")
    return sorted(found, key=lambda each: each.start)


def _in_utc(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _offset(text: str) -> timedelta:
    found = _OFFSET.fullmatch(text.strip())
    if not found or int(found[2]) > 23:
        raise ValueError(f"{text[:20]!r} is not an offset from UTC")
    length = timedelta(hours=int(found[2]), minutes=int(found[3]), seconds=int(found[4] or 0))
    return -length if found[1] == "-" else length
