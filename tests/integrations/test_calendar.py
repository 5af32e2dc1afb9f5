"""The calendar tools: what they list, write and delete, and that they stay in their folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import icalendar
import pytest
from pydantic import ValidationError
from tests.conftest import World

from coilclaw.integrations.calendar import create_event, delete_event, list_events
from coilclaw.integrations.files import read as read_file
from coilclaw.integrations.files import write as write_file
from coilclaw.integrations.time import now
from coilclaw.policy import classify
from coilclaw.sdk import Bounds, Forbid, Risk, ToolContext, ToolFailure
from coilclaw.workspace_tools import load_installed

ROOT = Path(__file__).resolve().parents[2]


class Desk:
    """A workspace with calendars; every call is another call, as the bridge would make it."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.calls = 0
        self.written: list[bytes] = []

    def ctx(self, key: str | None = None, **options: Any) -> ToolContext:
        self.calls += 1
        settings = {"time_zone": "Europe/Paris"}
        return ToolContext(
            workspace=self.workspace,
            idempotency_key=key or f"call-{self.calls}",
            settings=settings,
            note_written=self.written.append,
            **options,
        )

    def create(self, title: str = "Dentist", start: str = "2026-11-20T09:00", **given: Any) -> Any:
        return create_event(self.ctx(given.pop("key", None)), title=title, start=start, **given)

    def listed(self, start: str = "2026-11-01", end: str = "2026-12-31", **given: Any) -> Any:
        return list_events(self.ctx(), start=start, end=end, **given)

    def titles(self, *window: str) -> list[str]:
        return [event.title for event in self.listed(*window).events]

    @property
    def file(self) -> Path:
        return self.workspace / "calendars/personal.ics"

    def put(self, text: str, name: str = "personal") -> None:
        (self.workspace / "calendars").mkdir(exist_ok=True)
        (self.workspace / f"calendars/{name}.ics").write_bytes(text.replace("\n", "\r\n").encode())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "workspace").mkdir()
    return Desk(tmp_path / "workspace")


def refused(code: str, call: Any, **given: Any) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        call(**given)
    assert caught.value.code == code, caught.value
    return caught.value


# What is written -------------------------------------------------------------------------------------------


def test_an_event_is_created_listed_and_deleted(desk: Desk) -> None:
    made = desk.create(location="Rue 1", description="Bring card", reminder_minutes=30)
    assert (made.created, made.start, made.end) == (True, "2026-11-20T09:00:00+01:00", "2026-11-20T10:00:00+01:00")
    [event] = desk.listed().events
    assert (event.uid, event.title, event.location, event.description) == (made.uid, "Dentist", "Rue 1", "Bring card")
    assert (event.start, event.end, event.time_zone, event.recurring) == (made.start, made.end, "Europe/Paris", False)
    gone = delete_event(desk.ctx(), uid=made.uid)
    assert (gone.title, gone.removed) == ("Dentist", 1)
    assert desk.titles() == []
    refused("not_found", lambda: delete_event(desk.ctx(), uid=made.uid))


def test_a_second_try_of_the_same_call_creates_nothing(desk: Desk) -> None:
    first, second = desk.create(key="call-a"), desk.create(key="call-a")
    assert (first.created, second.created) == (True, False)
    assert first.model_copy(update={"created": False}) == second
    assert desk.create(key="call-b").created
    assert len(desk.listed().events) == 2


def test_a_second_try_tells_what_the_file_says_now(desk: Desk) -> None:
    desk.create(key="call-a")
    desk.file.write_bytes(desk.file.read_bytes().replace(b"T090000", b"T083000").replace(b"Dentist", b"Doctor"))
    again = desk.create(key="call-a")
    assert (again.title, again.start, again.end) == ("Doctor", "2026-11-20T08:30:00+01:00", "2026-11-20T10:00:00+01:00")


