r"""New events as `icalendar` writes them, with two things done here that icalendar 7.3 does wrongly.

It takes a `\N` in a text for a line break; and the zones it describes change their clocks an hour late in spring and
miss changes that are less than 64 days apart (Morocco's).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from typing import Any
from zoneinfo import ZoneInfo

import icalendar
from dateutil.rrule import rrulestr  # type: ignore[import-untyped]

from coilclaw.integrations.calendar.rules import check_rule
from coilclaw.sdk import ToolFailure

__all__ = ["checked_rule", "checked_text", "defined_zone", "new_event"]

_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
_RULE = re.compile(r"[A-Za-z0-9=;,+-]+", re.ASCII)
_UNTIL = re.compile(r";UNTIL=[^;]*")
_ZONE_DAYS = 20 * 366


class _Text(icalendar.vText):
    r"""Text as it was given: icalendar takes `\N` in it for a line break."""

    def to_ical(self) -> bytes:
        text = str(self)
        for plain, written in (("\\", "\\\\"), (";", "\\;"), (",", "\\,"), ("\n", "\\n")):
            text = text.replace(plain, written)
        return text.encode()


def checked_text(name: str, text: str, *, lines: bool = False) -> str:
    """Text that a calendar can hold. Line breaks are kept in long texts and refused in titles."""
    plain = _LINE_ENDS.sub("\n", text).strip()
    for character in plain:
        if unicodedata.category(character) in ("Cc", "Cs") and not (lines and character in "\n\t"):
            raise ToolFailure(f"{name} contains the character {character!a}", code="bad_text")
    return plain


def checked_rule(text: str, start: date) -> icalendar.vRecur:
    """A recurrence rule that goes with its start."""
    moment = start if isinstance(start, datetime) else None
    day = date(start.year, start.month, start.day)
    try:
        if not _RULE.fullmatch(text):
            raise ValueError("it is not a list of NAME=VALUE, divided by semicolons")
        plain = text.upper().rstrip(";")
        rule: icalendar.vRecur = icalendar.vRecur.from_ical(plain)
        check_rule(rule, day, day)
        until = rule.get("UNTIL", [None])[0]
        if until and (moment is not None) != (isinstance(until, datetime) and until.tzinfo is not None):
            raise ValueError("UNTIL does not go with the start: 20301231T235959Z, or 20301231 for whole days")
        wall = datetime.combine(day, moment.time() if moment else clock())
        if next(iter(rrulestr(_UNTIL.sub("", plain), dtstart=wall)), None) != wall:
            raise ValueError("the start is not an occurrence of it")
    except (ValueError, TypeError, KeyError) as error:
        hint = "for example FREQ=WEEKLY;BYDAY=MO;COUNT=10, and let start be the first occurrence"
        raise ToolFailure(f"the rrule cannot be used: {error}", code="bad_rule", hint=hint) from None
    return rule


def new_event(uid: str, start: date, end: date, texts: dict[str, str], reminder: int | None, rule: Any) -> bytes:
    """A VEVENT as it stands in a file."""
    event = icalendar.Event()
    event.add("UID", uid)
    for name in ("DTSTAMP", "CREATED"):
        event.add(name, datetime.now(UTC))
    event.add("DTSTART", start)
    event.add("DTEND", end)
    if rule is not None:
        event.add("RRULE", rule)
    for name, text in texts.items():
        if text:
            event[name] = _Text(text)
    if reminder is not None:
        alarm = icalendar.Alarm()
        alarm.add("ACTION", "DISPLAY")
        alarm["DESCRIPTION"] = _Text(texts["SUMMARY"])
        alarm["TRIGGER"] = _Text(f"-PT{reminder}M")
        event.add_component(alarm)
    return bytes(event.to_ical())


def defined_zone(zone: ZoneInfo, year: int) -> bytes:
    """A VTIMEZONE, which every file that names a zone has to include; good for twenty years."""
    first = datetime(year - 1, 1, 1, tzinfo=UTC)

    def at(minute: int) -> datetime:
        return (first + timedelta(minutes=minute)).astimezone(zone)

    found = [(0, at(0).utcoffset())]
    for day in range(0, _ZONE_DAYS * 1440, 1440):
        before = at(day).utcoffset()
        if at(day + 1440).utcoffset() != before:
            minutes = range(day, day + 1440)
            found.append((day + bisect_left(minutes, True, key=lambda each: at(each).utcoffset() != before), before))
    kinds: dict[Any, list[datetime]] = {}
    for minute, before in found:
        after = at(minute)
        # A change is written as the clock shows it before it is set.
        wall = (first + timedelta(minutes=minute) + (before or timedelta(0))).replace(tzinfo=None)
        kinds.setdefault((bool(after.dst()), before, after.utcoffset(), after.tzname()), []).append(wall)
    made = icalendar.Timezone()
    made.add("TZID", zone.key)
    for (summer, before, offset, name), changes in kinds.items():
        part = icalendar.TimezoneDaylight() if summer else icalendar.TimezoneStandard()
        part.TZOFFSETFROM, part.TZOFFSETTO, part.DTSTART = before, offset, changes[0]
        part.add("TZNAME", name)
        if changes[1:]:
            part.add("RDATE", changes[1:])
        made.add_component(part)
    return bytes(made.to_ical())
