"""The tables of SOP runs: where each stands, and what each of its steps gave.

A step's row is written before the step starts and names what it starts: the id of a run, or of a conversation. So
whoever continues after a crash finds what there is to continue, and starts nothing a second time. Every change is
made by the process that holds the SOP run: of all that try to take one over, one succeeds.
"""

from __future__ import annotations

import json
import secrets
import time
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from coilclaw.memory.documents import Redact, redacted
from coilclaw.memory.errors import BadStep, NoSuchSopRun, SopRunTaken
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import KEYED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from coilclaw.store import Database

__all__ = ["SopRecord", "SopRuns", "SopStatus", "StepRecord", "clear_answers", "create_sop_tables"]

_TABLES: Final = f"""
    CREATE TABLE IF NOT EXISTS workflow_runs (
        run_id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        status TEXT NOT NULL,
        fence INTEGER NOT NULL,
        process TEXT NOT NULL,
        workspace TEXT NOT NULL,
        definition TEXT NOT NULL
    ) {KEYED};
    CREATE TABLE IF NOT EXISTS workflow_steps (
        run_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        status TEXT NOT NULL,
        started TEXT NOT NULL,
        output TEXT,
        error TEXT,
        PRIMARY KEY (run_id, number)
    ) {KEYED};
    ALTER TABLE workflow_runs RENAME TO sop_runs;
    ALTER TABLE workflow_steps RENAME TO sop_steps;
"""
"""Databases of earlier versions have both tables under their first names."""

SopStatus: TypeAlias = Literal["running", "suspended", "completed", "failed", "denied", "cancelled"]
StepStatus: TypeAlias = Literal["running", "succeeded", "failed", "denied"]

_COLUMNS: Final = "run_id, name, status, fence, process, workspace, definition"


def create_sop_tables(connection: Any) -> None:
    """Make the tables of SOP runs and their steps."""
    connection.execute(_TABLES)


def clear_answers(connection: Any) -> None:
    """Remove what agents answered in steps. A run that is not over is cancelled: its later steps would lack that."""
    answered = "(SELECT run_id FROM sop_steps WHERE started LIKE 'conversation-%')"
    connection.execute(
        "UPDATE sop_runs SET status = 'cancelled', fence = fence + 1 "  # noqa: S608
        f"WHERE status IN ('running', 'suspended') AND run_id IN {answered}"
    )
    connection.execute("UPDATE sop_steps SET output = NULL WHERE started LIKE 'conversation-%'")


class StepRecord(Frozen):
    """One step that was started, by its number from 1."""

    number: int
    status: StepStatus
    started: str
    """The id of the run or the conversation that carries the step out."""
    output: Any = None
    error: dict[str, Any] | None = None


class SopRecord(Frozen):
    """One SOP run as it stands."""

    run_id: str
    name: str
    status: SopStatus
    fence: int
    workspace: str
    definition: str
    """The text of the SOP as it was when the run began; later edits do not change it."""
    is_orphaned: bool
    """Whether its process ended before the run did."""

    @property
    def state(self) -> str:
        """The status, or `orphaned`."""
        return "orphaned" if self.is_orphaned else self.status