def test_the_file_keeps_to_the_standard(desk: Desk) -> None:
    desk.create(
        "Tea; with, \\Nora " + "é" * 100, description="one\ntwo", reminder_minutes=15, rrule="FREQ=DAILY;COUNT=3"
    )
    data = desk.file.read_bytes()
    assert data.endswith(b"END:VCALENDAR\r\n")
    assert re.search(rb"(?<!\r)\n|\r(?!\n)", data) is None
    lines = data.split(b"\r\n")
    assert max(len(line) for line in lines) <= 75
    for line in lines:
        line.decode()  # No character is cut in two.
    text = data.replace(b"\r\n ", b"").decode()
    for needed in (
        "VERSION:2.0",
        "PRODID:",
        "UID:",
        "DTSTAMP:",
        "BEGIN:VTIMEZONE\r\nTZID:Europe/Paris",
        "TRIGGER:-PT15M",
    ):
        assert f"\r\n{needed}" in text
    assert text.index("BEGIN:VTIMEZONE") < text.index("BEGIN:VEVENT")
    assert "SUMMARY:Tea\\; with\\, \\\\Nora " + "é" * 100 in text


def test_another_program_reads_the_same(desk: Desk) -> None:
    desk.create("Tea; with, \\Nora, é", start="2026-10-23T18:30", duration_minutes=45, rrule="FREQ=DAILY;COUNT=5")
    desk.create("Days off", start="2026-12-24", end="2026-12-26", all_day=True)
    desk.create("In UTC", start="2026-11-20T09:00", time_zone="UTC")
    calendar = icalendar.Calendar.from_ical(desk.file.read_bytes())
    tea, days, utc = calendar.events
    assert str(tea["SUMMARY"]) == "Tea; with, \\Nora, é"
    assert tea.start == datetime(2026, 10, 23, 16, 30, tzinfo=UTC)
    assert tea.end - tea.start == tea.duration
    assert (str(days.start), str(days.end)) == ("2026-12-24", "2026-12-27")
    assert utc["DTSTART"].to_ical() == b"20261120T090000Z"
    assert calendar.get_missing_tzids() == set()
    assert all(not component.errors for component in calendar.walk())


@pytest.mark.parametrize(
    "zone",
    ["Europe/Paris", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "Africa/Casablanca", "Europe/Dublin"],
)
def test_the_zone_definition_says_what_the_zone_database_says(desk: Desk, zone: str) -> None:
    """The file's own definition, read by dateutil, gives the offsets of every day of five years."""
    from io import StringIO
    from zoneinfo import ZoneInfo

    from dateutil.tz import tzical  # type: ignore[import-untyped]

    desk.create(time_zone=zone)
    text = desk.file.read_bytes().decode()
    begin, end = text.index("BEGIN:VTIMEZONE"), text.index("END:VTIMEZONE")
    defined = tzical(StringIO(text[begin:end] + "END:VTIMEZONE\r\n")).get()
    known = ZoneInfo(zone)
    for day in range(0, 5 * 365):
        for hour in (0, 12):
            wall = datetime.fromordinal(date(2025, 6, 1).toordinal() + day).replace(hour=hour)
            assert wall.replace(tzinfo=defined).utcoffset() == wall.replace(tzinfo=known).utcoffset(), wall


def test_whole_days_include_the_last_one(desk: Desk) -> None:
    desk.create("Holiday", start="2026-12-24", end="2026-12-26", all_day=True)
    [event] = desk.listed().events
    assert (event.start, event.end, event.all_day, event.time_zone) == ("2026-12-24", "2026-12-26", True, None)
    assert desk.titles("2026-12-26", "2026-12-26") == ["Holiday"]
    assert desk.titles("2026-12-27", "2026-12-28") == []
    assert desk.titles("2026-12-23", "2026-12-23") == []


def test_a_time_with_an_offset_is_moved_into_the_zone(desk: Desk) -> None:
    assert desk.create(start="2026-11-20T09:00Z").start == "2026-11-20T10:00:00+01:00"
    assert desk.create(start="2026-07-20T09:00-04:00").start == "2026-07-20T15:00:00+02:00"


