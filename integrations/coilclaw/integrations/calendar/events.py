"""The events of a file, and when they take place inside a window of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TypeAlias

from coilclaw.integrations.calendar.content import Component, Document
from coilclaw.integrations.calendar.recurrence import Budget, Rule, TooDense
from coilclaw.integrations.calendar.rules import parse_rule
from coilclaw.integrations.calendar.values import Moment, as_instant, duration, moments, wall_clock
from coilclaw.integrations.calendar.zones import Zones

__all__ = ["Entry", "Found", "Occurrence", "Window", "ended", "read_entry"]

_STEPS_FOR_ALL = 600_000
_STEPS_FOR_ONE = 20_000
_MOST_PROBLEMS = 20
_MOST_CHANGES = 20
_DAY = timedelta(days=1)

_Key: TypeAlias = datetime | date


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One VEVENT, understood as far as listing needs it."""

    uid: str
    title: str
    location: str
    description: str
    status: str
    start: Moment
    length: timedelta
    rules: tuple[Rule, ...] = ()
    extra: tuple[tuple[Moment, timedelta | None], ...] = ()
    excluded: tuple[Moment, ...] = ()
    replaces: Moment | None = None
    """The occurrence of a series that this entry stands for (RECURRENCE-ID)."""
    and_later: bool = False

    @property
    def all_day(self) -> bool:
        return not isinstance(self.start, datetime)

    @property
    def zone(self) -> tzinfo | None:
        return self.start.tzinfo if isinstance(self.start, datetime) else None

    @property
    def repeats(self) -> bool:
        return bool(self.rules or self.extra or self.replaces)


@dataclass(frozen=True, kw_only=True)
class Occurrence:
    """One time at which an entry takes place."""

    entry: Entry
    start: Moment
    length: timedelta
    instant: datetime

    @property
    def end(self) -> Moment:
        """The first moment after it; a whole day for all-day events."""
        return ended(self.start, self.length)


def ended(start: Moment, length: timedelta) -> Moment:
    """The first moment after something that takes this long."""
    try:
        if not isinstance(start, datetime):
            return start + max(_DAY, timedelta(days=length.days))
        if start.tzinfo is None:
            return start + length
        return (as_instant(start, UTC) + length).astimezone(start.tzinfo)
    except OverflowError:
        return start


@dataclass
class Found:
    """What a window holds, and what could not be understood on the way."""

    occurrences: list[Occurrence] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    incomplete: bool = False

    def problem(self, text: str) -> None:
        self.incomplete = True
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(text)


def read_entry(component: Component, zones: Zones) -> Entry:
    """One VEVENT; `ValueError` says what is wrong with it."""
    starts = component.first_of("DTSTART")
    if starts is None:
        raise ValueError("it has no DTSTART")
    start = moments(starts, zones)[0][0]
    replaced = component.first_of("RECURRENCE-ID")
    return Entry(
        uid=component.text("UID"),
        title=component.text("SUMMARY"),
        location=component.text("LOCATION"),
        description=component.text("DESCRIPTION"),
        status=component.text("STATUS").lower() or "confirmed",
        start=start,
        length=_length(component, start, zones),
        rules=tuple(parse_rule(each.value) for each in component.properties("RRULE")),
        extra=tuple(value for each in component.properties("RDATE") for value in moments(each, zones)),
        excluded=tuple(value for each in component.properties("EXDATE") for value, _ in moments(each, zones)),
        replaces=moments(replaced, zones)[0][0] if replaced else None,
        and_later=bool(replaced and replaced.parameters.get("RANGE", "").upper() == "THISANDFUTURE"),
    )


def _length(component: Component, start: Moment, zones: Zones) -> timedelta:
    if given := component.first_of("DTEND"):
        end = moments(given, zones)[0][0]
        length = as_instant(end, UTC) - as_instant(start, UTC)
        if isinstance(end, datetime) and isinstance(start, datetime) and end.tzinfo is start.tzinfo is None:
            length = end - start
    elif given := component.first_of("DURATION"):
        length = duration(given.value)
    else:
        length = timedelta(0) if isinstance(start, datetime) else _DAY
    return max(timedelta(0), length)