class SopRuns:
    """Creates, advances and reads SOP runs. Any process of the home sees them."""

    def __init__(
        self,
        database: Database,
        process: str,
        is_running: Callable[[str], bool],
        *,
        redaction: Callable[[], Redact] = lambda: lambda text: text,
    ) -> None:
        """`process` is the name of this process; `is_running` says whether the one of a name is still there.

        `redaction` is asked, as by Memory, for what replaces secrets in a text.
        """
        self._database = database
        self._redaction = redaction
        self._process = process
        self._is_running = is_running

    def begin(self, name: str, workspace: str, definition: str) -> SopRecord:
        """Add a run that this process carries out."""
        # Sortable by time and unique between processes.
        run_id = f"sop-{time.time_ns() // 1_000_000:011x}{secrets.token_hex(4)}"
        with self._database.transaction() as connection:
            connection.execute(
                f"INSERT INTO sop_runs ({_COLUMNS}) VALUES (?, ?, 'running', 1, ?, ?, ?)",  # noqa: S608
                (run_id, name, self._process, workspace, definition),
            )
        return self.find(run_id)

    def find(self, run_id: str) -> SopRecord:
        """Return a run by its id. Raises NoSuchSopRun."""
        rows = self._database.read(f"SELECT {_COLUMNS} FROM sop_runs WHERE run_id = ?", (run_id,))  # noqa: S608
        if not rows:
            raise NoSuchSopRun(run_id)
        return self._record(rows[0])

    def list(self, *, limit: int = 50) -> list[SopRecord]:
        """Return the latest runs, newest first."""
        sql = f"SELECT {_COLUMNS} FROM sop_runs ORDER BY run_id DESC LIMIT ?"  # noqa: S608
        return [self._record(row) for row in self._database.read(sql, (limit,))]

    def steps(self, run_id: str) -> dict[int, StepRecord]:
        """Return the steps of a run that were started, by their numbers. Raises BadStep."""
        rows = self._database.read(
            "SELECT number, status, started, output, error FROM sop_steps WHERE run_id = ? ORDER BY number",
            (run_id,),
        )
        return {row[0]: _step(run_id, row) for row in rows}

    def take_over(self, record: SopRecord) -> SopRecord:
        """Continue a run in this process. Raises SopRunTaken if another process has it, or it is over."""
        if record.state not in ("suspended", "orphaned"):
            raise SopRunTaken(record.run_id, record.state)
        with self._database.transaction() as connection:
            taken = connection.execute(
                "UPDATE sop_runs SET status = 'running', fence = fence + 1, process = ? "
                "WHERE run_id = ? AND fence = ? AND status = ? RETURNING fence",
                (self._process, record.run_id, record.fence, record.status),
            ).fetchall()
        if not taken:
            raise SopRunTaken(record.run_id, self.find(record.run_id).state)
        return self.find(record.run_id)

    def begin_step(self, record: SopRecord, number: int, started: str) -> StepRecord:
        """Record what a step is about to start, before it does."""
        with self._database.transaction() as connection:
            self._hold(connection, record, "running")
            connection.execute(
                "INSERT INTO sop_steps (run_id, number, status, started) VALUES (?, ?, 'running', ?)",
                (record.run_id, number, started),
            )
        return StepRecord(number=number, status="running", started=started)

    def end_step(self, record: SopRecord, step: StepRecord, status: SopStatus) -> StepRecord:
        """Record how a step ended, and with it where the run stands then. Returns the step as it is kept."""
        redact = self._redaction()
        output = json.dumps(redacted(step.output, redact))
        error = None if step.error is None else json.dumps(redacted(step.error, redact))
        with self._database.transaction() as connection:
            self._hold(connection, record, status)
            connection.execute(
                "UPDATE sop_steps SET status = ?, output = ?, error = ? WHERE run_id = ? AND number = ?",
                (step.status, output, error, record.run_id, step.number),
            )
        return _step(record.run_id, (step.number, step.status, step.started, output, error))

    def end(self, record: SopRecord, status: SopStatus) -> None:
        """Record that the run was suspended, or is over."""
        with self._database.transaction() as connection:
            self._hold(connection, record, status)

    def _hold(self, connection: apsw.Connection, record: SopRecord, status: SopStatus) -> None:
        """Set the status of a run that is still this process's. Raises SopRunTaken otherwise."""
        held = connection.execute(
            "UPDATE sop_runs SET status = ? WHERE run_id = ? AND fence = ? AND status = 'running' RETURNING fence",
            (status, record.run_id, record.fence),
        ).fetchall()
        if not held:
            raise SopRunTaken(record.run_id, "taken over by another process")

    def _record(self, row: Sequence[Any]) -> SopRecord:
        run_id, name, status, fence, process, workspace, definition = row
        return SopRecord(
            run_id=run_id,
            name=name,
            status=status,
            fence=fence,
            workspace=workspace,
            definition=definition,
            is_orphaned=status == "running" and not self._is_running(process),
        )


def _step(run_id: str, row: Sequence[Any]) -> StepRecord:
    number, status, started, output, error = row
    try:
        known, problem = (None if each is None else json.loads(each) for each in (output, error))
    except (ValueError, TypeError, RecursionError):
        raise BadStep(run_id, number) from None
    is_problem = problem is None or isinstance(problem, dict)
    if status not in get_args(StepStatus) or not isinstance(started, str) or not is_problem or number < 1:
        raise BadStep(run_id, number)
    return StepRecord(number=number, status=status, started=started, output=known, error=problem)
