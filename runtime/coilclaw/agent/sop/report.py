"""The report of a SOP's run: where it stands, what each step gave, and what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest, UnknownCall

__all__ = ["Answered", "Cancelled", "Failed", "Outcome", "SopReport", "StepReport", "Unknown", "Waiting"]

Unknown: TypeAlias = Literal["retry", "failed"]
"""What to do about calls of unknown outcome: call again, or count as failed."""


class Answered(Frozen):
    """A step that succeeded, with its output."""

    output: Any


class Failed(Frozen):
    """A step that failed, or that somebody denied."""

    code: str
    message: str
    hint: str | None = None
    denied: bool = False

    def facts(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, "hint": self.hint}


class Waiting(Frozen):
    """A step that needs a decision before it can continue."""

    approvals: tuple[ApprovalRequest, ...] = ()
    unknown: tuple[UnknownCall, ...] = ()
    """Calls that were under way when their process ended: nobody knows what they did."""


class Cancelled(Frozen):
    """A step that was interrupted."""


Outcome: TypeAlias = Answered | Failed | Waiting | Cancelled


class StepReport(Frozen):
    """One step that was started: `running`, `waiting`, `succeeded`, `failed` or `denied`."""

    id: str
    kind: str
    status: str
    started: str | None = None
    """The id of the run, or of the conversation, that carries it out."""
    output: Any = None
    error: dict[str, Any] | None = None

    def facts(self) -> dict[str, Any]:
        """The step as JSON data."""
        started = {"conversation_id" if self.kind == "agent" else "run_id": self.started}
        return {"id": self.id, "kind": self.kind, "status": self.status, **started} | {
            "output": self.output,
            "error": self.error,
        }


class SopReport(Frozen):
    """One run of a SOP as it stands."""

    run_id: str
    name: str
    status: str
    steps: tuple[StepReport, ...]
    approvals: tuple[ApprovalRequest, ...] = ()
    unknown: tuple[UnknownCall, ...] = ()

    @property
    def error(self) -> dict[str, Any] | None:
        """Why the run ended before its last step."""
        return self.steps[-1].error if self.status in ("failed", "denied") and self.steps else None

    def facts(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "run_id": self.run_id,
            "name": self.name,
            "status": self.status,
            "steps": [each.facts() for each in self.steps],
            "approvals": [each.short_facts() for each in self.approvals],
            "unknown": [vars(each) for each in self.unknown],
            "error": self.error,
        }
