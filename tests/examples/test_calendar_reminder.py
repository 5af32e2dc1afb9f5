"""The calendar example does what it says, and says only what receipts hold."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.cli.conftest import Command

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/calendar_reminder"


@pytest.fixture
def coilclaw(tmp_path: Path, engine: object) -> Command:
    return Command(tmp_path)


@pytest.mark.req("R136")
def test_the_demo_tells_a_call_that_waits_from_a_reminder(coilclaw: Command) -> None:
    before = (EXAMPLE / "calendars/personal.ics").read_bytes()
    done = subprocess.run(
        [sys.executable, EXAMPLE / "demo.py"], capture_output=True, text=True, env=coilclaw.environment
    )
    assert done.returncode == 0, done.stderr
    waiting, approved = done.stdout.partition("\n2. ")[::2]
    assert "scheduled" not in waiting
    assert "The reminder is not made yet: its call waits for a person (receipt-" in waiting
    assert approved.count("scheduled: ") == 1
    assert re.search(r"The calendar 'personal' has 'Call the dentist' at \S+T09:00:00\+0\d:00 \(receipt-", approved)
    assert "'09:00 Call the dentist', '12:30 Walk with Ben'" in approved
    assert "Valid: " in approved
    assert "TRIGGER:-PT10M" in approved
    assert (EXAMPLE / "calendars/personal.ics").read_bytes() == before


@pytest.fixture
def place(coilclaw: Command) -> Path:
    """The calendar, as it is before anything happens."""
    file = coilclaw.workspace / "calendars/personal.ics"
    file.parent.mkdir(parents=True)
    file.write_bytes((EXAMPLE / "calendars/personal.ics").read_bytes())
    return file


@pytest.mark.req("R32", "R33", "R136")
def test_the_calendar_is_as_it_was_until_a_person_approves_and_then_has_one_event_more(
    coilclaw: Command, place: Path
) -> None:
    before = place.read_bytes()
    waiting = coilclaw("run", EXAMPLE / "snippet.py", "--workspace", coilclaw.workspace, "--json")
    assert (waiting.code, waiting.json["status"]) == (3, "suspended")
    assert waiting.json["activity"][-1]["status"] == "pending"
    assert place.read_bytes() == before
    [question] = waiting.json["approvals"]
    done = coilclaw("approval", "approve", question["id"], "--resume", "--workspace", coilclaw.workspace, "--json")
    assert (done.code, done.json["status"]) == (0, "completed")
    assert place.read_bytes().count(b"BEGIN:VEVENT") == before.count(b"BEGIN:VEVENT") + 1
    # What was done before the wait was not done again.
    earlier = [item["receipt_ref"] for item in waiting.json["activity"][:2]]
    assert [item["receipt_ref"] for item in done.json["activity"][:2]] == earlier
    again = coilclaw("approval", "approve", question["id"], "--resume", "--workspace", coilclaw.workspace)
    assert again.code != 0
    assert place.read_bytes().count(b"BEGIN:VEVENT") == before.count(b"BEGIN:VEVENT") + 1


def test_the_receipt_holds_what_the_calendar_was_told(coilclaw: Command, place: Path) -> None:
    done = coilclaw("run", EXAMPLE / "snippet.py", "--workspace", coilclaw.workspace, "--json", "--yes").json
    assert [(item["tool_id"], item["status"]) for item in done["activity"]] == [
        ("time.now", "succeeded"),
        ("calendar.events.list", "succeeded"),
        ("calendar.events.create", "succeeded"),
        ("calendar.events.list", "succeeded"),
    ]
    receipt = coilclaw("receipt", "show", done["activity"][2]["receipt_ref"], "--json").json
    tomorrow = (datetime.now(ZoneInfo("Europe/Paris")) + timedelta(days=1)).date().isoformat()
    assert receipt["arguments"]["title"] == "Call the dentist"
    assert receipt["result"]["start"].startswith(f"{tomorrow}T09:00")
    assert f"UID:{receipt['result']['uid']}".encode() in place.read_bytes()
    assert b"X-COLOUR:green\r\n" in place.read_bytes()
    assert coilclaw("receipt", "verify").code == 0
