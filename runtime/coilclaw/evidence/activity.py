"""What a run did, derived from its receipts and from nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from coilclaw.sdk import ActivityItem, Receipt, RelevantToolActivity, Risk, Run
from coilclaw.sdk.legible import one_line, quoted

__all__ = ["Relevant", "activity_of", "approval_words", "relevant", "run_of"]

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
_OVER: Final = ("run.finished", "run.diverged")
_NEVER_MADE: Final = "not made: its run was over before"
"""Of a call that was still waiting when its run ended: nothing can make it any more."""
_WITHOUT_LEAVE: Final = ("tool.call.pending", "tool.call.denied", "tool.call.failed")
"""For a call that was not started: it is asked about again, or ended without being made."""

_DECISIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "tool.call.approved": ("allow-once", "window"),
    "tool.call.denied": ("deny",),
}
"""Decisions of people about calls; another one, such as `retry`, is about a call of unknown outcome."""


class _Approval(NamedTuple):
    """The approval of a call: its state, who decided, and for how much."""

    state: Literal["none", "required", "granted", "denied"]
    decided_by: str | None = None
    scope: Literal["once", "window", "plan"] | None = None


_NOT_NEEDED: Final = _Approval("none")
_REQUIRED: Final = _Approval("required")

_KEY_READS: Final = 3
_LONGEST_VALUE: Final = 60
_NAME: Final = re.compile(r"[\w.-]{1,100}")
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
    approvals: dict[str, _Approval] = {}
    started: set[str] = set()
    under_way, is_over = not is_orphaned, False
    for receipt in receipts:
        if receipt.run_id == run_id and receipt.type.startswith("run."):
            under_way, is_over = not is_orphaned and receipt.type in _UNDER_WAY, receipt.type in _OVER
        if receipt.tool_call_id is None or receipt.type not in _STATUS or receipt.run_id != run_id:
            continue
        call_id = receipt.tool_call_id
        last[call_id] = receipt
        if receipt.type == "tool.call.started":
            started.add(call_id)
        if decided := _approval(receipt):
            approvals[call_id] = decided
        elif receipt.type in _WITHOUT_LEAVE and call_id in approvals and call_id not in started:
            approvals[call_id] = _REQUIRED  # What was decided before has not been used.
    return RelevantToolActivity(
        run_id=run_id,
        items=tuple(
            _item(receipt, _status(receipt, under_way, is_over), approvals.get(call_id, _NOT_NEEDED), arguments)
            for call_id, receipt in last.items()
        ),
    )


class Relevant(NamedTuple):
    """The items that matter to whoever asks what was done, and how many plain reads were left out."""

    items: tuple[ActivityItem, ...]
    folded_reads: int


def relevant(items: Sequence[ActivityItem]) -> Relevant:
    """Leave out plain reads: succeeded calls that change nothing. Where there is nothing else, the last few stay."""
    kept = [item for item in items if item.status != "succeeded" or item.risk != "read"]
    if not kept:
        looks = [item for item in items if not item.tool_id.startswith("registry.")]
        kept = looks[-_KEY_READS:]
    return Relevant(tuple(kept), len(items) - len(kept))


def approval_words(item: ActivityItem) -> str:
    """The approval of a call for a person: `approved by ada (window)`; empty for a call that needed none."""
    match item.approval:
        case "granted":
            how = f" ({item.scope})" if item.scope in ("window", "plan") else ""
            return f"approved by {item.decided_by}{how}"
        case "denied":
            return f"denied by {item.decided_by}"
        case "required":
            return "was not approved" if item.status == "failed" else "needs approval"
    return ""


def _approval(receipt: Receipt) -> _Approval | None:
    """What a receipt says about the approval of its call, if anything."""
    payload = receipt.payload
    decision = payload.get("decision")
    if receipt.type == "tool.call.pending" or decision == "unanswered":
        return _REQUIRED
    if receipt.type not in _DECISIONS or decision not in _DECISIONS[receipt.type]:
        return None
    granted = receipt.type == "tool.call.approved"
    scope = payload.get("scope")
    return _Approval(
        "granted" if granted else "denied",
        payload.get("decided_by"),
        scope if granted and scope in ("once", "window", "plan") else None,
    )


def _status(receipt: Receipt, under_way: bool, is_over: bool) -> _Status:
    status = _STATUS[receipt.type]
    if status == "pending" and is_over:
        return "failed"
    return "unknown" if status == "running" and not under_way else status


def _item(receipt: Receipt, status: _Status, approval: _Approval, arguments: Mapping[str, bytes]) -> ActivityItem:
    payload = receipt.payload
    code = message = None
    summary = str(payload.get("summary") or _call_text(receipt.tool or "", arguments.get(receipt.args_hash or "")))
    if status in ("failed", "denied"):
        message = payload.get("message")
        code = payload.get("code") or ("approval_denied" if payload.get("decision") == "deny" else None)
        if _STATUS[receipt.type] == "pending":
            code, message = "run_over", _NEVER_MADE
        # Messages about arguments begin with the tool, which the call in front of it names already.
        told = str(message or "").removeprefix(f"{receipt.tool}: ")
        summary = one_line(f"{summary}: {told}", _LONGEST_SUMMARY) if told else summary
    return ActivityItem(
        tool_id=receipt.tool or "",
        status=status,
        approval=approval.state,
        decided_by=approval.decided_by,
        scope=approval.scope,
        risk=None if receipt.risk is None else Risk(receipt.risk).value,
        call_id=receipt.tool_call_id,
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
        return one_line(f"{_name_text(tool)}(…)", _LONGEST_SUMMARY)
    shown = ", ".join(f"{_name_text(name)}={_value_text(value)}" for name, value in given.items())
    return one_line(f"{_name_text(tool)}({shown})", _LONGEST_SUMMARY)


def _value_text(value: Any) -> str:
    from coilclaw.sdk.credential_shapes import without_credentials  # Listing needs no patterns.

    return quoted(without_credentials(json.dumps(value, ensure_ascii=False)), _LONGEST_VALUE)


def _name_text(name: str) -> str:
    return name if _NAME.fullmatch(name) else _value_text(name)


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
