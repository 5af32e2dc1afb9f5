"""Events: what happened in runs and around them, one typed record for each receipt, and what a run prints.

`kind` names the type in JSON and stays the same between releases. A receipt becomes exactly one event, so that a reader
who continues from an event's cursor misses nothing and sees nothing twice.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field

__all__ = [
    "AnyEvent",
    "ApprovalAsked",
    "ApprovalDecided",
    "CallApproved",
    "CallDenied",
    "CallEvent",
    "CallFailed",
    "CallProgress",
    "CallRequested",
    "CallReused",
    "CallStarted",
    "CallSucceeded",
    "EstopCleared",
    "EstopSet",
    "Event",
    "OtherReceipt",
    "RunDisplayed",
    "RunDiverged",
    "RunFinished",
    "RunOutput",
    "RunQueued",
    "RunResumed",
    "RunStarted",
    "RunSuspended",
    "ToolReloaded",
    "WindowClosed",
    "WindowOpened",
]


class Event(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """One entry of the feed. `cursor` is opaque: give it back to continue behind this event."""

    kind: str
    when: datetime
    cursor: str
    run_id: str | None = None
    receipt: str | None = None
    """The id of the receipt that the event was made from."""

    def object(self) -> dict[str, Any]:
        """The event for a program, as JSON values."""
        return self.model_dump(mode="json")


# Runs ------------------------------------------------------------------------------------------------------


class RunQueued(Event, frozen=True):
    """A run was accepted, and begins when its turn comes."""

    kind: Literal["run.queued"] = "run.queued"
    name: str
    engine: str
    conversation_id: str | None = None


class RunStarted(Event, frozen=True):
    """A run began."""

    kind: Literal["run.started"] = "run.started"
    name: str
    engine: str
    generation: int | None = None
    """The registry's, which the run keeps until its end."""
    rehearsal: bool = False
    retry_of: str | None = None
    """The earlier run whose succeeded writes are not repeated."""
    conversation_id: str | None = None


class RunOutput(Event, frozen=True):
    """A snippet printed something: stream 1 is stdout, 2 is stderr.

    Live only: it is in no receipt, and its cursor is that of the event before it.
    """

    kind: Literal["run.output"] = "run.output"
    stream: int
    text: str


class RunDisplayed(Event, frozen=True):
    """A snippet displayed something. Live only, like what it prints."""

    kind: Literal["run.displayed"] = "run.displayed"
    mime: str
    data: Any
    """Text, base64 for PNG, or JSON values for tables and other data."""


class RunSuspended(Event, frozen=True):
    """A run was suspended: it needs a decision, and no process."""

    kind: Literal["run.suspended"] = "run.suspended"


class RunResumed(Event, frozen=True):
    """A suspended run is continued, perhaps by another process. Its output so far is printed again."""

    kind: Literal["run.resumed"] = "run.resumed"
    conversation_id: str | None = None


class RunDiverged(Event, frozen=True):
    """A resumed run made another call than its journal records, and was stopped."""

    kind: Literal["run.diverged"] = "run.diverged"
    difference: str | None = None


class RunFinished(Event, frozen=True):
    """A run ended; `status` says how."""

    kind: Literal["run.finished"] = "run.finished"
    status: str
    milliseconds: float | None = None
    """Since it was started or resumed."""
    stopped: str | None = None
    """Why the operator stopped everything, if that is what ended it."""
    warnings: tuple[dict[str, Any], ...] = ()
    """Each with `kind`, `message` and `line`."""


# Calls -----------------------------------------------------------------------------------------------------


class CallEvent(Event, frozen=True):
    """Something happened to one call of a run."""

    call_id: str
    tool: str
    risk: str | None = None


class CallRequested(CallEvent, frozen=True):
    """A snippet issued a call; nothing is decided yet."""

    kind: Literal["call.requested"] = "call.requested"
    number: int | None = None
    line: int | None = None


