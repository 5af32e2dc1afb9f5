"""Putting an event into a file and taking one out, with everything else left as it is."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from coilclaw.integrations.calendar.content import Component, Document, escaped, folded
from coilclaw.integrations.calendar.recurrence import Budget, TooDense
from coilclaw.integrations.calendar.rules import parse_rule
from coilclaw.integrations.calendar.values import Moment, wall_clock, written
from coilclaw.integrations.calendar.zone_definition import zone_definition
from coilclaw.sdk import ToolFailure

__all__ = ["EMPTY", "NewEvent", "added", "checked_rule", "checked_text", "with_uid", "without"]

EMPTY = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//CoilClaw//calendar//EN\r\nCALSCALE:GREGORIAN\r\nEND:VCALENDAR\r\n"

_RULE = re.compile(r"[A-Za-z0-9=;,+-]{1,500}", re.ASCII)
_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")


@dataclass(frozen=True, kw_only=True)
class NewEvent:
    """An event to be written; `end` is the first moment after it."""

    uid: str
    title: str
    start: Moment
    end: Moment
    location: str = ""
    description: str = ""
    reminder_minutes: int | None = None
    rule: str | None = None

    def lines(self, now: datetime) -> list[str]:
        stamp = written(now)
        lines = ["BEGIN:VEVENT", f"UID:{self.uid}", f"DTSTAMP:{stamp}", f"CREATED:{stamp}"]
        lines += [_moment("DTSTART", self.start), _moment("DTEND", self.end)]
        lines += [f"RRULE:{self.rule}"] if self.rule else []
        lines.append(f"SUMMARY:{escaped(self.title)}")
        lines += [f"LOCATION:{escaped(self.location)}"] if self.location else []
        lines += [f"DESCRIPTION:{escaped(self.description)}"] if self.description else []
        if self.reminder_minutes is not None:
            lines += ["BEGIN:VALARM", "ACTION:DISPLAY", f"DESCRIPTION:{escaped(self.title)}"]
            lines += [f"TRIGGER:-PT{self.reminder_minutes}M", "END:VALARM"]
        return [*lines, "END:VEVENT"]

    @property
    def zone(self) -> ZoneInfo | None:
        zone = self.start.tzinfo if isinstance(self.start, datetime) else None
        return zone if isinstance(zone, ZoneInfo) else None


def _moment(name: str, value: Moment) -> str:
    if not isinstance(value, datetime):
        return f"{name};VALUE=DATE:{written(value)}"
    key = getattr(value.tzinfo, "key", None)
    return f"{name};TZID={key}:{written(value)}" if key else f"{name}:{written(value)}"


def checked_text(name: str, text: str, *, lines: bool = False) -> str:
    """Text that a calendar can hold. Line breaks are kept in long texts and refused in titles."""
    plain = _LINE_ENDS.sub("\n", text).strip()
    for character in plain:
        if unicodedata.category(character) in ("Cc", "Cs") and not (lines and character in "\n\t"):
            raise ToolFailure(f"{name} contains the character {character!a}", code="bad_text")
    return plain


def checked_rule(text: str, start: Moment) -> str:
    """A recurrence rule that goes with its start."""
    try:
        if not _RULE.fullmatch(text):
            raise ValueError("it is not a list of NAME=VALUE, divided by semicolons")
        rule = parse_rule(text)
    except ValueError as error:
        raise ToolFailure(
            f"the rrule cannot be used: {error}", code="bad_rule", hint="for example FREQ=WEEKLY;BYDAY=MO;COUNT=10"
        ) from None
    timed = isinstance(start, datetime)
    if rule.until is not None and timed != (isinstance(rule.until, datetime) and rule.until.tzinfo is UTC):
        wanted = "UNTIL=20301231T235959Z" if timed else "UNTIL=20301231"
        raise ToolFailure("the rrule's UNTIL does not go with the start", code="bad_rule", hint=f"write it as {wanted}")
    begin = wall_clock(start)
    try:
        first = next(rule.between(begin, begin, begin, Budget(20_000)), None)
    except TooDense:
        first = None
    if first != begin:
        raise ToolFailure(
            "the start is not an occurrence of the rrule", code="bad_rule", hint="let start be the first occurrence"
        )
    return text.upper().rstrip(";")


def with_uid(document: Document, uid: str) -> list[Component]:
    """The event with this UID: the series first, then what replaces parts of it."""
    found = [component for component in document.components("VEVENT") if component.text("UID") == uid]
    return sorted(found, key=lambda each: each.has("RECURRENCE-ID"))


def added(document: Document, event: NewEvent, now: datetime | None = None) -> bytes:
    """The file with the event at its end, and with the zone it names."""
    if not document.calendars:
        raise document.failure("is not an iCalendar file")
    calendar = document.calendars[0]
    lines = _physical(event.lines(now or datetime.now(UTC).replace(microsecond=0)))
    document.lines[calendar.closing : calendar.closing] = lines
    if event.zone is not None and all(each.text("TZID") != event.zone.key for each in document.components("VTIMEZONE")):
        place = calendar.children[0].first if calendar.children else calendar.closing
        document.lines[place:place] = _physical(zone_definition(event.zone, event.start.year))
    return document.encoded()


def without(document: Document, components: list[Component]) -> bytes:
    """The file without these components."""
    for component in sorted(components, key=lambda each: each.first, reverse=True):
        del document.lines[component.first : component.last]
    return document.encoded()


def _physical(lines: list[str]) -> list[str]:
    return [part for line in lines for part in folded(line)]
