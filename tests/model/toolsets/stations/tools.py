"""Weather stations and their readings."""

import asyncio
import datetime as dt
import json
import math
from typing import Any, Literal

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, ToolFailure, define_tool

Level = Literal["info", "warning", "danger"]


class Station(BaseModel):
    key: str
    name: str
    height: int = Field(description="Metres above the sea.")
    online: bool
    last_seen: dt.datetime | None


class Reading(BaseModel):
    at: dt.datetime
    celsius: float | None = Field(description="Null when the sensor gave nothing.")
    wind: float = Field(description="Kilometres an hour.")


class Uptime(BaseModel):
    station: str
    running_for: dt.timedelta
    report_daily_at: dt.time


class Alarm(BaseModel):
    number: int
    raised_at: dt.datetime
    level: Level


NOW = dt.datetime(2026, 11, 18, 6, 0, tzinfo=dt.UTC)
STATIONS = [
    Station(key=key, name=name, height=height, online=key != "fen", last_seen=None if key == "fen" else NOW)
    for key, name, height in (
        ("hill", "Hilltop", 812),
        ("port", "Harbour", 3),
        ("fen", "Fenland", -2),
        ("city", "City Hall", 140),
    )
]


def readings_of(key: str) -> list[Reading]:
    """One for every hour of the last two days."""
    base = {"hill": 1.5, "port": 9.0, "city": 7.25}[key]
    return [
        Reading(
            at=NOW - dt.timedelta(hours=hour),
            celsius=None if hour % 17 == 5 else round(base + 4 * math.sin(hour / 4), 1),
            wind=round(10 + hour % 7 * 6.5 + (30 if key == "hill" else 0), 1),
        )
        for hour in range(47, -1, -1)
    ]


def _leave(ctx: ToolContext, effect: str, **facts: Any) -> None:
    with (ctx.workspace / "effects.jsonl").open("a") as file:
        file.write(json.dumps([effect, facts], sort_keys=True) + "\n")


def _known(key: str) -> Station:
    for station in STATIONS:
        if station.key == key:
            return station
    raise ToolFailure(f"there is no station {key!r}", code="unknown_station", hint="stations.list names them.")


@define_tool(id="stations.list", risk="read", summary="Listed stations")
def list_stations(ctx: ToolContext) -> list[Station]:
    """All stations."""
    return STATIONS


@define_tool(id="stations.readings", risk="read", summary="Read {station}")
async def readings(
    ctx: ToolContext, station: str, since: dt.datetime | None = None, until: dt.datetime | None = None
) -> list[Reading]:
    """Hourly readings of the last two days, oldest first. Fails with `offline` if the station does not answer."""
    await asyncio.sleep(0.02)
    if not _known(station).online:
        raise ToolFailure(f"{station} does not answer", code="offline", hint="Try another station.")
    return [r for r in readings_of(station) if (since is None or r.at >= since) and (until is None or r.at < until)]


@define_tool(id="stations.uptime", risk="read", summary="Asked how long {station} has been running")
def uptime(ctx: ToolContext, station: str) -> Uptime:
    """How long a station has been running, and when it reports each day."""
    place = STATIONS.index(_known(station))
    return Uptime(
        station=station,
        running_for=dt.timedelta(days=3 * place + 1, hours=5, minutes=20 * place),
        report_daily_at=dt.time(5 + place, 30),
    )


@define_tool(id="stations.raise_alarm", risk="write", summary="Raised an alarm for {station}")
def raise_alarm(ctx: ToolContext, station: str, level: Level, message: str) -> Alarm:
    """Raise an alarm for a station."""
    _known(station)
    _leave(ctx, "stations.raise_alarm", station=station, level=level, message=message)
    return Alarm(number=7, raised_at=NOW, level=level)


@define_tool(id="stations.set_report_time", risk="write", summary="Set the daily report of {station}")
def set_report_time(ctx: ToolContext, station: str, at: dt.time, every: dt.timedelta | None = None) -> Uptime:
    """Change when a station reports, and how often if it is not daily."""
    facts = {"station": station, "at": at.isoformat()}
    if every is not None:
        facts["every"] = str(every.total_seconds())
    _leave(ctx, "stations.set_report_time", **facts)
    return uptime(ctx, station).model_copy(update={"report_daily_at": at})
