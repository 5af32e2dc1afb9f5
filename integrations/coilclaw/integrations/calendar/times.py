"""The times a caller gives, and the zone they are meant in."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from coilclaw.sdk import ToolContext, ToolFailure

__all__ = ["chosen_zone", "clock_times", "whole_days", "window"]

_LONGEST_WINDOW = timedelta(days=400)
_LONGEST_EVENT = timedelta(days=3660)
_DAY = timedelta(days=1)
_LOCALTIME = Path("/etc/localtime")


def chosen_zone(ctx: ToolContext, name: str | None) -> ZoneInfo:
    """The zone that is asked for, the operator's, or that of the machine."""
    wanted = name or ctx.settings.get("time_zone")
    try:
        # The machine's zone has a name only where this is a link into the database.
        return ZoneInfo(wanted or str(_LOCALTIME.resolve()).partition("/zoneinfo/")[2] or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ToolFailure(
            f"{wanted!r} is not a known time zone", code="unknown_zone", hint="use an IANA name such as Europe/Paris"
        ) from None


def _given(name: str, text: str) -> date | datetime:
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        raise ToolFailure(
            f"{name}: {text!r} is not an ISO date or date-time", code="bad_time", hint="2026-11-20 or 2026-11-20T09:00"
        ) from None


def window(start: str | None, end: str | None, zone: ZoneInfo) -> tuple[datetime, datetime]:
    begin = _given("start", start) if start else datetime.now(zone).date()
    finish = _given("end", end) if end else begin + timedelta(days=7)
    if end and not isinstance(finish, datetime):
        finish += _DAY
    first, last = _local(begin, zone), _local(finish, zone)
    if not 1900 <= first.year <= 2200 or not timedelta(0) <= last - first <= _LONGEST_WINDOW:
        raise ToolFailure(
            f"the window must not end before it starts, nor cover more than {_LONGEST_WINDOW.days} days",
            code="bad_time",
            hint="ask for a shorter window",
        )
    return first, last


def _local(value: date | datetime, zone: ZoneInfo) -> datetime:
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=zone)
    try:
        return value.astimezone(zone) if value.tzinfo else value.replace(tzinfo=zone)
    except OverflowError:
        raise ToolFailure("the time is too far away", code="bad_time") from None


def whole_days(start: str, end: str | None, minutes: int | None) -> tuple[date, date]:
    begin, last = _given("start", start), _given("end", end) if end else None
    if isinstance(begin, datetime) or isinstance(last, datetime) or minutes is not None:
        raise ToolFailure(
            "an all-day event has a date as start and as end, and no duration_minutes",
            code="bad_time",
            hint='start="2026-11-20", end="2026-11-21"; end is the last day',
        )
    try:
        finish = (last or begin) + _DAY
    except OverflowError:
        raise ToolFailure("the time is too far away", code="bad_time") from None
    _check_length(finish - begin)
    return begin, finish


def clock_times(start: str, end: str | None, minutes: int | None, zone: ZoneInfo) -> tuple[datetime, datetime]:
    if end is not None and minutes is not None:
        raise ToolFailure("end and duration_minutes exclude each other", code="bad_time")
    begin = _exact("start", start, zone)
    finish = _exact("end", end, zone) if end else _later(begin, 60 if minutes is None else minutes)
    _check_length(finish.astimezone(UTC) - begin.astimezone(UTC))
    # UTC has no definition in a file; such times are written with a Z.
    if zone.key in ("UTC", "Etc/UTC", "GMT", "Etc/GMT"):
        return begin.replace(tzinfo=UTC), finish.replace(tzinfo=UTC)
    return begin, finish


def _check_length(length: timedelta) -> None:
    if not timedelta(0) <= length <= _LONGEST_EVENT:
        raise ToolFailure("the event ends before it starts, or lasts too long", code="bad_time")


def _exact(name: str, text: str, zone: ZoneInfo) -> datetime:
    value = _given(name, text)
    if not isinstance(value, datetime):
        raise ToolFailure(f"{name} has no time of day", code="bad_time", hint=f'"{text}T09:00", or all_day=True')
    local = _local(value.replace(microsecond=0), zone)
    if not 1900 <= local.year <= 2200:
        raise ToolFailure("the time is too far away", code="bad_time")
    if local.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local.replace(tzinfo=None):
        raise ToolFailure(
            f"{name}: the clocks in {zone.key} skip {text!r}", code="bad_time", hint="choose a time that exists"
        )
    return local


def _later(begin: datetime, minutes: int) -> datetime:
    return (begin.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(begin.tzinfo)
