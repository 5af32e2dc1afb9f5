"""Events as `icalendar` reads them, and when they take place as `recurring_ical_events` finds out.

Left to the libraries: values, zones by their IANA or Windows name, series with their exceptions and changes. Done here:
limits, since files come from anywhere, and zones that only the file defines, which icalendar would keep for all files.
"""

from __future__ import annotations

import io
import re
import time
import warnings
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from datetime import time as clock
from types import NoneType
from typing import Any
from zoneinfo import ZoneInfo

import icalendar
import recurring_ical_events  # type: ignore[import-untyped]
from dateutil.tz import tzical  # type: ignore[import-untyped]

from coilclaw.integrations.calendar.document import Component, Document
from coilclaw.integrations.calendar.rules import MOST_STEPS, check_rule
from coilclaw.sdk import ToolContext

__all__ = ["Found", "Occurrence", "Reader"]

_TIMES = frozenset({"DTSTART", "DTEND", "DURATION", "RECURRENCE-ID", "RRULE", "RDATE", "EXDATE", "SEQUENCE"})
_TEXTS = frozenset({"UID", "SUMMARY", "LOCATION", "DESCRIPTION", "STATUS"})
_LONGEST_TIMES, _LONGEST_TEXT = 65_536, 20_000
_SECONDS = 5.0
_MOST_RULES = 3
_MOST_PROBLEMS, _MOST_CHANGES, _MOST_LASTING_CHANGES = 20, 500, 20
# ApprovalGate such a zone for an offset takes a thousand times as long as asking one of the database.
_MOST_ZONES, _MOST_ZONE_LINES, _LONGEST_ZONE, _MOST_STEPS_IN_ZONE = 50, 40, 4_000, 5_000
_DATE = re.compile(r":(\d{8})")
_DAY = timedelta(days=1)

# What a zone in a file may consist of: changes on dates, or every year in one month on one weekday.
_ZONE_LINE = re.compile(
    r"(?:BEGIN|END|TZID|TZNAME|TZOFFSETFROM|TZOFFSETTO|DTSTART|RDATE):.*"
    r"|RRULE:FREQ=YEARLY(?:;(?:INTERVAL=1|BYMONTH=\d\d?|BYDAY=-?[1-4][A-Z]{2}|WKST=[A-Z]{2}|UNTIL=[\dTZ]+))*",
    re.ASCII,
)


@dataclass(frozen=True)
class Occurrence:
    """One time at which an event takes place."""

    event: Any
    instant: datetime
    repeats: bool = False


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


