"""The table of runs: the header, owner and status of each.

A run's id begins with the time it was made, so that the order of ids is the order of beginnings. Rows change only
in the transactions of receipts; whatever a process does for a run claims that the run is still its own.
"""

from __future__ import annotations

import json
import logging
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from coilclaw.bridge.errors import NoSuchRun, NotResumable
from coilclaw.receipts import LOG_END, Row
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import KEYED, Migration, checked_limit, cursor_at, position_of
from coilclaw.trust import is_running, this_process

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coilclaw.sandbox import Limits
    from coilclaw.store import Database

__all__ = [
    "HELD",
    "RUNS",
    "RunHeader",
    "RunPage",
    "RunRecord",
    "add_queued_run",
    "add_run",
    "begin_queued_run",
    "cancel_waiting_run",
    "claim_run",
    "count_runs",
    "end_run",
    "find_run",
    "list_runs",
    "runs_of_conversation",
    "take_over",
]

_logger = logging.getLogger(__name__)

_LATER_FIELDS: Final = ("retry_of", "request", "tools_allow", "accepted", "project")


def _add_conversations(connection: Any) -> None:
    """Name the conversation of each run beside its header, so that the runs of one are found without the rest."""
    connection.execute("ALTER TABLE runs ADD COLUMN conversation_id TEXT")
    known = [(run_id, _record_conversation(header)) for run_id, header in connection.execute(_HEADERS)]
    connection.executemany(
        "UPDATE runs SET conversation_id = ? WHERE run_id = ?", [(named, run_id) for run_id, named in known if named]
    )
    connection.execute(
        "CREATE INDEX runs_by_conversation ON runs (conversation_id, run_id) WHERE conversation_id IS NOT NULL"
    )


def _record_conversation(header: str) -> str | None:
    try:
        named = json.loads(header).get("conversation_id")
    except (ValueError, TypeError, AttributeError):
        return None  # A damaged row belongs to nothing.
    return named if isinstance(named, str) else None


_HEADERS: Final = "SELECT run_id, header FROM runs"
RUNS: Final = (
    Migration(
        5,
        "runs",
        f"""
        CREATE TABLE IF NOT EXISTS runs (
            run_id TEXT PRIMARY KEY,
            status TEXT NOT NULL,
            fence INTEGER NOT NULL,
            process TEXT NOT NULL,
            first_seq INTEGER NOT NULL,
            header TEXT NOT NULL
        ) {KEYED};
        """,
        replaces=("run-journal",),
    ),
    Migration(10, "runs-by-status", "CREATE INDEX runs_by_status ON runs (status, run_id)"),
    Migration(12, "runs-of-conversations", _add_conversations),
)

_COLUMNS: Final = "run_id, status, fence, process, first_seq, header"
_HELD_BY: Final = "run_id = ? AND fence = ? AND status = 'running'"
HELD: Final = f"EXISTS (SELECT 1 FROM runs WHERE {_HELD_BY})"  # noqa: S608
"""An SQL condition about a run's id and a fence: the run is still under way in the process that has this fence."""


class RunHeader(Frozen):
    """The pins of a run. Source and inputs are kept beside the receipts, under these hashes."""

    kind: Literal["snippet", "direct"]
    name: str
    code_hash: str
    inputs_hash: str
    engine: str
    engine_build: str
    seed: str
    clock: int
    policy_hash: str
    conversation_id: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    workspace: str = ""
    retry_of: str | None = None
    """The run whose succeeded writes are not made again."""
    request: str | None = None
    """The request of a model that the run answers."""
    tools_allow: Sequence[str] | None = None
    """Names or patterns of the tools that the run may call; None means all."""
    project: str | None = None
    """The project whose folder is the run's workspace."""
    accepted: Mapping[str, str] | None = None
    """For a run that was queued: channel, agent, project and view of its caller. Whoever serves the home executes it,
    and resumes it without being asked."""

    def text(self) -> str:
        # Receipts have the hash of this text, also those of runs that began before there were these fields.
        said = {name: value for name, value in vars(self).items() if name not in _LATER_FIELDS or value is not None}
        return json.dumps(said, sort_keys=True)

    def run_limits(self) -> Limits:
        from coilclaw.sandbox import Limits

        return Limits(**self.limits)


class RunRecord(Frozen):
    """A row of the table: a run's header, its status and the process that owns it."""

    run_id: str
    status: str
    fence: int
    process: str
    first_seq: int
    """A place in the log: its receipts are behind it."""
    header: RunHeader

    @property
    def is_waiting(self) -> bool:
        """Whether someone may resume it: it was suspended, or the process that had it is gone."""
        return self.state in ("suspended", "orphaned")

    @property
    def is_left(self) -> bool:
        """Whether it is queued or running, and the process that had it is gone."""
        return self.status in ("queued", "running") and not is_running(self.process)

    @property
    def state(self) -> str:
        """The status, but `orphaned` for a run whose process ended before the run did."""
        return "orphaned" if self.status == "running" and not is_running(self.process) else self.status

    @property
    def started_at(self) -> datetime:
        """When it was begun, by the clock of the machine; one that carries out a plan has the time of its rehearsal."""
        return datetime.fromtimestamp(self.header.clock / 1e9, UTC)


class RunPage(Frozen):
    """Some runs, newest first, and the cursor of those that follow; None if there are none."""

    runs: Sequence[RunRecord]
    cursor: str | None

    def __iter__(self) -> Iterator[RunRecord]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)


