"""Calendars kept as iCalendar files in the workspace: `calendars/<name>.ics`.

The files are the ones that calendar programs read and write; nothing of what such a program put
into them is lost when an event is added or deleted here.
"""

from __future__ import annotations

import hashlib
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from coilclaw.integrations.calendar.storage import FOLDER, Stored, forbidden, locked, names, open_folder, read, replace
from coilclaw.sdk import Forbid, ToolContext, ToolFailure, define_tool

if TYPE_CHECKING:
    from coilclaw.integrations.calendar.content import Component, Document
    from coilclaw.integrations.calendar.events import Occurrence

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
    from coilclaw.integrations.calendar.content import Document
    from coilclaw.integrations.calendar.events import Window
    from coilclaw.integrations.calendar.times import chosen_zone, window

    zone = chosen_zone(ctx, time_zone)
    begin, finish = window(start, end, zone)
    with open_folder(ctx) as folder:
        stored = None if folder is None else read(folder, calendar)
        if stored is None:
            raise _missing(calendar, [] if folder is None else names(folder))
    document = Document(stored.data, f"{FOLDER}/{calendar}.ics")
    found = Window(begin, finish, zone).events(document, ctx.raise_if_cancelled)
    wanted = query.strip().casefold()
    chosen = [
        each
        for each in found.occurrences
        if wanted in f"{each.entry.title}\n{each.entry.location}\n{each.entry.description}".casefold()
    ]
    try:
        events = [_event(each) for each in chosen[:limit]]
    except ValueError as error:  # A zone of the file, asked about one year too many.
        raise document.failure(f"cannot be shown: {error}") from None
    return Events(
        calendar=calendar,
        start=begin.isoformat(),
        end=finish.isoformat(),
        events=events,
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
    from coilclaw.integrations.calendar.content import Document
    from coilclaw.integrations.calendar.times import chosen_zone, clock_times, whole_days
    from coilclaw.integrations.calendar.writing import EMPTY, NewEvent, added, checked_rule, checked_text, with_uid

    zone = chosen_zone(ctx, time_zone)
    begin: date | datetime
    finish: date | datetime
    if all_day:
        begin, finish = whole_days(start, end, duration_minutes)
    else:
        begin, finish = clock_times(start, end, duration_minutes, zone)
    event = NewEvent(
        uid=hashlib.sha256(f"{ctx.idempotency_key}\0{calendar}".encode()).hexdigest()[:40] + "@coilclaw",
        title=checked_text("title", title) or "Untitled",
        start=begin,
        end=finish,
        location=checked_text("location", location),
        description=checked_text("description", description, lines=True),
        reminder_minutes=reminder_minutes,
        rule=checked_rule(rrule, begin) if rrule else None,
    )
    with open_folder(ctx, create=True) as folder:
        assert folder is not None
        with locked(ctx, folder):
            stored = read(folder, calendar)
            document = Document(_content(stored) or EMPTY, f"{FOLDER}/{calendar}.ics")
            # The UID comes from the call: a second try of the same call finds what the first one wrote.
            there = with_uid(document, event.uid)
            if there:
                return _already_there(calendar, document, there[0])
            replace(ctx, folder, calendar, added(document, event), stored)
    return Created(
        calendar=calendar,
        uid=event.uid,
        title=event.title,
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
    from coilclaw.integrations.calendar.content import Document
    from coilclaw.integrations.calendar.writing import with_uid, without

    with open_folder(ctx) as folder:
        if folder is None:
            raise _missing(calendar, [])
        with locked(ctx, folder):
            stored = read(folder, calendar)
            if stored is None:
                raise _missing(calendar, names(folder))
            document = Document(stored.data, f"{FOLDER}/{calendar}.ics")
            found = with_uid(document, uid)
            if not found:
                raise ToolFailure(
                    f"{calendar!r} has no event with the uid {uid!r}",
                    code="not_found",
                    hint="tools.calendar.events.list() shows the events and their uids",
                )
            title = found[0].text("SUMMARY")
            replace(ctx, folder, calendar, without(document, found), stored)
    return Deleted(calendar=calendar, uid=uid, title=_bounded(title, 300), removed=len(found))


def _already_there(calendar: str, document: Document, component: Component) -> Created:
    """What the file says, which may differ from the call: a person may have changed it since."""
    from coilclaw.integrations.calendar.events import ended, read_entry
    from coilclaw.integrations.calendar.zones import Zones, zone_name

    try:
        entry = read_entry(component, Zones(document))
    except (ValueError, OverflowError) as error:
        raise document.failure(f"has the event, but not in a form that can be read: {error}") from None
    return Created(
        calendar=calendar,
        uid=entry.uid,
        title=_bounded(entry.title, 300),
        start=entry.start.isoformat(),
        end=_shown_end(ended(entry.start, entry.length), entry.all_day),
        all_day=entry.all_day,
        time_zone=zone_name(entry.zone),
        created=False,
    )


def _content(stored: Stored | None) -> bytes:
    return stored.data if stored and stored.data.strip() else b""


def _missing(calendar: str, known: list[str]) -> ToolFailure:
    there = f"there is: {', '.join(known[:20])}" if known else "there is none yet"
    return ToolFailure(
        f"there is no calendar {calendar!r}", code="not_found", hint=f"{there}; tools.calendar.events.create makes one"
    )


def _event(occurrence: Occurrence) -> Event:
    from coilclaw.integrations.calendar.zones import zone_name

    entry = occurrence.entry
    return Event(
        uid=_bounded(entry.uid, 1000),
        title=_bounded(entry.title, 300),
        start=occurrence.start.isoformat(),
        end=_shown_end(occurrence.end, entry.all_day),
        all_day=entry.all_day,
        time_zone=zone_name(entry.zone),
        location=_bounded(entry.location, 300),
        description=_bounded(entry.description, 500),
        status=_bounded(entry.status, 40),
        recurring=entry.repeats,
    )


def _shown_end(end: date | datetime, all_day: bool) -> str:
    return (end - _DAY).isoformat() if all_day else end.isoformat()


def _bounded(text: str, most: int) -> str:
    clean = text.encode("utf-8", "replace").decode()
    return clean if len(clean) <= most else clean[:most] + "…"
