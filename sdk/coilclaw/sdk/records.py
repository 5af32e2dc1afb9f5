"""The records other programs read: runs, receipts and activity. `_asdict()` gives one as JSON data."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from coilclaw.sdk.risk import Risk

__all__ = [
    "ActivityItem",
    "Receipt",
    "RelevantToolActivity",
    "Run",
    "RunStatus",
]

RunStatus: TypeAlias = Literal[
    "queued",
    "running",
    "completed",
    "failed",
    "rejected",
    "timed_out",
    "out_of_memory",
    "output_exceeded",
    "suspended",
    "diverged",
    "cancelled",
    "crashed",
]


class Run(NamedTuple):
    """One execution of one snippet, or one direct call of a tool."""

    id: str
    status: RunStatus
    started_at: datetime
    session_id: str | None = None
    ended_at: datetime | None = None


class Receipt(NamedTuple):
    """One event in the append-only log; `receipt_hash` covers every other field."""

    id: str
    seq: int
    timestamp: str
    type: str
    status: str
    run_id: str | None
    conversation_id: str | None
    tool_call_id: str | None
    tool: str | None
    tool_version: str | None
    risk: Risk | None
    args_hash: str | None
    result_hash: str | None
    payload: dict[str, Any]
    previous_hash: str
    receipt_hash: str

    @property
    def ts(self) -> datetime:
        """The timestamp as a point in time."""
        return datetime.fromisoformat(self.timestamp.replace("Z", "+00:00"))


class ActivityItem(NamedTuple):
    """One line of what a run did, derived from receipts."""

    tool_id: str
    status: Literal["succeeded", "failed", "denied", "pending", "running", "unknown"]
    """`unknown`: it was started, and its process ended before it did."""
    approval: Literal["none", "required", "granted", "denied"]
    """Whether a person had to approve the call, and what became of that."""
    when: str
    receipt_ref: str
    code: str | None = None
    """Why a call failed or was denied, in one word."""
    message: str | None = None
    """The same in a sentence."""
    summary: str | None = None
    """The call in one bounded line: what it did, or what it was to do and why it did not."""
    reused_from: str | None = None
    """For a call that a retry did not make again: the receipt of its success in the earlier run."""
    decided_by: str | None = None
    """Who approved or denied the call."""
    scope: Literal["once", "window", "plan"] | None = None
    """How the call was approved: by itself, by a window, or as part of a plan."""
    risk: Literal["read", "write", "destructive"] | None = None
    call_id: str | None = None


class RelevantToolActivity(NamedTuple):
    """A derived view of one run's receipts: nothing here is stored."""

    run_id: str
    items: tuple[ActivityItem, ...]
