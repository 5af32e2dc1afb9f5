"""Cancelling a run that waits."""

from __future__ import annotations

from coilclaw.bridge import cancel_waiting_run, find_run
from coilclaw.policy import ApprovalStore
from coilclaw.receipts import Conflict, Draft, ReceiptLog, now
from coilclaw.runs.errors import NotCancellable
from coilclaw.store import Database

__all__ = ["cancel_run"]


def cancel_run(database: Database, log: ReceiptLog, approvals: ApprovalStore, run_id: str, *, decided_by: str) -> None:
    """End a run that nobody is to resume. Its pending calls are denied, and so are those approved and not made yet.

    Raises NotCancellable for a run that is over, or under way in a process: only that process can end it.
    """
    record = find_run(database, run_id)
    if not record.is_waiting:
        under_way = record.status == "running"
        state = "is under way in another process" if under_way else f"is over ({record.status})"
        hint = "interrupt that process, or stop all tools: `coilclaw estop`, `estop.set()`" if under_way else None
        raise NotCancellable(f"{run_id} {state}", hint=hint)
    message = f"{decided_by} cancelled the run"
    facts = {"code": "cancelled", "message": message, "decided_by": decided_by}
    ends = [
        each.draft("tool.call.denied", "denied", facts) for each in approvals.list("pending", "granted", run_id=run_id)
    ]
    finished = Draft(
        type="run.finished",
        status="cancelled",
        timestamp=now(),
        run_id=run_id,
        conversation_id=record.header.conversation_id,
        payload={"decided_by": decided_by},
    )
    try:
        log.append(*ends, finished, rows=[cancel_waiting_run(record), approvals.void(run_id)])
    except Conflict:
        raise NotCancellable(f"{run_id} was resumed by another process just now") from None