class Window:
    """From `start` up to, without, `end`; whole days and floating times are read in the zone `viewer`."""

    def __init__(self, start: datetime, end: datetime, viewer: tzinfo) -> None:
        self.start = start.astimezone(UTC)
        self.end = end.astimezone(UTC)
        self._viewer = viewer

    def events(self, document: Document, check: Callable[[], None]) -> Found:
        """All occurrences inside the window, earliest first."""
        found = Found()
        zones = Zones(document)
        budget = Budget(_STEPS_FOR_ALL, check)
        series: dict[str, list[Entry]] = {}
        for number, component in enumerate(document.components("VEVENT")):
            if number % 256 == 0:
                check()
            try:
                entry = read_entry(component, zones)
            except (ValueError, OverflowError) as error:
                found.problem(f"the event on line {component.first + 1} cannot be read: {error}")
                continue
            # An event without UID is a series of its own.
            series.setdefault(entry.uid or f"\0{number}", []).append(entry)
        for entries in series.values():
            try:
                for occurrence in self._series(entries, Budget(_STEPS_FOR_ONE, within=budget)):
                    found.occurrences.append(occurrence)
            except TooDense:
                found.problem(f"{entries[0].title[:80]!r} repeats too often to be followed to the end of the window")
            except (ValueError, OverflowError) as error:
                found.problem(f"{entries[0].title[:80]!r} cannot be followed: {error}")
        found.occurrences.sort(key=lambda each: (each.instant, each.entry.title, each.entry.uid))
        return found

    def _series(self, entries: list[Entry], budget: Budget) -> Iterator[Occurrence]:
        """The occurrences of the entries that share a UID: a series and what replaces parts of it."""
        replaced = {self._key(each.replaces): each for each in entries if each.replaces is not None}
        later = sorted(
            (each for each in entries if each.replaces is not None and each.and_later),
            key=lambda each: self._at(each.replaces or each.start),
        )
        if len(later) > _MOST_CHANGES:
            raise ValueError(f"it is changed from some occurrence on more than {_MOST_CHANGES} times")
        for entry in entries:
            if entry.replaces is not None:
                if entry.status != "cancelled":
                    yield from self._inside(entry, entry.start, entry.length)
                continue
            for start, length in self._starts(entry, later, budget):
                instant = self._at(start)
                if self._key(start) in replaced or wall_clock(start).date() in replaced:
                    continue
                ruling = next((each for each in reversed(later) if self._at(each.replaces or start) <= instant), None)
                if ruling is not None and ruling.replaces is not None:
                    if ruling.status != "cancelled":
                        moved = _shifted(start, wall_clock(ruling.start) - wall_clock(ruling.replaces))
                        yield from self._inside(ruling, moved, ruling.length)
                    continue
                yield from self._inside(entry, start, length)

    def _starts(self, entry: Entry, later: list[Entry], budget: Budget) -> Iterator[tuple[Moment, timedelta]]:
        """When a series begins each time, before anything is replaced."""
        if not entry.rules and not entry.extra:
            yield entry.start, entry.length
            return
        zone = entry.zone or self._viewer
        # A day on each side, because clocks differ by up to a day; what is replaced may have been moved further.
        lengths = [entry.length, *(each.length for each in later), *(length for _, length in entry.extra if length)]
        moves = [abs(wall_clock(each.start) - wall_clock(each.replaces or each.start)) for each in later]
        margin = _DAY + max(moves, default=timedelta(0))
        lowest = _moved(self.start.astimezone(zone).replace(tzinfo=None), -(margin + max(lengths)))
        highest = _moved(self.end.astimezone(zone).replace(tzinfo=None), margin)
        begin = wall_clock(entry.start)
        starts: dict[datetime, timedelta] = {begin: entry.length}
        for rule in entry.rules:
            for found in rule.between(begin, lowest, min(highest, _last(rule, entry, zone)), budget):
                starts.setdefault(found, entry.length)
        for extra, length in entry.extra:
            local = extra.astimezone(zone) if isinstance(extra, datetime) and extra.tzinfo else extra
            starts.setdefault(wall_clock(local), length or entry.length)
        excluded = {self._key(each) for each in entry.excluded}
        for wall, length in starts.items():
            start: Moment = wall.date() if entry.all_day else wall.replace(tzinfo=entry.zone)
            if self._key(start) in excluded or wall.date() in excluded:
                continue
            if entry.all_day and self._at(start) in excluded:
                continue
            yield start, length

    def _inside(self, entry: Entry, start: Moment, length: timedelta) -> Iterator[Occurrence]:
        occurrence = Occurrence(entry=entry, start=start, length=length, instant=self._at(start))
        end = self._at(occurrence.end)
        if occurrence.instant < self.end and (end > self.start or occurrence.instant >= self.start):
            yield occurrence

    def _at(self, value: Moment) -> datetime:
        return as_instant(value, self._viewer)

    def _key(self, value: Moment) -> _Key:
        """Equal for equal moments, in whatever zone they were written; a date is not a date-time."""
        return self._at(value) if isinstance(value, datetime) else value


def _last(rule: Rule, entry: Entry, zone: tzinfo) -> datetime:
    """The last wall-clock time that UNTIL allows."""
    until = rule.until
    if until is None:
        return datetime(9999, 12, 31)  # noqa: DTZ001
    if entry.all_day or not isinstance(until, datetime):
        return _moved(datetime(until.year, until.month, until.day), timedelta(hours=23, minutes=59, seconds=59))  # noqa: DTZ001
    try:
        return (until.astimezone(zone) if until.tzinfo else until).replace(tzinfo=None)
    except OverflowError:
        return until.replace(tzinfo=None)


def _shifted(start: Moment, by: timedelta) -> Moment:
    if isinstance(start, datetime):
        return _moved(start.replace(tzinfo=None), by).replace(tzinfo=start.tzinfo)
    return start + timedelta(days=by.days)


def _moved(wall: datetime, by: timedelta) -> datetime:
    try:
        return wall + by
    except OverflowError:
        return datetime(2, 1, 1) if by < timedelta(0) else datetime(9998, 12, 31)  # noqa: DTZ001
