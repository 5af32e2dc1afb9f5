"""Calendars kept as iCalendar files in the workspace: `calendars/<name>.ics`.

The files are the ones that calendar programs read and write; nothing of what such a program put
into them is lost when an event is added or deleted here.
"""

from __future__ import annotations

import hashlib
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from coilclaw.integrations.calendar.storage import FOLDER, forbidden, locked, names, open_folder, read, replace
from coilclaw.sdk import Forbid, ToolContext, ToolFailure, define_tool

if TYPE_CHECKING:
    from coilclaw.integrations.calendar.document import Component
    from coilclaw.integrations.calendar.events import Reader

__all__ = ["create_event", "delete_event", "list_events"]

CalendarName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
Text = Annotated[str, Field(max_length=8000)]
ShortText = Annotated[str, Field(max_length=500)]
Time = Annotated[str, Field(max_length=40)]

_DAY = timedelta(days=1)


class _Answer(BaseModel):
    # Built on first use: this module is imported whenever tools are listed.
    model_config: ClassVar[ConfigDict] = ConfigDict(defer_build=True)


class Event(_Answer):
    """Times are ISO 8601; an all-day event has dates, and `end` is its last day."""

    uid: str
    title: str
    start: str
    end: str
    all_day: bool
    time_zone: str | None
    location: str
    description: str
    status: str
    recurring: bool


class Events(_Answer):
    calendar: str
    start: str
    end: str
    events: list[Event]
    truncated: bool
    problems: list[str]


class Created(_Answer):
    calendar: str
    uid: str
    title: str
    start: str
    end: str
    all_day: bool
    time_zone: str | None
    created: bool


class Deleted(_Answer):
    calendar: str
    uid: str
    title: str
    removed: int


def _place(input: Any, ctx: ToolContext) -> Forbid | None:
    return forbidden(ctx, input.calendar)


@define_tool(
    id="calendar.events.list",
    risk="read",
    classify=_place,
    examples=[{}, {"start": "2026-11-16", "end": "2026-11-20", "query": "dentist", "calendar": "work"}],
    summary="Looked at the calendar {calendar}",
)
def list_events(
    ctx: ToolContext,
    start: Time | None = None,
    end: Time | None = None,
    query: ShortText = "",
    calendar: CalendarName = "personal",
    time_zone: ShortText | None = None,
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
) -> Events:
    """The events from start to end (ISO dates or date-times), earliest first; series are expanded.

    Without a start it begins today, without an end it covers seven days; a date as end includes that
    day. `problems` names events that could not be read, and `truncated` says that there are more.
    """
    from coilclaw.integrations.calendar.document import Document
    from coilclaw.integrations.calendar.events import Reader
    from coilclaw.integrations.calendar.times import chosen_zone, window

    zone = chosen_zone(ctx, time_zone)
    begin, finish = window(start, end, zone)
    with open_folder(ctx) as folder:
        stored = None if folder is None else read(folder, calendar)
        if stored is None:
            raise _missing(calendar, [] if folder is None else names(folder))
    found = Reader(Document(stored.data, f"{FOLDER}/{calendar}.ics")).between(begin, finish, ctx)
    wanted = query.strip().casefold()
    chosen = [
        each
        for each in found.occurrences
        if wanted in "\n".join(_text(each.event, name) for name in ("SUMMARY", "LOCATION", "DESCRIPTION")).casefold()
    ]
    return Events(
        calendar=calendar,
        start=begin.isoformat(),
        end=finish.isoformat(),
        events=[_event(each.event, each.repeats) for each in chosen[:limit]],
        truncated=len(chosen) > limit or found.incomplete,
        problems=found.problems,
    )


