"""Shapes that answers of several endpoints share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from coilclaw.app import Row

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest, RunRecord
    from coilclaw.policy import Window
    from coilclaw.sdk import Receipt

__all__ = [
    "Activity",
    "ApprovalFacts",
    "JsonObject",
    "Limit",
    "Page",
    "ReceiptFacts",
    "RunReportFacts",
    "RunState",
    "RunSummary",
    "TextRow",
    "WindowFacts",
    "text_rows",
]

JsonObject = dict[str, Any]
Limit = Annotated[int, Field(ge=1, le=500)]


class Page(BaseModel):
    """Which part of a list to answer."""

    model_config = ConfigDict(extra="forbid")

    limit: Limit = 50
    cursor: Annotated[str, Field(max_length=200)] | None = None
    """That of the page before."""


class TextRow(BaseModel):
    """A line of a difference or of arguments, safe to show as it is."""

    lead: str
    text: str
    colour: str | None


def text_rows(rows: Iterable[Row]) -> list[TextRow]:
    """Rows for a browser: what stands before a line, the line, and its colour."""
    return [TextRow(lead=each.lead, text=each.text, colour=each.colour) for each in rows]


class Activity(BaseModel):
    """One call of a run, as its receipts tell it."""

    model_config = ConfigDict(extra="allow")

    tool_id: str
    status: str
    receipt_ref: str


class RunReportFacts(BaseModel):
    """A run, as `coilclaw run --json` prints it."""

    model_config = ConfigDict(extra="allow")

    run_id: str
    status: str
    engine: str
    retry_of: str | None
    value: Any
    stdout: str
    stderr: str
    warnings: list[JsonObject]
    outputs: list[JsonObject]
    error: JsonObject | None
    activity: list[Activity]
    approvals: list[JsonObject]
    duration_ms: float


class RunState(BaseModel):
    """A run and how it stands."""

    run_id: str
    status: str


class RunSummary(BaseModel):
    """A run in a list."""

    run_id: str
    status: str
    name: str
    kind: str
    engine: str
    started_at: str
    """When it began; while it is queued, when it was accepted."""
    conversation_id: str | None
    project: str | None
    retry_of: str | None
    workspace: str
    resumable: bool
    """Whether `resume` would continue it."""

    @classmethod
    def of(cls, known: RunRecord) -> RunSummary:
        """The summary of a run."""
        header = known.header
        return cls(
            run_id=known.run_id,
            status=known.state,
            name=header.name,
            kind=header.kind,
            engine=header.engine,
            started_at=known.started_at.isoformat(),
            conversation_id=header.conversation_id,
            project=header.project,
            retry_of=header.retry_of,
            workspace=header.workspace,
            resumable=known.is_waiting,
        )


class ApprovalFacts(BaseModel):
    """A call that needed a person's approval, and what became of it."""

    id: str
    run_id: str
    tool: str
    tool_version: str
    arguments: Any
    """None when they are no longer kept; the call itself stays bound to their hash."""
    runs: str | None
    """What will run, if the tool says more about that than the arguments do."""
    risk: str
    reason: str
    matched_rule: str | None
    """What demanded approval."""
    digest: str
    """What a decision is bound to; give it back with the decision."""
    status: str
    """`pending`, `granted`, `consumed` once it was used, `denied` or `expired`."""
    number: int
    line: int | None
    created_at: str
    expires_at: str
    decided_by: str | None
    decided_at: str | None

    @classmethod
    def of(cls, asked: ApprovalRequest, **more: Any) -> Any:
        """The facts of a request."""
        facts = asked.facts()
        for ours, theirs in (("created_at", "created"), ("expires_at", "expires"), ("decided_at", "decided")):
            facts[ours] = facts.pop(theirs)
        return cls(**facts, **more)


class WindowFacts(BaseModel):
    """A window: further calls of a tool need no approval, for a while and a number of uses."""

    id: str
    tool: str
    tool_version: str
    workspace: str
    where: JsonObject
    """Arguments that a call must have to pass."""
    uses: int
    uses_left: int
    expires_at: int
    """Seconds since 1970."""
    granted_by: str

    @classmethod
    def of(cls, window: Window) -> WindowFacts:
        """The facts of a window."""
        names = ("id", "tool", "tool_version", "workspace", "uses", "uses_left", "expires_at", "granted_by")
        return cls(where=dict(window.arguments), **{name: getattr(window, name) for name in names})


class ReceiptFacts(BaseModel):
    """A receipt as it stands in the log."""

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
    risk: str | None
    args_hash: str | None
    result_hash: str | None
    payload: JsonObject
    previous_hash: str
    receipt_hash: str

    @classmethod
    def of(cls, receipt: Receipt, **more: Any) -> Any:
        """The facts of a receipt."""
        facts: Mapping[str, Any] = receipt._asdict()
        return cls(**{**facts, "risk": receipt.risk.value if receipt.risk is not None else None}, **more)
