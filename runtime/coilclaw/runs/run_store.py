"""What a run is made of: written down before it begins, and all that is needed to repeat it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from coilclaw.receipts import Row
from coilclaw.runs.errors import NoSuchRun, NotResumable
from coilclaw.sandbox import Limits
from coilclaw.store import Database
from coilclaw.trust import is_running, this_process

__all__ = ["RunHeader", "RunRecord", "call_off", "enter", "find_run", "leave", "take_over"]


@dataclass(frozen=True, kw_only=True)
class RunHeader:
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

    def text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    def run_limits(self) -> Limits:
        return Limits(**self.limits)


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """Where a run stands: who has it, and how far it came."""

    run_id: str
    status: str
    fence: int
    process: str
    first_seq: int
    header: RunHeader

    @property
    def is_waiting(self) -> bool:
        """Whether someone may go on with it: it was suspended, or the process that had it is gone."""
        return self.status == "suspended" or (self.status == "running" and not is_running(self.process))


def enter(run_id: str, header: RunHeader) -> Row:
    """A run begins, in this process."""
    return Row(
        "INSERT INTO runs SELECT ?, 'running', 1, ?, coalesce(max(seq), 0), ? FROM receipts",
        (run_id, this_process(), header.text()),
    )


def take_over(known: RunRecord) -> Row:
    """Go on with a run: of all processes that try, one succeeds."""
    return Row(
        "UPDATE runs SET status = 'running', fence = fence + 1, process = ? "
        "WHERE run_id = ? AND fence = ? AND status = ?",
        (this_process(), known.run_id, known.fence, known.status),
        claims=True,
    )


def call_off(known: RunRecord) -> Row:
    """Nobody goes on with a run that waited, unless someone has done so meanwhile."""
    return Row(
        "UPDATE runs SET status = 'cancelled', fence = fence + 1 WHERE run_id = ? AND fence = ? AND status = ?",
        (known.run_id, known.fence, known.status),
        claims=True,
    )


def leave(run_id: str, fence: int, status: str) -> Row:
    """The run is over here, or waits for someone else to go on with it."""
    return Row("UPDATE runs SET status = ? WHERE run_id = ? AND fence = ?", (status, run_id, fence), claims=True)


def find_run(database: Database, run_id: str) -> RunRecord:
    rows = database.read("SELECT status, fence, process, first_seq, header FROM runs WHERE run_id = ?", (run_id,))
    if not rows:
        raise NoSuchRun(f"there is no run {run_id!r}", hint="`coilclaw receipt list` shows runs")
    status, fence, process, first_seq, header = rows[0]
    try:
        found = RunHeader(**json.loads(header))
        found.run_limits()
        if type(fence) is not int or type(first_seq) is not int or first_seq < 0:
            raise TypeError
    except (ValueError, TypeError):
        raise NotResumable(f"the header of {run_id} is damaged", hint="start it again as a new run") from None
    return RunRecord(run_id=run_id, status=status, fence=fence, process=process, first_seq=first_seq, header=found)
