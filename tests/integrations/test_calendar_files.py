"""Files of other programs are read right, and what they hold is kept."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import icalendar
import pytest

from coilclaw.integrations.calendar import create_event, delete_event, list_events
from coilclaw.sdk import ToolContext

GOOGLE = """BEGIN:VCALENDAR
PRODID:-//Google Inc//Google Calendar 70.9054//EN
VERSION:2.0
CALSCALE:GREGORIAN
METHOD:PUBLISH
X-WR-CALNAME:ana@example.org
X-WR-TIMEZONE:Europe/Paris
BEGIN:VTIMEZONE
TZID:Europe/Paris
X-LIC-LOCATION:Europe/Paris
BEGIN:DAYLIGHT
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
TZNAME:GMT+2
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
TZNAME:GMT+1
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
DTSTART;TZID=Europe/Paris:20261102T093000
DTEND;TZID=Europe/Paris:20261102T100000
RRULE:FREQ=WEEKLY;WKST=MO;UNTIL=20261130T225959Z;BYDAY=MO,WE
EXDATE;TZID=Europe/Paris:20261111T093000
DTSTAMP:20261001T080000Z
ORGANIZER;CN=Ana:mailto:ana@example.org
UID:series@google.com
ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;CN="Ana, M
 aria";X-NUM-GUESTS=0:mailto:ana@example.org
SUMMARY:Stand-up
STATUS:CONFIRMED
X-GOOGLE-CONFERENCE:https://meet.example.org/abc
END:VEVENT
BEGIN:VEVENT
DTSTART:20261118T140000Z
DTEND:20261118T143000Z
DTSTAMP:20261001T080000Z
UID:series@google.com
RECURRENCE-ID:20261118T083000Z
SUMMARY:Stand-up (moved)
STATUS:CONFIRMED
END:VEVENT
BEGIN:VEVENT
DTSTART:20261123T083000Z
DTEND:20261123T090000Z
DTSTAMP:20261001T080000Z
UID:series@google.com
RECURRENCE-ID;TZID=Europe/Paris:20261123T093000
SUMMARY:Stand-up
STATUS:CANCELLED
END:VEVENT
BEGIN:VEVENT
DTSTART;VALUE=DATE:20261107
DTEND;VALUE=DATE:20261109
DTSTAMP:20261001T080000Z
UID:trip@google.com
SUMMARY:Trip to Nice\\, by train
DESCRIPTION:Line one\\nLine two
TRANSP:TRANSPARENT
END:VEVENT
END:VCALENDAR
"""

APPLE = """BEGIN:VCALENDAR
CALSCALE:GREGORIAN
PRODID:-//Apple Inc.//macOS 26.1//EN
VERSION:2.0
X-APPLE-CALENDAR-COLOR:#1BADF8
BEGIN:VEVENT
CREATED:20260901T101112Z
DTEND;TZID=America/New_York:20261101T031500
DTSTAMP:20260901T101113Z
DTSTART;TZID=America/New_York:20261101T004500
SUMMARY:Night watch
UID:0A1B2C3D-0000-4444-8888-ABCDEFABCDEF
X-APPLE-TRAVEL-ADVISORY-BEHAVIOR:AUTOMATIC
X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS="1 Main St\\, Town";X-TITLE=
 "Harbour: pier 5":geo:40.7,-74.0