class Reader:
    """Reads the events of one file."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._zones: dict[str, Any] = {}
        self._defined = {
            text.partition(":")[2]: component
            for component in document.components("VTIMEZONE")
            for name, text in component.lines()
            if name == "TZID"
        }
        from icalendar.error import GloballyUniqueTZIDGuessed

        # A vendor's name before that of a zone is left out by icalendar, which is what we want.
        warnings.filterwarnings("ignore", category=GloballyUniqueTZIDGuessed)

    def event(self, component: Component) -> Any:
        """One event, as far as listing needs it; any exception says that it cannot be read."""
        texts: dict[str, str] = {}
        times: list[str] = []
        for name, text in component.lines():
            if name in _TEXTS:
                texts.setdefault(name, text[:_LONGEST_TEXT])
            elif name in _TIMES:
                times.append(text)
        if sum(map(len, times)) > _LONGEST_TIMES:
            raise ValueError("its times are too many")
        kept = ["BEGIN:VEVENT", *texts.values(), *times, "END:VEVENT", ""]
        event: Any = icalendar.Event.from_ical("\r\n".join(kept))
        if event.errors or "DTSTART" not in event:
            raise ValueError(event.errors[0][1][:200] if event.errors else "it has no DTSTART")
        for name in _TIMES & set(event):
            for value in _several(event[name]):
                for each in getattr(value, "dts", [value]):
                    moment = getattr(each, "dt", None)
                    if isinstance(moment, datetime) and moment.tzinfo is None and "TZID" in value.params:
                        each.dt = moment.replace(tzinfo=self._zone(value.params["TZID"]))
        start, end = event["DTSTART"].dt, event["DTEND"].dt if "DTEND" in event else None
        if isinstance(start, datetime) and start.tzinfo and isinstance(end, datetime) and end.tzinfo:
            # The library counts lengths on the wall clock, so both have to be on the same one.
            event["DTEND"].dt = end.astimezone(start.tzinfo)
        return event

    def with_uid(self, uid: str) -> list[Component]:
        """The event with this UID: the series first, then what replaces parts of it."""
        found = [each for each in self._document.components("VEVENT") if each.value("UID") == uid]
        return sorted(found, key=lambda each: bool(each.value("RECURRENCE-ID")))

    def defines(self, zone: str) -> bool:
        return zone in self._defined

    def between(self, start: datetime, end: datetime, ctx: ToolContext) -> Found:
        """The events from `start` up to, without, `end`; whole days and floating times are read in their zone."""
        found = Found()
        left = ctx.remaining_seconds
        seconds = _SECONDS if left is None else min(_SECONDS, left / 2)
        until = time.monotonic() + seconds
        series: dict[str, list[Any]] = {}
        begun: set[str] = set()
        for number, component in enumerate(self._document.components("VEVENT")):
            if number % 64 == 0:
                ctx.raise_if_cancelled()
            if _elsewhere(component, start.date(), end.date()):
                continue
            if time.monotonic() > until - seconds / 2:
                found.problem("the file is too large to be read to its end in time")
                break
            try:
                event = self.event(component)
            except Exception as error:  # Whatever the libraries raise concerns this event.
                found.problem(f"the event on line {component.first + 1} cannot be read: {str(error)[:200]}")
                continue
            uid = str(event.get("UID", ""))
            if "RECURRENCE-ID" not in event:
                # Without a UID, or with that of another event, it is a series of its own.
                uid = f"{uid}\0{number}" if uid in begun or not uid else uid
                begun.add(uid)
            series.setdefault(uid, []).append(event)
        for events in series.values():
            ctx.raise_if_cancelled()
            title = str(events[0].get("SUMMARY", ""))[:80]
            if time.monotonic() > until:
                found.problem(f"{title!r} was not followed: there are too many series")
                continue
            try:
                found.occurrences += _occurrences(events, start, end)
            except Exception as error:
                found.problem(f"{title!r} cannot be followed: {str(error)[:200]}")
        found.occurrences.sort(key=lambda each: (each.instant, str(each.event.get("SUMMARY", ""))))
        return found

    def _zone(self, name: str) -> Any:
        """A zone that only the file defines, or `ValueError`."""
        if name not in self._zones:
            known = name in self._defined and len(self._zones) < _MOST_ZONES
            self._zones[name] = _zone(self._document.text(self._defined[name])) if known else None
        if self._zones[name] is None:
            raise ValueError(f"the time zone {name[:64]!r} is not known or not understood")
        return self._zones[name]


def _zone(lines: list[str]) -> Any:
    kept = [each for each in lines if not each.startswith(("X-", "COMMENT", "LAST-MODIFIED"))]
    if len(kept) > _MOST_ZONE_LINES or sum(map(len, kept)) > _LONGEST_ZONE:
        return None
    if not all(_ZONE_LINE.fullmatch(each) for each in kept):
        return None
    return tzical(io.StringIO("\r\n".join(kept))).get()


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _elsewhere(component: Component, start: date, end: date) -> bool:
    """Whether an event is so plainly outside a window that it need not be read: most events of large files are."""
    texts = dict(component.lines())
    begin, finish = (_DATE.search(texts.get(name, "")) for name in ("DTSTART", "DTEND"))
    if begin is None or {"RRULE", "RDATE", "RECURRENCE-ID"} & set(texts):
        return False
    # Two days, because clocks differ by more than one.
    late, early = (end + 2 * _DAY).strftime("%Y%m%d"), (start - 2 * _DAY).strftime("%Y%m%d")
    return begin[1] > late or (finish is not None and begin[1] <= finish[1] < early)


def _occurrences(events: list[Any], start: datetime, end: datetime) -> list[Occurrence]:
    """When the events that share a UID take place."""
    lasting = sum("RANGE" in each["RECURRENCE-ID"].params for each in events if "RECURRENCE-ID" in each)
    if len(events) > _MOST_CHANGES or lasting > _MOST_LASTING_CHANGES:
        raise ValueError("it is changed too many times")
    calendar = icalendar.Calendar()
    for event in events:
        first = event["DTSTART"].dt
        rules = _several(event.get("RRULE", []))
        if len(rules) > _MOST_RULES:
            raise ValueError("it has too many rules")
        for rule in rules:
            known = isinstance(getattr(first, "tzinfo", None), ZoneInfo | timezone | NoneType)
            check_rule(rule, first, end, MOST_STEPS if known else _MOST_STEPS_IN_ZONE)
            _set_until(rule, first, end.date())
        if "RECURRENCE-ID" in event:
            for name in ("RRULE", "RDATE", "EXDATE"):
                event.pop(name, None)  # They say nothing there, and take long to look into.
        calendar.add_component(event)
    # Cancelled parts of a series are gone; what was cancelled as a whole is shown as such.
    gone = all("RECURRENCE-ID" in each or _status(each) != "CANCELLED" for each in events)
    repeats = any({"RRULE", "RDATE", "RECURRENCE-ID"} & set(each) for each in events)
    found: Any = recurring_ical_events.of(calendar).between(start, end)
    return [
        Occurrence(each, _instant(each["DTSTART"].dt, start), repeats)
        for each in found
        if not (gone and _status(each) == "CANCELLED")
    ]


def _status(event: Any) -> str:
    return str(event.get("STATUS", "")).strip().upper()


def _set_until(rule: icalendar.vRecur, start: date, last: date) -> None:
    """UNTIL as dateutil needs it: a date means its whole day, and one far away nothing."""
    until = rule.get("UNTIL", [None])[0]
    if until is not None and date(until.year, until.month, until.day) > last + 2 * _DAY:
        del rule["UNTIL"]
    elif isinstance(start, datetime) and start.tzinfo and isinstance(until, date) and not isinstance(until, datetime):
        rule["UNTIL"] = [datetime.combine(until, clock(23, 59, 59), start.tzinfo).astimezone(UTC)]


def _instant(moment: date, window: datetime) -> datetime:
    whole = moment if isinstance(moment, datetime) else datetime.combine(moment, clock())
    return (whole if whole.tzinfo else whole.replace(tzinfo=window.tzinfo)).astimezone(UTC)
