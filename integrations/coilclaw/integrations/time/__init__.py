"""The time outside the sandbox."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, ToolFailure, define_tool

__all__ = ["now"]


class Moment(BaseModel):
    utc: str
    local: str
    timezone: str


@define_tool(
    id="time.now",
    risk="read",
    aliases=["time"],
    examples=[{}, {"zone": "Europe/Paris"}],
    summary="Looked at the clock",
)
def now(ctx: ToolContext, zone: Annotated[str, Field(max_length=100)] | None = None) -> Moment:
    """The current time in UTC and in a time zone (by default, the one of the machine)."""
    moment = datetime.now(UTC)
    try:
        local = moment.astimezone(ZoneInfo(zone) if zone else None)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ToolFailure(
            f"{zone!r} is not a known time zone", code="unknown_zone", hint="use an IANA name such as Europe/Paris"
        ) from None
    return Moment(
        utc=moment.isoformat(timespec="seconds"),
        local=local.isoformat(timespec="seconds"),
        timezone=zone or local.tzname() or "local",
    )
