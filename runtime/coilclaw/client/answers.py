"""What a server answers, checked and typed. Fields that a newer server adds are left out."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from coilclaw.sdk.frozen import Frozen

__all__ = [
    "Approval",
    "ApprovalDetails",
    "CallResult",
    "Conversation",
    "Event",
    "Message",
    "Run",
    "RunSummary",
    "Runs",
    "ServerStatus",
    "Started",
    "ToolInfo",
]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ServerStatus(_Answer):
    """What a server says of itself."""

    version: str


class Started(_Answer):
    """A run that was accepted, or asked to continue."""

    run_id: str
    status: str
    cursor: str | None = None


class Run(_Answer):
    """A run as it stands: the object that `coilclaw run --json` prints."""

    run_id: str
    status: str
    engine: str
    retry_of: str | None = None
    value: Any
    stdout: str
    stderr: str
    warnings: tuple[dict[str, Any], ...]
    outputs: tuple[dict[str, Any], ...]
    error: dict[str, Any] | None
    activity: tuple[dict[str, Any], ...]
    approvals: tuple[dict[str, Any], ...]
    """The calls that a suspended run needs a decision about."""
    duration_ms: float
    unknown: tuple[dict[str, Any], ...] = ()
    """Calls of unknown outcome that a suspended run needs a decision about."""
    unmet: tuple[str, ...] = ()
    """What calls lacked: `approval_required`, `missing_secret`."""
    not_made: tuple[str, ...] = ()
    """`receipt_ref` of calls that never started."""
    unkept: tuple[str, ...] = ()
    """Parts of the report that were not kept, and so are empty."""
    state: str = ""
    """The status, but `orphaned` for a run whose process ended before the run did."""
    kind: str = ""
    name: str = ""
    started_at: str = ""
    workspace: str = ""
    conversation_id: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing will change it any more."""
        return self.status not in ("queued", "running", "suspended")


class RunSummary(_Answer):
    """A run in a list."""

    run_id: str
    status: str
    name: str
    kind: str
    engine: str
    started_at: str
    conversation_id: str | None
    workspace: str = ""
    resumable: bool = False


class Runs(_Answer):
    """A page of runs, newest first."""

    runs: tuple[RunSummary, ...]
    cursor: str | None
    """Of the next page; None behind the last one."""


class Approval(_Answer):
    """A call that needed a person's approval, and what became of it."""

    id: str
    run_id: str
    tool: str
    tool_version: str
    arguments: Any
    risk: str
    reason: str
    matched_rule: str | None
    digest: str
    """What a decision is bound to."""
    status: str
    expires_at: str
    runs: str | None = None
    number: int = 0
    line: int | None = None
    created_at: str = ""
    decided_by: str | None = None
    decided_at: str | None = None


class ApprovalDetails(Approval):
    """The same call, with the run around it."""

    run_status: str
    conversation_id: str | None = None
    name: str
    kind: str
    source: str | None
    activity: tuple[dict[str, Any], ...]
    """What the run has done so far."""
    rows: tuple[dict[str, Any], ...]
    """Everything that the call sends, as a person reads it: `lead`, `text` and `colour` of each line."""


class ToolInfo(_Answer):
    """A tool of the server's registry."""

    id: str
    description: str
    risk: str
    policy: str = ""
    """`allow`, `ask` or `deny`."""


class CallResult(_Answer):
    """What became of one direct call of a tool."""

    success: bool
    output: str
    """The value as JSON text; empty if the call did not succeed."""
    error: str | None
    metadata: dict[str, Any]
    receipt_id: str | None
    code: str | None = None
    """What kind of failure `error` is."""
    hint: str | None = None
    run_id: str = ""
    status: str = ""
    """`suspended` if it waits for a decision; `wait(run_id)` has what becomes of it."""


class Message(_Answer):
    """One message of a conversation."""

    id: str
    role: str
    content: str
    metadata: dict[str, Any] | None = None


class Conversation(_Answer):
    """A conversation with all its messages."""

    id: str
    messages: tuple[Message, ...] = ()


class Event(Frozen):
    """One event of a stream. Save the cursor of the last one you handled, to continue after it."""

    kind: str
    data: dict[str, Any]
    cursor: str | None
    """None until the stream gave the first one."""

    @property
    def run_id(self) -> str | None:
        """The run that it belongs to, if it is one of a run."""
        found = self.data.get("run_id")
        return found if isinstance(found, str) else None