class CallApproved(CallEvent, frozen=True):
    """A call that needed approval got it at once: from the person at hand, a plan or a window."""

    kind: Literal["call.approved"] = "call.approved"
    decision: str
    decided_by: str
    window: str | None = None


class CallDenied(CallEvent, frozen=True):
    """A call was denied, and was not made."""

    kind: Literal["call.denied"] = "call.denied"
    code: str
    message: str
    decided_by: str | None = None


class CallStarted(CallEvent, frozen=True):
    """The tool's handler is about to run."""

    kind: Literal["call.started"] = "call.started"


class CallProgress(CallEvent, frozen=True):
    """A tool reported how far it is."""

    kind: Literal["call.progress"] = "call.progress"
    message: str


class CallSucceeded(CallEvent, frozen=True):
    """A tool returned a value, which is kept under `result_hash`."""

    kind: Literal["call.succeeded"] = "call.succeeded"
    result_hash: str | None = None
    summary: str | None = None
    """What the call did, if its tool says that in a sentence."""


class CallReused(CallEvent, frozen=True):
    """A retry was answered from an earlier run, in which the same call succeeded; the tool was not called."""

    kind: Literal["call.reused"] = "call.reused"
    source_run: str
    source_receipt: str
    result_hash: str | None = None


class CallFailed(CallEvent, frozen=True):
    """A call ended without a value."""

    kind: Literal["call.failed"] = "call.failed"
    code: str
    message: str


# Approvals -------------------------------------------------------------------------------------------------


class ApprovalAsked(CallEvent, frozen=True):
    """A call needs a decision that nobody could make at once; it is pending under `approval`."""

    kind: Literal["approval.asked"] = "approval.asked"
    approval: str
    reason: str


class ApprovalDecided(CallEvent, frozen=True):
    """A person decided about a pending call. A no ends the call: no other event says so."""

    kind: Literal["approval.decided"] = "approval.decided"
    approval: str
    approved: bool
    decided_by: str
    message: str | None = None


class WindowOpened(Event, frozen=True):
    """A person permitted further calls of one tool for a while."""

    kind: Literal["window.opened"] = "window.opened"
    window: str
    tool: str
    uses: int
    seconds: int
    decided_by: str


class WindowClosed(Event, frozen=True):
    """A window was closed before its time."""

    kind: Literal["window.closed"] = "window.closed"
    window: str
    tool: str
    decided_by: str


# Everything else -------------------------------------------------------------------------------------------


class ToolReloaded(Event, frozen=True):
    """A tool file is in force with another content than before."""

    kind: Literal["tool.reloaded"] = "tool.reloaded"
    file: str
    content_hash: str


class EstopSet(Event, frozen=True):
    """The emergency stop was set."""

    kind: Literal["estop.set"] = "estop.set"
    decided_by: str
    reason: str | None = None


class EstopCleared(Event, frozen=True):
    """The emergency stop was cleared."""

    kind: Literal["estop.cleared"] = "estop.cleared"
    decided_by: str
    reason: str | None = None


class OtherReceipt(Event, frozen=True):
    """A receipt that this version has no event for, as it stands in the log."""

    kind: Literal["receipt"] = "receipt"
    type: str
    status: str
    call_id: str | None = None
    tool: str | None = None
    payload: dict[str, Any]


AnyEvent: TypeAlias = Annotated[
    RunQueued
    | RunStarted
    | RunOutput
    | RunDisplayed
    | RunSuspended
    | RunResumed
    | RunDiverged
    | RunFinished
    | CallRequested
    | CallApproved
    | CallDenied
    | CallStarted
    | CallProgress
    | CallSucceeded
    | CallReused
    | CallFailed
    | ApprovalAsked
    | ApprovalDecided
    | WindowOpened
    | WindowClosed
    | ToolReloaded
    | EstopSet
    | EstopCleared
    | OtherReceipt,
    Field(discriminator="kind"),
]
"""Every event there is. `TypeAdapter(AnyEvent)` reads what `object` gives."""
