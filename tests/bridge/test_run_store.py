"""Runs are found by their ids, and listed newest first."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from coilclaw.bridge import (
    Journal,
    Known,
    NoSuchRun,
    RunHeader,
    add_run,
    cancel_waiting_run,
    end_run,
    find_run,
    list_runs,
    take_over,
)
from coilclaw.bridge.run_store import claim_run
from coilclaw.receipts import Conflict, Draft, ReceiptLog, now
from coilclaw.sandbox import RunClock
from coilclaw.store import BadCursor, BadLimit, Database


def header(name: str = "a", workspace: str = "/w") -> RunHeader:
    return RunHeader(
        kind="snippet",
        name=name,
        code_hash="c",
        inputs_hash="i",
        engine="wasm",
        engine_build="b",
        seed="s",
        clock=1_700_000_000_000_000_000,
        policy_hash="p",
        workspace=workspace,
    )


def begin(log: ReceiptLog, *run_ids: str) -> None:
    for run_id in run_ids:
        log.append(Draft("run.started", "running", now(), run_id), rows=[add_run(run_id, header(run_id))])


def gone() -> str:
    """The name of a process that has ended."""
    code = "from coilclaw.trust import this_process; print(this_process())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_a_run_is_found_with_the_workspace_it_began_in(log: ReceiptLog, database: Database) -> None:
    log.append(Draft("run.started", "running", now(), "run-1"), rows=[add_run("run-1", header(workspace="/home/x"))])
    found = find_run(database, "run-1")
    assert (found.header.workspace, found.state, found.started_at.year) == ("/home/x", "running", 2023)
    with pytest.raises(NoSuchRun, match="run-2"):
        find_run(database, "run-2")


def test_pages_show_every_run_once_and_the_newest_first(log: ReceiptLog, database: Database) -> None:
    names = [f"run-{number:03}" for number in range(25)]
    begin(log, *names)
    seen, cursor = [], None
    for expected in (10, 10, 5):
        page = list_runs(database, limit=10, cursor=cursor)
        assert len(page.runs) == expected
        seen += [each.run_id for each in page.runs]
        cursor = page.cursor
        begin(log, f"run-9{expected}{len(seen)}")  # What begins meanwhile is newer than all that follows.
    assert seen == names[::-1]
    assert cursor is None


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_runs_are_listed_by_state(log: ReceiptLog, database: Database, limit: int) -> None:
    begin(log, *(f"run-{number}" for number in range(9)))
    for number, status in enumerate(("suspended", "failed", "completed", "suspended", "completed")):
        log.append(rows=[end_run(f"run-{number}", 1, status)])
    with database.transaction() as connection:
        connection.execute("UPDATE runs SET process = ? WHERE run_id IN ('run-5', 'run-7')", (gone(),))
    states = {
        "running": ["run-8", "run-6"],
        "orphaned": ["run-7", "run-5"],
        "suspended": ["run-3", "run-0"],
        "completed": ["run-4", "run-2"],
        "failed": ["run-1"],
        "crashed": [],
    }
    for state, expected in states.items():
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = list_runs(database, status=state, limit=limit, cursor=cursor)
            seen += [each.run_id for each in page.runs]
            assert all(each.state == state for each in page.runs)
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == expected
    assert [each.is_waiting for each in list_runs(database).runs] == [state in "75 30" for state in "876543210"]


def test_a_damaged_row_hides_no_other(log: ReceiptLog, database: Database, caplog: pytest.LogCaptureFixture) -> None:
    begin(log, "run-1", "run-2", "run-3")
    with database.transaction() as connection:
        connection.execute("UPDATE runs SET header = '{}' WHERE run_id = 'run-2'")
    assert [each.run_id for each in list_runs(database).runs] == ["run-3", "run-1"]
    assert "damaged, and not shown: 1" in caplog.text


def test_a_cursor_of_something_else_is_refused(database: Database) -> None:
    with pytest.raises(BadCursor):
        list_runs(database, cursor="run-1")


def test_one_of_those_who_take_a_run_over_has_it(log: ReceiptLog, database: Database) -> None:
    begin(log, "run-1")
    log.append(rows=[end_run("run-1", 1, "suspended")])
    known = find_run(database, "run-1")
    log.append(rows=[take_over(known)])
    for late in (take_over(known), cancel_waiting_run(known), end_run("run-1", 1, "completed")):
        with pytest.raises(Conflict):
            log.append(rows=[late])
    assert find_run(database, "run-1").fence == 2


@pytest.mark.parametrize("status", ["suspended", "completed", "cancelled"])
def test_a_process_that_has_left_its_run_does_nothing_more_for_it(
    log: ReceiptLog, database: Database, status: str
) -> None:
    begin(log, "run-1")
    journal = Journal("run-1", 1, RunClock(0))
    log.append(rows=[end_run("run-1", 1, status)])
    for late in (claim_run("run-1", 1), end_run("run-1", 1, "completed"), journal.answer(Known(1, None, "late"))):
        with pytest.raises(Conflict):
            log.append(rows=[late])
    assert find_run(database, "run-1").status == status


@pytest.mark.parametrize("cursor", ["", "ü", "run-1", 7, b"x", None])
@pytest.mark.parametrize("limit", [-1, 1.5, "3", None, True])
def test_a_limit_that_is_none_is_refused(database: Database, limit: Any, cursor: Any) -> None:
    with pytest.raises((BadLimit, BadCursor)):
        list_runs(database, limit=limit, cursor=cursor)
    if cursor is not None:
        with pytest.raises(BadCursor):
            list_runs(database, cursor=cursor)