BAD = [
    ("bad_time", {"start": "tomorrow"}),
    ("bad_time", {"start": "2026-11-20"}),
    ("bad_time", {"end": "2026-11-20T08:00"}),
    ("bad_time", {"end": "2026-11-20T10:00", "duration_minutes": 5}),
    ("bad_time", {"start": "2026-03-29T02:30"}),  # The clocks skip it.
    ("bad_time", {"start": "9999-12-31T23:59"}),
    ("bad_time", {"start": "0001-01-01T00:00+14:00"}),
    ("bad_time", {"all_day": True}),
    ("bad_time", {"all_day": True, "start": "9999-12-31"}),
    ("bad_time", {"all_day": True, "start": "2026-11-20", "end": "2026-11-18"}),
    ("unknown_zone", {"time_zone": "Mars/Olympus"}),
    ("unknown_zone", {"time_zone": "../../etc/passwd"}),
    ("unknown_zone", {"time_zone": "Europe"}),
    ("bad_rule", {"rrule": "FREQ=SOMETIMES"}),
    ("bad_rule", {"rrule": "FREQ=DAILY;INTERVAL=0"}),
    ("bad_rule", {"rrule": "FREQ=DAILY;COUNT=2;UNTIL=20270101T000000Z"}),
    ("bad_rule", {"rrule": "FREQ=DAILY;UNTIL=20270101"}),
    ("bad_rule", {"rrule": "FREQ=WEEKLY;BYDAY=MO"}),  # 20 November 2026 is a Friday.
    ("bad_rule", {"rrule": "FREQ=DAILY;UNTIL=20270101T000000Z\r\nATTACH:file:///etc/passwd"}),
    ("bad_rule", {"rrule": "FREQ=DAILY\n"}),
    ("bad_rule", {"rrule": "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30"}),
    ("bad_text", {"title": "a\0b"}),
    ("bad_text", {"title": "a\x1b[31mb"}),
    ("bad_text", {"title": "a\nb"}),
    ("bad_text", {"location": "\ud800"}),
]


@pytest.mark.parametrize(("code", "given"), BAD, ids=range(len(BAD)))
def test_what_cannot_be_an_event_is_refused_and_nothing_is_written(
    desk: Desk, code: str, given: dict[str, Any]
) -> None:
    refused(code, desk.create, **given)
    assert desk.written == []
    assert not desk.file.exists()


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\u2028", "\x85", "\v"])
def test_text_cannot_add_lines_to_the_file(desk: Desk, end: str) -> None:
    desk.create(description=f"x{end}END:VEVENT{end}BEGIN:VEVENT{end}SUMMARY:Injected")
    assert desk.titles() == ["Dentist"]
    assert len(icalendar.Calendar.from_ical(desk.file.read_bytes()).events) == 1
    assert (
        re.findall(rb"(?m)^(?:BEGIN|END):VEVENT", re.sub(rb"[\r\v\f\x85]|\xe2\x80\xa8", b"\n", desk.file.read_bytes()))[
            2:
        ]
        == []
    )


def test_what_will_be_written_is_said_before(desk: Desk) -> None:
    desk.create()
    assert desk.written == [desk.file.read_bytes()]


# Listing ---------------------------------------------------------------------------------------------------


def test_a_series_keeps_its_wall_clock_when_summer_ends(desk: Desk) -> None:
    desk.create("Stand-up", start="2026-10-23T09:00", rrule="FREQ=DAILY;COUNT=4")
    starts = [event.start for event in desk.listed("2026-10-20", "2026-10-30").events]
    assert starts == [
        "2026-10-23T09:00:00+02:00",
        "2026-10-24T09:00:00+02:00",
        "2026-10-25T09:00:00+01:00",
        "2026-10-26T09:00:00+01:00",
    ]


