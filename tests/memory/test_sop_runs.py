"""SOP runs on disk: of all processes that would carry one out, one does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coilclaw.memory import Memory, NoSuchSopRun, SopRuns, SopRunTaken, StepRecord, create_sop_tables
from coilclaw.store import Database, Migration


class Processes:
    """Processes that can end."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.gone: set[str] = set()

    def of(self, name: str) -> SopRuns:
        return SopRuns(self._database, name, lambda process: process not in self.gone)


@pytest.fixture
def processes(database: Database) -> Processes:
    return Processes(database)


def test_steps_are_kept_with_what_they_started_and_gave(processes: Processes) -> None:
    runs = processes.of("a")
    record = runs.begin("work", "/ws", "text")
    assert (record.status, record.workspace, record.definition) == ("running", "/ws", "text")
    first = runs.begin_step(record, 1, "run-1")
    assert runs.steps(record.run_id) == {1: first} == {1: StepRecord(number=1, status="running", started="run-1")}
    done = StepRecord(number=1, status="succeeded", started="run-1", output={"x": ["\ud800", None]})
    runs.end_step(record, done, "completed")
    assert runs.steps(record.run_id) == {1: done}
    assert runs.find(record.run_id).status == "completed"
    with pytest.raises(NoSuchSopRun):
        runs.find("sop-1")


def test_a_run_is_taken_over_when_it_is_suspended_or_its_process_is_gone(processes: Processes) -> None:
    first, second = processes.of("a"), processes.of("b")
    record = first.begin("work", "/ws", "text")
    with pytest.raises(SopRunTaken, match="it is running"):
        second.take_over(second.find(record.run_id))
    processes.gone.add("a")
    assert second.find(record.run_id).state == "orphaned"
    taken = second.take_over(second.find(record.run_id))
    second.end(taken, "suspended")
    assert second.take_over(second.find(record.run_id)).status == "running"


def test_of_two_that_take_over_one_succeeds(processes: Processes) -> None:
    runs = processes.of("a")
    record = runs.begin("work", "/ws", "text")
    runs.end(record, "suspended")
    seen = [processes.of(name) for name in "bc"]
    found = [each.find(record.run_id) for each in seen]
    assert seen[0].take_over(found[0]).status == "running"
    with pytest.raises(SopRunTaken):
        seen[1].take_over(found[1])


def test_whoever_lost_a_run_changes_nothing_of_it(processes: Processes) -> None:
    first, second = processes.of("a"), processes.of("b")
    lost = first.begin("work", "/ws", "text")
    step = first.begin_step(lost, 1, "run-1")
    processes.gone.add("a")
    second.take_over(second.find(lost.run_id))
    for change in (
        lambda: first.begin_step(lost, 2, "run-2"),
        lambda: first.end_step(lost, step, "completed"),
        lambda: first.end(lost, "failed"),
    ):
        with pytest.raises(SopRunTaken, match="another process"):
            change()
    assert second.steps(lost.run_id) == {1: step}
    assert second.find(lost.run_id).status == "running"


@pytest.mark.parametrize("status", ["completed", "failed", "denied", "cancelled"])
def test_a_run_that_is_over_stays_over(processes: Processes, status: str) -> None:
    runs = processes.of("a")
    record = runs.begin("work", "/ws", "text")
    runs.end(record, status)  # type: ignore[arg-type]
    with pytest.raises(SopRunTaken, match=f"it is {status}"):
        runs.take_over(runs.find(record.run_id))


def test_the_latest_runs_come_first(processes: Processes) -> None:
    runs = processes.of("a")
    made = [runs.begin(f"work-{number}", "/ws", "text").run_id for number in range(4)]
    found = [each.run_id for each in runs.list(limit=3)]
    assert len(found) == 3
    assert found == sorted(found, reverse=True)
    assert set(found) < set(made)


@pytest.mark.req("R389")
def test_clearing_the_memory_removes_what_agents_answered(processes: Processes, database: Database) -> None:
    """A run that is not over ends: its later steps would go on without what they need."""
    runs, memory = processes.of("a"), Memory(database)
    for status in ("completed", "suspended"):
        record = runs.begin("work", "/ws", "text")
        for number, started in ((1, "run-1"), (2, memory.begin("sop"))):
            step = runs.begin_step(record, number, started)
            given = StepRecord(number=number, status="succeeded", started=step.started, output=f"Aardvark {number}")
            runs.end_step(record, given, "running" if number == 1 else status)
    memory.clear()
    assert [each.status for each in runs.list()] == ["cancelled", "completed"]
    for each in runs.list():
        assert [step.output for step in runs.steps(each.run_id).values()] == ["Aardvark 1", None]
    assert b"Aardvark 2" not in database.path.read_bytes()


def test_secrets_are_taken_out_of_what_steps_gave(database: Database) -> None:
    def redaction() -> Callable[[str], str]:
        return lambda text: text.replace("COILCLAW-PLANTED-22", "[secret]")

    runs = SopRuns(database, "a", lambda process: True, redaction=redaction)
    record = runs.begin("work", "/ws", "text")
    begun = runs.begin_step(record, 1, "run-1")
    told = {"code": "failed", "message": "it is COILCLAW-PLANTED-22"}
    runs.end_step(
        record,
        replace(begun, status="failed", output=[{"COILCLAW-PLANTED-22": "x COILCLAW-PLANTED-22"}], error=told),
        "failed",
    )
    kept = runs.steps(record.run_id)[1]
    assert (kept.output, kept.error) == ([{"[secret]": "x [secret]"}], {**told, "message": "it is [secret]"})


def test_runs_under_the_first_names_of_their_tables_are_carried_over(tmp_path: Path) -> None:
    before = Migration(12, "workflow-runs", create_sop_tables)
    path = tmp_path / "old.db"
    with Database(path, [before]) as old:
        run_id = SopRuns(old, "a", lambda process: True).begin("work", "/ws", "text").run_id
        with old.transaction() as connection:
            connection.execute("ALTER TABLE sop_runs RENAME TO workflow_runs")
            connection.execute("ALTER TABLE sop_steps RENAME TO workflow_steps")
    after = Migration(12, "sop-runs", create_sop_tables, replaces=("workflow-runs",))
    with Database(path, [after]) as new:
        assert SopRuns(new, "a", lambda process: True).find(run_id).name == "work"
