"""The records other programs read: runs, receipts and activity.

They are frozen pydantic models because they cross trust boundaries (exports, `--json`, the gateway).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from coilclaw.sdk.risk import Risk

__all__ = [
    "ActivityItem",
    "Receipt",
    "RelevantToolActivity",
    "Run",
    "RunStatus",
]

RunStatus: TypeAlias = Literal[
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


class _Record(BaseModel):
    # Built on first use: most processes that import the SDK never touch these.
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Run(_Record):
    """One execution of one snippet, or one direct call of a tool."""

    id: str
    session_id: str | None = None
    status: RunStatus
    started_at: datetime
    ended_at: datetime | None = None


class Receipt(_Record):
    """One event in the append-only log; `receipt_hash` covers every other field."""

    id: str
    seq: int
    timestamp: str
    type: str
    status: str
    run_id: str | None = None
    conversation_id: str | None = None
    tool_call_id: str | None = None
    tool: str | None = None
    tool_version: str | None = None
    risk: Risk | None = None
    args_hash: str | None = None
    result_hash: str | None = None
    payload: dict[str, Any]
    previous_hash: str
    receipt_hash: str

    @property
    def ts(self) -> datetime:
        """The timestamp as a point in time."""
        return datetime.fromisoformat(self.timestamp.replace("Z", "+00:00"))


class ActivityItem(_Record):
    """One line of what a run did, derived from receipts."""

    tool_id: str
    status: Literal["succeeded", "failed", "denied", "pending"]
    approval: str | None
    when: str
    receipt_ref: str


class RelevantToolActivity(_Record):
    """A derived view of one run's receipts: nothing here is stored."""

    run_id: str
    items: tuple[ActivityItem, ...]
