"""What a run did, derived from its receipts and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from coilclaw.sdk import ActivityItem, Receipt, RelevantToolActivity, Run

__all__ = ["activity_of", "run_of"]

_Status: TypeAlias = Literal["succeeded", "failed", "denied", "pending"]

_STATUS: Final[dict[str, _Status]] = {
    "tool.call.requested": "pending",
    "tool.call.pending": "pending",
    "tool.call.approved": "pending",
    "tool.call.started": "pending",
    "tool.call.succeeded": "succeeded",
    "tool.call.failed": "failed",
    "tool.call.denied": "denied",
}


_WITHOUT_LEAVE: Final = ("tool.call.pending", "tool.call.denied", "tool.call.failed")
"""For a call that was not started: it is asked about again, or ended without being made."""


def activity_of(run_id: str, receipts: Iterable[Receipt]) -> RelevantToolActivity:
    """One item for each call, in the order of issue, with the state its last receipt gives it."""
    last: dict[str, Receipt] = {}
    approvals: dict[str, str] = {}
    started: set[str] = set()
    for receipt in receipts:
        if receipt.tool_call_id is None or receipt.type not in _STATUS or receipt.run_id != run_id:
            continue
        call_id = receipt.tool_call_id
        last[call_id] = receipt
        if receipt.type == "tool.call.started":
            started.add(call_id)
        if decision := receipt.payload.get("decision"):
            approvals[call_id] = f"{decision} by {receipt.payload.get('decided_by', 'nobody')}"
        elif receipt.type in _WITHOUT_LEAVE and call_id not in started:
            approvals.pop(call_id, None)  # What was decided before has not been used.
    return RelevantToolActivity(
        run_id=run_id,
        items=tuple(
            ActivityItem(
                tool_id=receipt.tool or "",
                status=_STATUS[receipt.type],
                approval=approvals.get(call_id),
                when=receipt.timestamp,
                receipt_ref=receipt.id,
            )
            for call_id, receipt in last.items()
        ),
    )


def run_of(run_id: str, receipts: Iterable[Receipt]) -> Run | None:
    """The run itself, as its receipts tell it."""
    mine = [receipt for receipt in receipts if receipt.run_id == run_id]
    started = next((receipt for receipt in mine if receipt.type == "run.started"), None)
    if started is None:
        return None
    last = [receipt for receipt in mine if receipt.type.startswith("run.")][-1]
    ended = last.type in ("run.finished", "run.diverged")
    return Run(
        id=run_id,
        session_id=started.conversation_id,
        status=last.status,  # type: ignore[arg-type]
        started_at=started.ts,
        ended_at=last.ts if ended else None,
    )