def test_the_query_looks_into_titles_places_and_descriptions(desk: Desk) -> None:
    desk.create("Dentist", location="Straße 5")
    desk.create("Lunch", description="with Ana")
    assert [e.title for e in desk.listed(query="STRASSE").events] == ["Dentist"]
    assert [e.title for e in desk.listed(query="ana").events] == ["Lunch"]


def test_more_events_than_asked_for_are_cut_and_it_says_so(desk: Desk) -> None:
    desk.create("Daily", start="2026-11-01T08:00", rrule="FREQ=DAILY")
    listed = desk.listed(limit=5)
    assert (len(listed.events), listed.truncated) == (5, True)
    assert not desk.listed("2026-11-01", "2026-11-05", limit=5).truncated


def test_a_window_that_is_too_long_or_reversed_is_refused(desk: Desk) -> None:
    desk.create()
    refused("bad_time", desk.listed, start="2020-01-01", end="2026-01-01")
    refused("bad_time", desk.listed, start="2026-01-02T00:00", end="2026-01-01T00:00")
    refused("bad_time", desk.listed, start="0001-01-01", end="0001-01-02")


def test_a_calendar_that_is_not_there_names_those_that_are(desk: Desk) -> None:
    assert "there is none yet" in str(refused("not_found", desk.listed).hint)
    desk.create(calendar="work")
    assert "work" in str(refused("not_found", desk.listed).hint)


# Places ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../personal", "a/b", "", ".", "..", "a.ics", "a\0", "a\n", "-x", "_x", "é", "x" * 65, "C:a", "a\\b", " a"]
)
@pytest.mark.parametrize("tool", [list_events, create_event, delete_event], ids=["list", "create", "delete"])
def test_a_name_that_could_be_a_path_is_not_valid(tool: Any, name: str) -> None:
    given = {"title": "x", "start": "x", "uid": "x", "calendar": name}
    with pytest.raises(ValidationError):
        tool.input(**{key: value for key, value in given.items() if key in tool.input.model_fields})


@pytest.mark.req("R352")
def test_a_forbidden_place_is_forbidden(desk: Desk) -> None:
    ctx = desk.ctx(bounds=Bounds(forbidden_paths=(desk.workspace / "calendars",)))
    assert isinstance(classify(list_events, list_events.input(), ctx), Forbid)
    assert isinstance(classify(create_event, create_event.input(title="x", start="x"), ctx), Forbid)
    assert isinstance(classify(delete_event, delete_event.input(uid="x"), ctx), Forbid)
    assert classify(list_events, list_events.input(), desk.ctx()) is Risk.READ


def test_links_are_not_followed(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "personal.ics").write_bytes(b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n")
    (desk.workspace / "calendars").symlink_to(outside)
    refused("path_refused", desk.listed)
    refused("path_refused", desk.create)
    (desk.workspace / "calendars").unlink()
    (desk.workspace / "calendars").mkdir()
    desk.file.symlink_to(outside / "personal.ics")
    refused("path_refused", desk.listed)
    refused("path_refused", desk.create)
    refused("path_refused", lambda: delete_event(desk.ctx(), uid="x"))
    assert (outside / "personal.ics").read_bytes() == b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"


def test_a_pipe_in_the_place_of_a_calendar_is_refused_at_once(desk: Desk) -> None:
    (desk.workspace / "calendars").mkdir()
    os.mkfifo(desk.file)
    refused("not_a_file", desk.listed)
    desk.file.unlink()
    desk.file.mkdir()
    refused("not_a_file", desk.listed)


def test_a_workspace_that_is_gone_is_said(tmp_path: Path) -> None:
    ctx = ToolContext(workspace=tmp_path / "nowhere")
    refused("no_workspace", lambda: list_events(ctx))


# Several writers -------------------------------------------------------------------------------------------

_WRITER = """
import sys
from pathlib import Path
from coilclaw.integrations.calendar import create_event
from coilclaw.sdk import ToolContext
for number in range(8):
    key = f"{sys.argv[2]}-{number}"
    ctx = ToolContext(workspace=Path(sys.argv[1]), idempotency_key=key)
    create_event(ctx, title=key, start="2026-11-20T09:00", time_zone="Europe/Paris")
"""


def test_two_processes_lose_no_event(desk: Desk) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(desk.workspace), name], stderr=subprocess.PIPE)
        for name in ("a", "b")
    ]
    for writer in writers:
        _, errors = writer.communicate()
        assert writer.returncode == 0, errors.decode()
    assert sorted(desk.titles()) == sorted(f"{name}-{number}" for name in "ab" for number in range(8))
    assert desk.file.read_bytes().count(b"BEGIN:VTIMEZONE") == 1
    assert [path.name for path in desk.file.parent.iterdir()] == ["personal.ics"]


