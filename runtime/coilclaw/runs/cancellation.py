"""Cancelling a run that is queued or waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coilclaw.bridge import cancel_waiting_run, find_run
from coilclaw.policy import ApprovalStore
from coilclaw.receipts import Conflict, Draft, ReceiptLog, now
from coilclaw.runs.errors import NotCancellable
from coilclaw.sdk import Receipt
from coilclaw.store import Database

__all__ = ["cancel_run"]

_ENDS: Final = ("run.finished", "run.diverged")
_OUTCOMES: Final = ("tool.call.succeeded", "tool.call.reused", "tool.call.failed", "tool.call.denied")


def cancel_run(database: Database, log: ReceiptLog, approvals: ApprovalStore, run_id: str, *, decided_by: str) -> None:
    """End a run that nobody is to resume. Its pending calls are denied, and so are those approved and not made yet.

    A call that was under way when the process of the run ended has failed: nobody knows what it did.

    Raises NotCancellable for a run that is over, or under way in a process: only that process can end it.
    """
    record = find_run(database, run_id)
    if not record.is_waiting and record.status != "queued":
        under_way = record.status == "running"
        state = "is under way in another process" if under_way else f"is over ({record.status})"
        hint = "interrupt that process, or stop all tools: `coilclaw estop`, `estop.set()`" if under_way else None
        raise NotCancellable(f"{run_id} {state}", hint=hint)
    receipts = log.of_run(run_id, after=record.first_seq)
    last = next((each for each in reversed(receipts) if each.type.startswith("run.")), None)
    if last is not None and last.type in _ENDS:
        raise NotCancellable(f"{run_id} is over ({last.status}), by its receipts")
    message = f"{decided_by} cancelled the run"
    facts = {"code": "cancelled", "message": message, "decided_by": decided_by}
    ends = [
        each.draft("tool.call.denied", "denied", facts) for each in approvals.list("pending", "granted", run_id=run_id)
    ]
    ends += [_given_up(each, decided_by) for each in _without_outcome(receipts)]
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
        raise NotCancellable(f"{run_id} was begun or resumed by another process just now") from None


def _without_outcome(receipts: Iterable[Receipt]) -> Iterable[Receipt]:
    """Return the starts of calls that nothing is known of since."""
    started: dict[str | None, Receipt] = {}
    for each in receipts:
        if each.type == "tool.call.started":
            started[each.tool_call_id] = each
        elif each.type in _OUTCOMES:
            started.pop(each.tool_call_id, None)
    return started.values()


def _given_up(started: Receipt, decided_by: str) -> Draft:
    message = f"the process ended while the tool ran, and {decided_by} cancelled the run; what the tool did is unknown"
    return Draft(
        type="tool.call.failed",
        status="failed",
        timestamp=now(),
        run_id=started.run_id,
        conversation_id=started.conversation_id,
        tool_call_id=started.tool_call_id,
        tool=started.tool,
        tool_version=started.tool_version,
        risk=started.risk,
        args_hash=started.args_hash,
        payload={"code": "unknown_outcome", "message": message, "decided_by": decided_by},
    )