BEGIN:VALARM
ACTION:AUDIO
TRIGGER:-PT15M
UID:A1
X-WR-ALARMUID:A1
END:VALARM
END:VEVENT
BEGIN:VEVENT
DTSTAMP:20260901T101113Z
DTSTART;VALUE=DATE:20260131
DURATION:P1D
RRULE:FREQ=MONTHLY;BYMONTHDAY=-1
SUMMARY:Rent
UID:RENT
END:VEVENT
BEGIN:VEVENT
DTSTAMP:20260901T101113Z
DTSTART:20261105T080000
DTEND:20261105T083000
RDATE:20261106T080000,20261107T090000
SUMMARY:Floating
UID:FLOAT
END:VEVENT
END:VCALENDAR
"""

OUTLOOK = """\ufeffBEGIN:VCALENDAR
METHOD:PUBLISH
PRODID:Microsoft Exchange Server 2010
VERSION:2.0
BEGIN:VTIMEZONE
TZID:W. Europe Standard Time
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
BEGIN:VEVENT
DESCRIPTION;LANGUAGE=en-US:\\n
RRULE:FREQ=DAILY;UNTIL=99991231T235959Z;INTERVAL=1
SUMMARY;LANGUAGE=en-US:Report
DTSTART;TZID=W. Europe Standard Time:20261023T170000
DTEND;TZID=W. Europe Standard Time:20261023T173000
UID:040000008200E00074C5B7101A82E00800000000
CLASS:PUBLIC
STATUS:CONFIRMED
X-MICROSOFT-CDO-BUSYSTATUS:BUSY
END:VEVENT
BEGIN:VEVENT
SUMMARY:Only by its Windows name
DTSTART;TZID="Tokyo Standard Time":20261026T090000
DTEND;TZID="Tokyo Standard Time":20261026T100000
UID:tokyo
END:VEVENT
END:VCALENDAR
"""


class Files:
    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        (workspace / "calendars").mkdir(parents=True)
        self.file = workspace / "calendars/personal.ics"

    def put(self, text: str | bytes) -> None:
        self.file.write_bytes(text if isinstance(text, bytes) else text.replace("\n", "\r\n").encode())

    def ctx(self, key: str = "k") -> ToolContext:
        return ToolContext(workspace=self.workspace, idempotency_key=key, settings={"time_zone": "Europe/Paris"})

    def listed(self, start: str, end: str, **given: Any) -> Any:
        return list_events(self.ctx(), start=start, end=end, **given)

    def starts(self, start: str, end: str, **given: Any) -> list[tuple[str, str]]:
        return [(event.start, event.title) for event in self.listed(start, end, **given).events]

    def event(self, *lines: str) -> None:
        """A calendar with one event that has these lines."""
        body = "\n".join(("UID:x", "SUMMARY:X", *lines))
        self.put(f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\n{body}\nEND:VEVENT\nEND:VCALENDAR\n")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "workspace")


# Other programs --------------------------------------------------------------------------------------------


def test_a_google_series_with_exceptions_is_read_right(files: Files) -> None:
    files.put(GOOGLE)
    assert files.starts("2026-11-01", "2026-12-31") == [
        ("2026-11-02T09:30:00+01:00", "Stand-up"),
        ("2026-11-04T09:30:00+01:00", "Stand-up"),
        ("2026-11-07", "Trip to Nice, by train"),
        ("2026-11-09T09:30:00+01:00", "Stand-up"),
        # The eleventh is excluded, the eighteenth moved, the twenty-third cancelled.
        ("2026-11-16T09:30:00+01:00", "Stand-up"),
        ("2026-11-18T14:00:00+00:00", "Stand-up (moved)"),
        ("2026-11-25T09:30:00+01:00", "Stand-up"),
        ("2026-11-30T09:30:00+01:00", "Stand-up"),
    ]
    [trip] = files.listed("2026-11-08", "2026-11-08").events
    assert (trip.end, trip.description) == ("2026-11-08", "Line one\nLine two")


def test_an_apple_calendar_is_read_right(files: Files) -> None:
    files.put(APPLE)
    [watch] = files.listed("2026-11-01T00:00", "2026-11-01T12:00", time_zone="America/New_York").events
    # It ends after the clocks went back: half past three in the morning is three and a half hours later.
    assert (watch.start, watch.end) == ("2026-11-01T00:45:00-04:00", "2026-11-01T03:15:00-05:00")
    assert [start for start, _ in files.starts("2026-02-01", "2026-04-30")] == [
        "2026-02-28",
        "2026-03-31",
        "2026-04-30",
    ]
    floating = [start for start, title in files.starts("2026-11-05", "2026-11-08") if title == "Floating"]
    assert floating == ["2026-11-05T08:00:00", "2026-11-06T08:00:00", "2026-11-07T09:00:00"]


def test_an_outlook_calendar_is_read_right(files: Files) -> None:
    files.put(OUTLOOK)
    assert files.starts("2026-10-24", "2026-10-26") == [
        ("2026-10-24T17:00:00+02:00", "Report"),
        ("2026-10-25T17:00:00+01:00", "Report"),
        ("2026-10-26T09:00:00+09:00", "Only by its Windows name"),
        ("2026-10-26T17:00:00+01:00", "Report"),
    ]
    assert files.listed("2026-10-24", "2026-10-26").events[0].time_zone == "Europe/Berlin"


@pytest.mark.parametrize(
    "name", ["/citadel.org/20210210_1/Europe/Berlin", "/freeassociation.sourceforge.net/Europe/Berlin"]
)
def test_a_zone_behind_a_vendors_name_is_found(files: Files, name: str) -> None:
    files.event(f"DTSTART;TZID={name}:20261120T090000")
    assert files.starts("2026-11-20", "2026-11-20") == [("2026-11-20T09:00:00+01:00", "X")]


def test_a_change_from_here_on_moves_what_follows(files: Files) -> None:
    files.put(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n"
        "BEGIN:VEVENT\nUID:s\nSUMMARY:Old\nDTSTART:20261101T080000Z\nDTEND:20261101T090000Z\nRRULE:FREQ=DAILY;COUNT=5\nEND:VEVENT\n"
        "BEGIN:VEVENT\nUID:s\nSUMMARY:New\nDTSTART:20261103T100000Z\nDTEND:20261103T103000Z\n"
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20261103T080000Z\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    assert files.starts("2026-11-01", "2026-11-10") == [
        ("2026-11-01T08:00:00+00:00", "Old"),
        ("2026-11-02T08:00:00+00:00", "Old"),
        ("2026-11-03T10:00:00+00:00", "New"),
        ("2026-11-04T10:00:00+00:00", "New"),
        ("2026-11-05T10:00:00+00:00", "New"),
    ]


def test_a_local_time_that_the_clocks_skip_takes_the_offset_before(files: Files) -> None:
    files.event("DTSTART;TZID=America/New_York:20260307T023000", "DURATION:PT30M", "RRULE:FREQ=DAILY;COUNT=3")
    listed = files.listed("2026-03-06", "2026-03-12").events
    assert [event.start for event in listed] == [
        "2026-03-07T02:30:00-05:00",
        "2026-03-08T02:30:00-05:00",
        "2026-03-09T02:30:00-04:00",
    ]


@pytest.mark.parametrize(
    ("local", "start"),
    [
        ("20260329T015900", "2026-03-29T01:59:00+01:00"),
        ("20260329T030000", "2026-03-29T03:00:00+02:00"),
        ("20261025T023000", "2026-10-25T02:30:00+02:00"),
        ("20261025T030000", "2026-10-25T03:00:00+01:00"),
    ],
)
def test_a_zone_that_only_the_file_knows_changes_when_it_says(files: Files, local: str, start: str) -> None:
    files.put(
        OUTLOOK.replace("W. Europe Standard Time", "Ours")
        .replace("DTEND;TZID=Ours:20261023T173000", "DURATION:PT30M")
        .replace("20261023T170000", local)
        .replace("RRULE:FREQ=DAILY", "X:")
    )
    day = start[:10]
    assert [event.start for event in files.listed(day, day).events if event.title == "Report"] == [start]


def test_an_all_day_event_that_ends_when_it_starts_takes_that_day(files: Files) -> None:
    files.event("DTSTART;VALUE=DATE:20261120", "DTEND;VALUE=DATE:20261120")
    assert [event.end for event in files.listed("2026-11-20", "2026-11-20").events] == ["2026-11-20"]


def test_an_end_in_another_zone_is_exact_when_the_clocks_change_in_between(files: Files) -> None:
    files.event("DTSTART;TZID=America/New_York:20261031T220000", "DTEND:20261101T090000Z")
    [event] = files.listed("2026-10-31", "2026-11-01").events
    assert (event.start, event.end) == ("2026-10-31T22:00:00-04:00", "2026-11-01T04:00:00-05:00")


def test_two_events_with_one_uid_are_both_listed(files: Files) -> None:
    one = "BEGIN:VEVENT\nUID:x\nSUMMARY:{0}\nDTSTART:20261120T0{1}0000Z\nEND:VEVENT\n"
    files.put(f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{one.format('A', 8)}{one.format('B', 9)}END:VCALENDAR\n")
    assert [title for _, title in files.starts("2026-11-20", "2026-11-20")] == ["A", "B"]


def test_an_event_that_began_before_the_window_and_goes_on_is_listed(files: Files) -> None:
    files.event("DTSTART:20261101T230000Z", "DURATION:P2DT2H", "RRULE:FREQ=MONTHLY;COUNT=2")
    assert [start for start, _ in files.starts("2026-11-03", "2026-11-03")] == ["2026-11-01T23:00:00+00:00"]
    assert files.starts("2026-11-05", "2026-11-05") == []


@pytest.mark.parametrize(
    ("lines", "days"),
    [
        (("DTSTART;VALUE=DATE:20261101", "RRULE:FREQ=DAILY;UNTIL=20261103"), [1, 2, 3]),
        (("DTSTART;VALUE=DATE:20261101", "RRULE:FREQ=DAILY;UNTIL=20261103T225959Z"), [1, 2, 3]),
        (("DTSTART:20261101T080000Z", "RRULE:FREQ=DAILY;UNTIL=20261103T080000Z"), [1, 2, 3]),
        (("DTSTART:20261101T080000Z", "RRULE:FREQ=DAILY;UNTIL=20261103T075959Z"), [1, 2]),
        (("DTSTART:20261101T080000Z", "RRULE:FREQ=DAILY;UNTIL=20261103"), [1, 2, 3]),
        (("DTSTART:20261101T080000Z", "RRULE:FREQ=DAILY;COUNT=4", "EXDATE;VALUE=DATE:20261102"), [1, 3, 4]),
        (("DTSTART;VALUE=DATE:20261101", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20261102T000000"), [1, 3]),
        (("DTSTART:20261101T080000Z", "RDATE;VALUE=PERIOD:20261105T080000Z/PT1H"), [1, 5]),
        (("DTSTART:20261101T080000Z", "RDATE;VALUE=PERIOD:20261105T080000Z/20261105T100000Z"), [1, 5]),
    ],
)
def test_ends_and_exceptions_of_a_series(files: Files, lines: tuple[str, ...], days: list[int]) -> None:
    files.event(*lines)
    assert [int(start[8:10]) for start, _ in files.starts("2026-11-01", "2026-11-20")] == days


EXAMPLES = [
    ("FREQ=MONTHLY;COUNT=4;BYDAY=1FR", "19970905T090000Z", "09-05 10-03 11-07 12-05"),
    ("FREQ=MONTHLY;INTERVAL=2;COUNT=4;BYDAY=1SU,-1SU", "19970907T090000Z", "09-07 09-28 11-02 11-30"),
    ("FREQ=MONTHLY;COUNT=3;BYMONTHDAY=-3", "19970928T090000Z", "09-28 10-29 11-28"),
    ("FREQ=YEARLY;BYDAY=20MO;COUNT=3", "19970519T090000Z", "05-19 05-18"),
    ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3", "19970512T090000Z", "05-12 05-11"),
    ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3", "19980213T090000Z", "02-13 03-13 11-13"),
    ("FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "19970904T090000Z", "09-04 10-07 11-06"),
    ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=3", "19970929T090000Z", "09-29 10-30 11-27"),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "19970805T090000Z", "08-05 08-10 08-19 08-24"),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "19970805T090000Z", "08-05 08-17 08-19 08-31"),
    ("FREQ=YEARLY;COUNT=3;BYYEARDAY=1,100,200", "19970101T090000Z", "01-01 04-10 07-19"),
    ("FREQ=MONTHLY;COUNT=3", "19980131T090000Z", "01-31 03-31 05-31"),
    ("FREQ=DAILY;BYMONTH=1;UNTIL=19980131T140000Z;BYDAY=SA", "19980103T090000Z", "01-03 01-10 01-17 01-24 01-31"),
]


@pytest.mark.parametrize(("rule", "start", "days"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_rules_give_the_days_of_the_standard(files: Files, rule: str, start: str, days: str) -> None:
    files.event(f"DTSTART:{start}", f"RRULE:{rule}")
    begin = date.fromisoformat(start[:8])
    found = files.starts(begin.isoformat(), (begin + timedelta(days=380)).isoformat())
    assert [moment[5:10] for moment, _ in found] == days.split()


# Keeping what others wrote -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [GOOGLE, APPLE, OUTLOOK], ids=["google", "apple", "outlook"])
def test_adding_and_deleting_leaves_everything_else_as_it_was(files: Files, text: str) -> None:
    files.put(text)
    before = files.file.read_bytes().removeprefix("\ufeff".encode())
    made = create_event(files.ctx(), title="Mine", start="2026-11-20T09:00", time_zone="Asia/Tokyo")
    with_mine = files.file.read_bytes()
    at = 0
    for line in before.split(b"\r\n"):  # Every line of the old file, in its order.
        at = with_mine.index(line + b"\r\n" if line else b"", at) + len(line)
    icalendar.Calendar.from_ical(with_mine)
    delete_event(files.ctx(), uid=made.uid)
    after = files.file.read_bytes()
    zone = after[after.index(b"BEGIN:VTIMEZONE\r\nTZID:Asia/Tokyo") :].partition(b"END:VTIMEZONE\r\n")
    assert after.replace(zone[0] + zone[1], b"") == before


def test_texts_of_others_are_not_written_anew(files: Files) -> None:
    """icalendar would make line breaks of what looks like one."""
    files.event("DTSTART:20261120T090000Z", r"DESCRIPTION:\\\\server\\Notes\\Nov", "X-ODD;X-P=a^b:c\\d;e")
    create_event(files.ctx(), title="Mine", start="2026-11-21T09:00")
    assert rb"DESCRIPTION:\\\\server\\Notes\\Nov" in files.file.read_bytes()
    assert b"X-ODD;X-P=a^b:c\\d;e\r\n" in files.file.read_bytes()
    assert [event.description for event in files.listed("2026-11-20", "2026-11-20").events] == [r"\\server\Notes\Nov"]


def test_a_whole_series_is_deleted_with_its_exceptions(files: Files) -> None:
    files.put(GOOGLE)
    gone = delete_event(files.ctx(), uid="series@google.com")
    assert (gone.removed, gone.title) == (3, "Stand-up")
    assert files.starts("2026-11-01", "2026-12-31") == [("2026-11-07", "Trip to Nice, by train")]


def test_line_ends_of_another_kind_become_those_of_the_standard(files: Files) -> None:
    files.put(GOOGLE.encode())
    create_event(files.ctx(), title="Mine", start="2026-11-20T09:00")
    assert files.file.read_bytes().count(b"\n") == files.file.read_bytes().count(b"\r\n")


def test_a_file_without_content_is_a_new_calendar(files: Files) -> None:
    files.put("\n")
    assert files.starts("2026-11-20", "2026-11-20") == []
    assert create_event(files.ctx(), title="Mine", start="2026-11-20T09:00").created