def test_who_holds_the_lock_keeps_others_out_until_they_are_called_off(desk: Desk) -> None:
    import fcntl

    desk.create()
    folder = os.open(desk.file.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    cancelled = threading.Event()

    def asked() -> bool:
        cancelled.set()
        return True

    ctx = ToolContext(workspace=desk.workspace, idempotency_key="x", is_cancelled=asked)
    refused("cancelled", lambda: create_event(ctx, title="x", start="2026-11-20T09:00"))
    assert cancelled.is_set()
    os.close(folder)
    assert desk.create("y").created


def test_a_change_by_another_program_in_between_is_not_overwritten(desk: Desk) -> None:
    desk.create()

    def meddle(data: bytes) -> None:
        desk.file.write_bytes(desk.file.read_bytes().replace(b"Dentist", b"Doctor!"))
        os.utime(desk.file, ns=(1, 1))

    ctx = ToolContext(workspace=desk.workspace, idempotency_key="x", note_written=meddle)
    refused("busy", lambda: create_event(ctx, title="x", start="2026-11-20T09:00"))
    assert desk.titles() == ["Doctor!"]
    assert [path.name for path in desk.file.parent.iterdir()] == ["personal.ics"]


def test_the_mode_of_the_file_is_kept(desk: Desk) -> None:
    desk.create()
    desk.file.chmod(0o600)
    desk.create("Another")
    assert desk.file.stat().st_mode & 0o777 == 0o600


# In a run --------------------------------------------------------------------------------------------------

_SNIPPET = """
today = tools.time.now(zone="Europe/Paris").unwrap()["local"][:10]
note = tools.files.read(path="todo.txt").unwrap()["text"].strip()
made = tools.calendar.events.create(title=note, start=today + "T23:00", time_zone="Europe/Paris").unwrap()
found = tools.calendar.events.list(start=today, end=today, time_zone="Europe/Paris").unwrap()["events"]
tools.files.write(path="done.txt", text=found[0]["title"]).unwrap()
[made["created"], found[0]["uid"] == made["uid"]]
"""


@pytest.mark.req("R136", "R9")
def test_three_integrations_work_together_in_one_run(world: World) -> None:
    (world.workspace / "todo.txt").write_text("Call Ana\n")
    report = world.run(_SNIPPET, now, read_file, write_file, list_events, create_event)
    assert report.value == [True, True]
    assert (world.workspace / "done.txt").read_text() == "Call Ana"


def test_the_integration_is_one_folder_that_nothing_else_names() -> None:
    tools = {tool.id: tool.risk.value for tool in load_installed().tools if tool.integration == "calendar"}
    assert tools == {
        "calendar.events.list": "read",
        "calendar.events.create": "write",
        "calendar.events.delete": "destructive",
    }
    sources = [path for root in ("runtime", "sdk", "workspace_tools") for path in (ROOT / root).rglob("*.py")]
    assert [path for path in sources if "integrations.calendar" in path.read_text()] == []


def test_loading_the_integration_loads_no_calendar_library() -> None:
    code = (
        "import coilclaw.integrations.calendar, sys; print([n for n in ('icalendar', 'dateutil') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