@define_tool(
    id="calendar.events.create",
    risk="write",
    classify=_place,
    idempotent=True,
    examples=[
        {"title": "Dentist", "start": "2026-11-20T09:00", "time_zone": "Europe/Paris", "reminder_minutes": 30},
        {"title": "Holiday", "start": "2026-12-24", "end": "2026-12-26", "all_day": True},
        {"title": "Team", "start": "2026-11-16T10:00", "duration_minutes": 30, "rrule": "FREQ=WEEKLY;COUNT=10"},
    ],
    summary="Created the event {title} on {start}",
)
def create_event(
    ctx: ToolContext,
    title: Annotated[str, Field(min_length=1, max_length=500)],
    start: Time,
    end: Time | None = None,
    duration_minutes: Annotated[int, Field(ge=0, le=527_040)] | None = None,
    all_day: bool = False,
    location: ShortText = "",
    description: Text = "",
    time_zone: ShortText | None = None,
    reminder_minutes: Annotated[int, Field(ge=0, le=40_320)] | None = None,
    rrule: Annotated[str, Field(max_length=500)] | None = None,
    calendar: CalendarName = "personal",
) -> Created:
    """Put an event into a calendar; the calendar is made if there is none.

    Times are ISO 8601 and mean the time zone given (by default the operator's). Without end or
    duration_minutes an event takes an hour. With all_day, start and end are dates, and end is the last day.
    """
    from coilclaw.integrations.calendar.document import Document
    from coilclaw.integrations.calendar.events import Reader
    from coilclaw.integrations.calendar.times import chosen_zone, clock_times, whole_days
    from coilclaw.integrations.calendar.writing import checked_rule, checked_text, defined_zone, new_event

    zone = chosen_zone(ctx, time_zone)
    begin: date
    finish: date
    if all_day:
        begin, finish = whole_days(start, end, duration_minutes)
    else:
        begin, finish = clock_times(start, end, duration_minutes, zone)
    uid = hashlib.sha256(f"{ctx.idempotency_key}\0{calendar}".encode()).hexdigest()[:40] + "@coilclaw"
    texts = {
        "SUMMARY": checked_text("title", title) or "Untitled",
        "LOCATION": checked_text("location", location),
        "DESCRIPTION": checked_text("description", description, lines=True),
    }
    rule = checked_rule(rrule, begin) if rrule else None
    with open_folder(ctx, create=True) as folder:
        assert folder is not None
        with locked(ctx, folder):
            stored = read(folder, calendar)
            reader = Reader(document := Document(stored.data if stored else b"", f"{FOLDER}/{calendar}.ics"))
            # The UID comes from the call: a second try of the same call finds what the first one wrote.
            if there := reader.with_uid(uid):
                return _already_there(calendar, reader, there[0])
            named = isinstance(begin, datetime) and begin.tzinfo is zone and not reader.defines(zone.key)
            data = document.with_components(
                defined_zone(zone, begin.year) if named else b"",
                new_event(uid, begin, finish, texts, reminder_minutes, rule),
            )
            replace(ctx, folder, calendar, data, stored)
    return Created(
        calendar=calendar,
        uid=uid,
        title=texts["SUMMARY"],
        start=begin.isoformat(),
        end=_shown_end(finish, all_day),
        all_day=all_day,
        time_zone=None if all_day else zone.key,
        created=True,
    )


@define_tool(
    id="calendar.events.delete",
    risk="destructive",
    classify=_place,
    examples=[{"uid": "4f1c@example.org"}],
    summary="Deleted the event {uid}",
)
def delete_event(
    ctx: ToolContext, uid: Annotated[str, Field(min_length=1, max_length=1000)], calendar: CalendarName = "personal"
) -> Deleted:
    """Delete an event by its uid (calendar.events.list shows it); a series is deleted as a whole."""
    from coilclaw.integrations.calendar.document import Document
    from coilclaw.integrations.calendar.events import Reader

    with open_folder(ctx) as folder:
        if folder is None:
            raise _missing(calendar, [])
        with locked(ctx, folder):
            stored = read(folder, calendar)
            if stored is None:
                raise _missing(calendar, names(folder))
            document = Document(stored.data, f"{FOLDER}/{calendar}.ics")
            found = Reader(document).with_uid(uid)
            if not found:
                raise ToolFailure(
                    f"{calendar!r} has no event with the uid {uid!r}",
                    code="not_found",
                    hint="tools.calendar.events.list() shows the events and their uids",
                )
            replace(ctx, folder, calendar, document.without(found), stored)
    return Deleted(calendar=calendar, uid=uid, title=_bounded(found[0].value("SUMMARY"), 300), removed=len(found))


def _missing(calendar: str, known: list[str]) -> ToolFailure:
    there = f"there is: {', '.join(known[:20])}" if known else "there is none yet"
    return ToolFailure(
        f"there is no calendar {calendar!r}", code="not_found", hint=f"{there}; tools.calendar.events.create makes one"
    )


def _already_there(calendar: str, reader: Reader, component: Component) -> Created:
    """What the file says, which may differ from the call: a person may have changed it since."""
    try:
        shown = _event(reader.event(component), False).model_dump(
            include=set(Event.model_fields) & set(Created.model_fields)
        )
    except Exception as error:  # Whatever the libraries raise is about what the file says.
        raise ToolFailure(
            f"{calendar!r} has the event, but not in a form that can be read: {str(error)[:200]}", code="not_a_calendar"
        ) from None
    return Created(calendar=calendar, created=False, **shown)


def _event(event: Any, repeats: bool) -> Event:
    from icalendar.timezone import tzid_from_dt

    start, end = event["DTSTART"].dt, event["DTEND"].dt if "DTEND" in event else event.end
    all_day = not isinstance(start, datetime)
    return Event(
        uid=_bounded(_text(event, "UID"), 1000),
        title=_bounded(_text(event, "SUMMARY"), 300),
        start=start.isoformat(),
        end=_shown_end(max(end, start + _DAY) if all_day else end, all_day),
        all_day=all_day,
        time_zone=tzid_from_dt(start) if isinstance(start, datetime) else None,
        location=_bounded(_text(event, "LOCATION"), 300),
        description=_bounded(_text(event, "DESCRIPTION"), 500),
        status=_bounded(_text(event, "STATUS").lower() or "confirmed", 40),
        recurring=repeats,
    )


def _text(event: Any, name: str) -> str:
    return str(event.get(name, "")).strip()


def _shown_end(end: date, all_day: bool) -> str:
    return (end - _DAY).isoformat() if all_day else end.isoformat()


def _bounded(text: str, most: int) -> str:
    clean = text.encode("utf-8", "replace").decode()
    return clean if len(clean) <= most else clean[:most] + "…"
