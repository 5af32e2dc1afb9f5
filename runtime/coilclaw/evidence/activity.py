"""What a run did, derived from its receipts and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from coilclaw.sdk import ActivityItem, Receipt, RelevantToolActivity, Run
from coilclaw.sdk.legible import one_line

__all__ = ["activity_of", "run_of"]

_Status: TypeAlias = Literal["succeeded", "failed", "denied", "pending", "running", "unknown"]

_STATUS: Final[dict[str, _Status]] = {
    "tool.call.requested": "pending",
    "tool.call.pending": "pending",
    "tool.call.approved": "pending",
    "tool.call.started": "running",
    "tool.call.succeeded": "succeeded",
    "tool.call.reused": "succeeded",
    "tool.call.failed": "failed",
    "tool.call.denied": "denied",
}

_UNDER_WAY: Final = ("run.started", "run.resumed")
_WITHOUT_LEAVE: Final = ("tool.call.pending", "tool.call.denied", "tool.call.failed")
"""For a call that was not started: it is asked about again, or ended without being made."""

_LONGEST_VALUE: Final = 60
_LONGEST_SUMMARY: Final = 300


def activity_of(
    run_id: str,
    receipts: Iterable[Receipt],
    arguments: Mapping[str, bytes] = MappingProxyType({}),
    *,
    is_orphaned: bool = False,
) -> RelevantToolActivity:
    """One item for each call, in the order of issue, with the state its last receipt gives it.

    `arguments` are contents by their hashes, as far as they are known: summaries name them. `is_orphaned` if the
    process of the run is gone, which no receipt says: what became of the calls it had started is unknown.
    """
    last: dict[str, Receipt] = {}
    approvals: dict[str, str] = {}
    started: set[str] = set()
    under_way = not is_orphaned
    for receipt in receipts:
        if receipt.run_id == run_id and receipt.type.startswith("run."):
            under_way = not is_orphaned and receipt.type in _UNDER_WAY
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
            _item(receipt, _status(receipt, under_way), approvals.get(call_id), arguments)
            for call_id, receipt in last.items()
        ),
    )


def _status(receipt: Receipt, under_way: bool) -> _Status:
    status = _STATUS[receipt.type]
    return "unknown" if status == "running" and not under_way else status


def _item(receipt: Receipt, status: _Status, approval: str | None, arguments: Mapping[str, bytes]) -> ActivityItem:
    payload = receipt.payload
    code = message = None
    summary = str(payload.get("summary") or _call_text(receipt.tool or "", arguments.get(receipt.args_hash or "")))
    if status in ("failed", "denied"):
        message = payload.get("message")
        code = payload.get("code") or ("approval_denied" if payload.get("decision") == "deny" else None)
        summary = one_line(f"{summary}: {message}", _LONGEST_SUMMARY) if message else summary
    return ActivityItem(
        tool_id=receipt.tool or "",
        status=status,
        approval=approval,
        when=receipt.timestamp,
        receipt_ref=receipt.id,
        code=code,
        message=message,
        summary=summary,
        reused_from=payload.get("source_receipt") if receipt.type == "tool.call.reused" else None,
    )


def _call_text(tool: str, arguments: bytes | None) -> str:
    """A call in one bounded line, as one would write it: `mail.send(to="a@b.c")`."""
    try:
        given = json.loads(arguments) if arguments is not None else None
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return one_line(f"{tool}(…)", _LONGEST_SUMMARY)
    shown = ", ".join(f"{name}={_value_text(value)}" for name, value in given.items())
    return one_line(f"{tool}({shown})", _LONGEST_SUMMARY)


def _value_text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


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