def add_run(run_id: str, header: RunHeader) -> Row:
    """Make the row of a run that starts in this process."""
    return Row(
        f"INSERT INTO runs ({_COLUMNS}, conversation_id) VALUES (?, 'running', 1, ?, {LOG_END}, ?, ?)",  # noqa: S608
        (run_id, this_process(), header.text(), header.conversation_id),
    )


def add_queued_run(run_id: str, header: RunHeader) -> Row:
    """Make the row of a run that was accepted and has not begun."""
    return Row(
        f"INSERT INTO runs ({_COLUMNS}, conversation_id) VALUES (?, 'queued', 1, ?, {LOG_END}, ?, ?)",  # noqa: S608
        (run_id, this_process(), header.text(), header.conversation_id),
    )


def begin_queued_run(run_id: str, header: RunHeader) -> Row:
    """Begin a queued run, with the header that it has from now on: of all processes that try, one succeeds."""
    return Row(
        "UPDATE runs SET status = 'running', process = ?, header = ? WHERE run_id = ? AND status = 'queued'",
        (this_process(), header.text(), run_id),
        claims=True,
    )


def take_over(record: RunRecord) -> Row:
    """Resume a run: of all processes that try, one succeeds."""
    return Row(
        "UPDATE runs SET status = 'running', fence = fence + 1, process = ? "
        "WHERE run_id = ? AND fence = ? AND status = ?",
        (this_process(), record.run_id, record.fence, record.status),
        claims=True,
    )


def cancel_waiting_run(record: RunRecord) -> Row:
    """Cancel a suspended run; conflicts if someone has resumed it meanwhile."""
    return Row(
        "UPDATE runs SET status = 'cancelled', fence = fence + 1 WHERE run_id = ? AND fence = ? AND status = ?",
        (record.run_id, record.fence, record.status),
        claims=True,
    )


def claim_run(run_id: str, fence: int) -> Row:
    """Claim that a run is still this process's; goes with whatever precedes a side effect."""
    return Row(f"UPDATE runs SET process = process WHERE {_HELD_BY}", (run_id, fence), claims=True)  # noqa: S608


def end_run(run_id: str, fence: int, status: str) -> Row:
    """Set the status of a run that ended or was suspended in this process."""
    return Row(f"UPDATE runs SET status = ? WHERE {_HELD_BY}", (status, run_id, fence), claims=True)  # noqa: S608


def find_run(database: Database, run_id: str) -> RunRecord:
    """Return a run by its id. Raises NoSuchRun, and NotResumable if its row is damaged."""
    rows = database.read(f"SELECT {_COLUMNS} FROM runs WHERE run_id = ?", (run_id,))  # noqa: S608
    if not rows:
        raise NoSuchRun(f"there is no run {run_id!r}", hint="`coilclaw run list` and `runs.list()` show runs")
    record = _record(rows[0])
    if record is None:
        raise NotResumable(f"the header of {run_id} is damaged", hint="start it again as a new run")
    return record


def list_runs(database: Database, *, status: str | None = None, limit: int = 50, cursor: str | None = None) -> RunPage:
    """Return runs, newest first: all of them, or those in one state (`RunRecord.state`).

    `cursor` is that of the page before. Rows that are damaged are left out, and a warning is logged.
    """
    limit, below = checked_limit(limit), None if cursor is None else position_of("runs", cursor)
    stored = "running" if status == "orphaned" else status
    found: list[RunRecord] = []
    damaged = 0
    while len(found) <= limit:
        rows = _rows_below(database, below, stored, limit + 1)
        if not rows:
            break
        below = rows[-1][0]
        records = [each for each in map(_record, rows) if each is not None]
        damaged += len(rows) - len(records)
        found += [each for each in records if status is None or each.state == status]
    if damaged:
        _logger.warning("rows of runs that are damaged, and not shown: %d", damaged)
    page = found[:limit]
    return RunPage(runs=page, cursor=cursor_at("runs", page[-1].run_id) if len(found) > limit and page else None)


def count_runs(database: Database) -> dict[str, int]:
    """Return how many runs there are in each status."""
    return dict(database.read("SELECT status, count(*) FROM runs GROUP BY status"))


def runs_of_conversation(database: Database, conversation: str, *, after: str = "") -> list[RunRecord]:
    """Return the runs of a conversation, oldest first, as far as their headers say the same: all, or those that began
    after a run."""
    sql = f"SELECT {_COLUMNS} FROM runs WHERE conversation_id = ? AND run_id > ? ORDER BY run_id"  # noqa: S608
    found = (_record(row) for row in database.read(sql, (conversation, after)))
    return [each for each in found if each is not None and each.header.conversation_id == conversation]


def _rows_below(database: Database, below: str | None, status: str | None, limit: int) -> Sequence[tuple[Any, ...]]:
    wanted = [(text, value) for text, value in (("run_id < ?", below), ("status = ?", status)) if value is not None]
    where = f"WHERE {' AND '.join(text for text, _ in wanted)}" if wanted else ""
    sql = f"SELECT {_COLUMNS} FROM runs {where} ORDER BY run_id DESC LIMIT ?"  # noqa: S608
    return database.read(sql, (*(value for _, value in wanted), limit))


def _record(row: tuple[Any, ...]) -> RunRecord | None:
    """A row that was read, or None if it is not what was written."""
    run_id, status, fence, process, first_seq, header = row
    try:
        found = RunHeader(**json.loads(header))
        found.run_limits()
        if type(fence) is not int or type(first_seq) is not int or first_seq < 0:
            raise TypeError
    except (ValueError, TypeError):
        return None
    return RunRecord(run_id=run_id, status=status, fence=fence, process=process, first_seq=first_seq, header=found)
