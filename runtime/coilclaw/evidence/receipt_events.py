"""The event of a receipt."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from coilclaw.evidence.events import (
    ApprovalAsked,
    ApprovalDecided,
    CallApproved,
    CallDenied,
    CallFailed,
    CallProgress,
    CallRequested,
    CallReused,
    CallStarted,
    CallSucceeded,
    EstopCleared,
    EstopSet,
    Event,
    OtherReceipt,
    RunDiverged,
    RunFinished,
    RunQueued,
    RunResumed,
    RunStarted,
    RunSuspended,
    ToolReloaded,
    WindowClosed,
    WindowOpened,
)
from coilclaw.receipts import DamagedReceipt, cursor_of
from coilclaw.sdk import Receipt

__all__ = ["event_of"]


def event_of(receipt: Receipt) -> Event:
    """Make the event of a receipt: `OtherReceipt` if its type is unknown, or if it says less than its type should."""
    try:
        origin: dict[str, Any] = {
            "when": receipt.ts,
            "cursor": cursor_of(receipt),
            "run_id": receipt.run_id,
            "receipt": receipt.id,
        }
    except (ValueError, IndexError):
        raise DamagedReceipt("a receipt is damaged") from None
    try:
        found = _of_call(receipt, origin) if receipt.tool_call_id is not None else _of_others(receipt, origin)
    except (KeyError, TypeError, ValidationError):
        found = None
    return found or OtherReceipt(
        **origin,
        type=receipt.type,
        status=receipt.status,
        call_id=receipt.tool_call_id,
        tool=receipt.tool,
        payload=receipt.payload,
    )


def _of_call(receipt: Receipt, origin: dict[str, Any]) -> Event | None:
    risk = receipt.risk.value if receipt.risk is not None else None
    call = {**origin, "call_id": receipt.tool_call_id, "tool": receipt.tool, "risk": risk}
    payload = receipt.payload
    match receipt.type:
        case "tool.call.requested":
            return CallRequested(**call, number=payload.get("number"), line=payload.get("line"))
        case "tool.call.started":
            return CallStarted(**call)
        case "tool.call.succeeded":
            return CallSucceeded(**call, result_hash=receipt.result_hash, summary=payload.get("summary"))
        case "tool.call.reused":
            source, receipt_id = payload["source_run"], payload["source_receipt"]
            return CallReused(**call, source_run=source, source_receipt=receipt_id, result_hash=receipt.result_hash)
        case "tool.call.failed":
            return CallFailed(**call, code=payload["code"], message=payload["message"])
        case "tool.call.progress":
            return CallProgress(**call, message=payload["message"])
        case "tool.call.pending":
            return ApprovalAsked(**call, approval=payload["approval"], reason=payload["reason"])
        case "tool.call.approved" | "tool.call.denied" if "approval" in payload and "decision" in payload:
            return ApprovalDecided(
                **call,
                approval=payload["approval"],
                approved=receipt.type == "tool.call.approved",
                decided_by=payload["decided_by"],
                message=payload.get("message"),
            )
        case "tool.call.approved":
            decision, decided_by = payload["decision"], payload["decided_by"]
            return CallApproved(**call, decision=decision, decided_by=decided_by, window=payload.get("grant"))
        case "tool.call.denied":
            code, decided_by = payload["code"], payload.get("decided_by")
            return CallDenied(**call, code=code, message=payload["message"], decided_by=decided_by)
    return None


def _of_others(receipt: Receipt, origin: dict[str, Any]) -> Event | None:
    payload = receipt.payload
    match receipt.type:
        case "run.queued":
            name, engine = payload["name"], payload["engine"]
            return RunQueued(**origin, name=name, engine=engine, conversation_id=receipt.conversation_id)
        case "run.started":
            return RunStarted(
                **origin,
                name=payload["name"],
                engine=payload["engine"],
                generation=payload.get("generation"),
                rehearsal=payload.get("rehearsal", False),
                retry_of=payload.get("retry_of"),
                conversation_id=receipt.conversation_id,
            )
        case "run.finished":
            micros = payload.get("duration_us")
            took = micros / 1000 if micros is not None else None
            return RunFinished(
                **origin,
                status=receipt.status,
                milliseconds=took,
                stopped=payload.get("stopped"),
                warnings=payload.get("warnings", ()),
            )
        case "run.suspended":
            return RunSuspended(**origin)
        case "run.resumed":
            return RunResumed(**origin, conversation_id=receipt.conversation_id)
        case "run.diverged":
            return RunDiverged(**origin, difference=payload.get("difference"))
        case "approval.window.opened":
            window = {**origin, "window": payload["grant"], "tool": receipt.tool, "decided_by": payload["decided_by"]}
            return WindowOpened(**window, uses=payload["uses"], seconds=payload["seconds"])
        case "approval.window.closed":
            window = {**origin, "window": payload["grant"], "tool": receipt.tool, "decided_by": payload["decided_by"]}
            return WindowClosed(**window)
        case "tool.module.loaded":
            return ToolReloaded(**origin, file=payload["path"], content_hash=payload["content_hash"])
        case "estop.set":
            return EstopSet(**origin, decided_by=payload["decided_by"], reason=payload.get("reason"))
        case "estop.cleared":
            return EstopCleared(**origin, decided_by=payload["decided_by"], reason=payload.get("reason"))
    return None
