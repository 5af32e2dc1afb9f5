"""Calendar files that are broken, or made to hurt: they are refused or bounded, and never changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integrations.test_calendar_files import Files

from coilclaw.integrations.calendar import create_event, delete_event, list_events
from coilclaw.sdk import ToolContext, ToolFailure


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "workspace")


def wrapped(body: str) -> str:
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{body}\nEND:VCALENDAR\n"


NOT_CALENDARS: dict[str, tuple[str, str | bytes]] = {
    "binary": ("not_a_calendar", b"\x89PNG\r\n\x1a\n\xff\xfe"),
    "null bytes": ("not_a_calendar", wrapped("X:\0")),
    "a page": ("not_a_calendar", "<html>not here</html>"),
    "cut off": ("not_a_calendar", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:x\n"),
    "crossed": ("not_a_calendar", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\nEND:VEVENT\n"),
    "an end too many": ("not_a_calendar", wrapped("") + "END:VCALENDAR\n"),
    "another thing": ("not_a_calendar", "BEGIN:VCARD\nEND:VCARD\n"),
    "no name": ("not_a_calendar", "BEGIN:VCALENDAR\nBEGIN:" + "A" * 10_000 + "\n"),
    "deep": ("too_large", wrapped("BEGIN:VEVENT\n" * 5000 + "END:VEVENT\n" * 5000)),
    "many": ("too_large", wrapped("BEGIN:X\nEND:X\n" * 30_000)),
    "huge": ("too_large", wrapped("X:" + "a" * (5 * 2**20))),
}


@pytest.mark.parametrize("name", NOT_CALENDARS)
def test_what_is_not_a_calendar_is_refused_and_left_alone(files: Files, name: str) -> None:
    code, content = NOT_CALENDARS[name]
    files.put(content)
    before = files.file.read_bytes()
    calls: list[Any] = [
        lambda: files.listed("2026-11-01", "2026-11-30"),
        lambda: create_event(files.ctx(), title="x", start="2026-11-20T09:00"),
        lambda: delete_event(files.ctx(), uid="x"),
    ]
    for call in calls:
        with pytest.raises(ToolFailure) as caught:
            call()
        assert caught.value.code == code
    assert files.file.read_bytes() == before


BROKEN = [
    "DTSTART:yesterday",
    "DTSTART:20261131T000000",
    "DTSTART:00000101T000000Z",
    "DTSTART;TZID=Mars/Olympus:20261120T090000",
    "DTSTART;TZID=../../../etc/passwd:20261120T090000",
    "DTSTART;TZID=Europe:20261120T090000",
    "DTSTART;TZID=localtime/../../x:20261120T090000",
    "DTSTART",
    "X:no start",
    "DTSTART:20261120T090000Z\nRRULE:FREQ=NEVER",
    "DTSTART:20261120T090000Z\nRRULE:FREQ=DAILY;INTERVAL=0",
    "DTSTART:20261120T090000Z\nRRULE:FREQ=DAILY;COUNT=99999999999999999999",
    "DTSTART:20261120T090000Z\nRRULE:FREQ=YEARLY;RSCALE=CHINESE",
    "DTSTART:20261120T090000Z\nDURATION:P99999999999999D",
    "DTSTART:20261120T090000Z\nEXDATE:" + ",".join(["20261120T090000Z"] * 6000),
    "DTSTART:20261120T090000Z\nRDATE:" + "9" * 70_000,
]


@pytest.mark.parametrize("lines", BROKEN, ids=range(len(BROKEN)))
def test_an_event_that_cannot_be_read_is_named_and_the_others_are_listed(files: Files, lines: str) -> None:
    good = "BEGIN:VEVENT\nUID:good\nSUMMARY:Good\nDTSTART:20261121T090000Z\nEND:VEVENT"
    files.put(wrapped(f"BEGIN:VEVENT\nUID:bad\nSUMMARY:Bad\n{lines}\nEND:VEVENT\n{good}"))
    listed = files.listed("2026-11-01", "2026-11-30")
    assert [event.title for event in listed.events] == ["Good"]
    assert listed.truncated
    assert "line 4" in listed.problems[0] or "'Bad'" in listed.problems[0]


DENSE = [
    "FREQ=SECONDLY",
    "FREQ=SECONDLY;COUNT=1000000000",
    "FREQ=MINUTELY;COUNT=999999999",
    "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=1",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1",
    "FREQ=YEARLY;BYDAY=53MO;BYMONTHDAY=1;COUNT=5",
    "FREQ=YEARLY;BYHOUR=" + ",".join(map(str, range(24))) + ";BYMINUTE=" + ",".join(map(str, range(60)))
    + ";BYSECOND=" + ",".join(map(str, range(60))) + ";BYYEARDAY=" + ",".join(map(str, range(1, 367))) + ";COUNT=999999",
    "FREQ=YEARLY;BYWEEKNO=1,2,3,53;BYDAY=MO,TU;BYSETPOS=366;COUNT=1",
]  # fmt: skip


@pytest.mark.parametrize("rule", DENSE, ids=range(len(DENSE)))
def test_billions_of_occurrences_cost_a_bounded_number_of_steps(files: Files, rule: str) -> None:
    files.event("DTSTART:19700101T000000Z", f"RRULE:{rule}")
    listed = files.listed("2026-11-01", "2026-11-30")
    assert len(listed.events) <= 100
    assert listed.truncated or not listed.events


REFUSED = [
    ["RRULE:FREQ=HOURLY"],
    ["RRULE:FREQ=SECONDLY;COUNT=1000000000"],
    ["RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=1"],
    ["RRULE:FREQ=DAILY;INTERVAL=7;BYDAY=TU"],
    ["RRULE:FREQ=DAILY;INTERVAL=-1"],
    ["RRULE:FREQ=DAILY;COUNT=2;UNTIL=20300101T000000Z"],
    ["RRULE:FREQ=MONTHLY;BYSETPOS=" + ",".join(map(str, range(100, 400))) + ";BYDAY=MO"],
    ["RRULE:FREQ=YEARLY;BYYEARDAY=" + ",".join(map(str, range(367, 5000)))],
    ["RRULE:FREQ=MONTHLY;BYDAY=-1WE,MO"],  # The library would find no day at all.
    ["RRULE:FREQ=YEARLY;BYWEEKNO=20"],  # The library would find seven days of the week.
    ["RRULE:FREQ=DAILY"] * 4,
    ["EXDATE:" + ",".join(["20261120T090000Z"] * 1000)] * 200,
]


@pytest.mark.parametrize("lines", REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_followed_is_named_instead(files: Files, lines: list[str]) -> None:
    files.event("DTSTART:19700101T000000Z", *lines)
    listed = files.listed("2026-11-01", "2026-11-30")
    assert (listed.events, listed.truncated, len(listed.problems)) == ([], True, 1)


@pytest.mark.parametrize("rule", ["FREQ=DAILY", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"], ids=["days", "never"])
def test_a_file_full_of_series_ends_with_the_time_of_the_call(files: Files, rule: str) -> None:
    """Each takes a tenth of a second or more; without a common limit, four thousand of them would take minutes."""
    event = f"DTSTART:19700101T000000Z\nRRULE:{rule}\nEND:VEVENT\n"
    files.put(wrapped("".join(f"BEGIN:VEVENT\nUID:{n}\nSUMMARY:{n}\n{event}" for n in range(4000))))
    ctx = ToolContext(workspace=files.workspace, time_left=lambda: 1.0)
    listed = list_events(ctx, start="2026-11-01", end="2026-11-30", time_zone="UTC")
    assert listed.truncated
    assert "in time" in listed.problems[0] or "too many series" in listed.problems[0]


def test_a_zone_that_changes_every_second_is_refused(files: Files) -> None:
    files.put(
        wrapped(
            "BEGIN:VTIMEZONE\nTZID:Evil\nBEGIN:STANDARD\nDTSTART:16010101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\n"
            "RRULE:FREQ=SECONDLY\nEND:STANDARD\nEND:VTIMEZONE\n"
            "BEGIN:VEVENT\nUID:x\nSUMMARY:X\nDTSTART;TZID=Evil:20261120T090000\nDTEND;TZID=Evil:20261120T100000\nEND:VEVENT"
        )
    )
    listed = files.listed("2026-11-01", "2026-11-30")
    assert listed.events == []
    assert "not known or not understood" in listed.problems[0]


@pytest.mark.parametrize("parts", [["STANDARD"], ["STANDARD", "DAYLIGHT"]], ids=["one part", "both parts"])
def test_a_zone_that_changes_every_day_for_centuries_is_refused(files: Files, parts: list[str]) -> None:
    """Followed day by day from 1610 on, one such zone takes minutes."""
    daily = "DTSTART:16100101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:FREQ=DAILY"
    zone = "".join(f"BEGIN:{part}\n{daily}\nEND:{part}\n" for part in parts)
    event = (
        "BEGIN:VEVENT\nUID:x\nSUMMARY:X\nDTSTART;TZID=Evil:20261120T090000\nDTEND;TZID=Evil:20261120T100000\nEND:VEVENT"
    )
    files.put(wrapped(f"BEGIN:VTIMEZONE\nTZID:Evil\n{zone}END:VTIMEZONE\n{event}"))
    listed = files.listed("2026-11-01", "2026-11-30")
    assert (listed.events, listed.truncated) == ([], True)
    assert "'Evil' is not known or not understood" in listed.problems[0]


def test_a_file_may_define_fifty_zones_and_no_more(files: Files) -> None:
    part = "BEGIN:STANDARD\nDTSTART:16010101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nEND:STANDARD"
    zones = "".join(f"BEGIN:VTIMEZONE\nTZID:Z{n}\n{part}\nEND:VTIMEZONE\n" for n in range(800))
    events = "".join(f"BEGIN:VEVENT\nUID:{n}\nDTSTART;TZID=Z{n}:20261120T090000\nEND:VEVENT\n" for n in range(800))
    files.put(wrapped(zones + events))
    listed = files.listed("2026-11-01", "2026-11-30", limit=500)
    assert len(listed.events) == 50
    assert "not known or not understood" in listed.problems[0]


def test_a_series_changed_from_thousands_of_points_on_is_refused(files: Files) -> None:
    series = "BEGIN:VEVENT\nUID:s\nDTSTART:20000101T080000Z\nRRULE:FREQ=DAILY\nEND:VEVENT\n"
    change = "BEGIN:VEVENT\nUID:s\nDTSTART:20261105T080000Z\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261105T080000Z\nEND:VEVENT\n"
    files.put(wrapped(series + change * 3000))
    listed = files.listed("2026-11-01", "2026-11-30")
    assert (listed.events, listed.truncated) == ([], True)
    assert "changed too many times" in listed.problems[0] or "in time" in listed.problems[0]


def test_a_file_cannot_redefine_a_zone_for_another_one(files: Files) -> None:
    zone = "BEGIN:VTIMEZONE\nTZID:{0}\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:{1}\nTZOFFSETTO:{1}\nEND:STANDARD\nEND:VTIMEZONE\n"
    event = "BEGIN:VEVENT\nUID:x\nSUMMARY:X\nDTSTART;TZID={0}:20261120T120000\nEND:VEVENT"
    files.put(wrapped(zone.format("Mine", "+1100") + event.format("Mine")))
    assert files.starts("2026-11-20", "2026-11-20") == [("2026-11-20T12:00:00+11:00", "X")]
    files.put(wrapped(zone.format("Mine", "+0100") + event.format("Mine")))
    assert files.starts("2026-11-20", "2026-11-20") == [("2026-11-20T12:00:00+01:00", "X")]
    files.put(wrapped(zone.format("Europe/Paris", "+1100") + event.format("Europe/Paris")))
    assert files.starts("2026-11-20", "2026-11-20") == [("2026-11-20T12:00:00+01:00", "X")]


def test_a_long_text_is_cut_when_it_is_listed(files: Files) -> None:
    files.event("DTSTART:20261120T090000Z", "DESCRIPTION:" + "long " * 5000, "LOCATION:" + "y" * 70_000)
    [event] = files.listed("2026-11-20", "2026-11-20").events
    assert (len(event.description), event.location) == (501, "y" * 300 + "…")


def test_listing_stops_when_nobody_waits(files: Files) -> None:
    files.event("DTSTART:19700101T000000Z", "RRULE:FREQ=SECONDLY;COUNT=999999999")
    ctx = ToolContext(workspace=files.workspace, is_cancelled=lambda: True)
    with pytest.raises(ToolFailure, match="cancelled"):
        list_events(ctx, start="2026-11-01", end="2026-11-30")
