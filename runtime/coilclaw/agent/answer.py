"""The answer to a message, and what is reported while it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest, UnknownCall
    from coilclaw.evidence import Claim
    from coilclaw.providers import Usage
    from coilclaw.sdk import ActivityItem

__all__ = [
    "Answer",
    "AnswerStatus",
    "CallChanged",
    "ExchangeEvent",
    "FailedSnippet",
    "Listen",
    "Problem",
    "ProviderChanged",
    "RoundStarted",
    "SnippetStarted",
    "TextReleased",
    "WaitingForApproval",
    "ignore",
]

_ENDS: Final = {
    "failed": "ended with an error",
    "rejected": "was not accepted, and nothing of it ran",
    "timed_out": "ran out of time",
    "out_of_memory": "ran out of memory",
    "output_exceeded": "printed or returned too much",
    "cancelled": "was cancelled",
    "crashed": "was ended by a crash",
    "diverged": "did not repeat what it had done before",
}
AnswerStatus: TypeAlias = Literal["answered", "waiting", "stopped", "cancelled", "failed"]
"""`stopped`: a limit or the emergency stop ended the exchange before the model could."""


class Problem(Frozen):
    """Why an exchange has no answer, and what to do about it."""

    code: str
    message: str
    hint: str | None = None


class FailedSnippet(Frozen):
    """A snippet that did not come to its end, as the last receipt of its run says."""

    run_id: str
    status: str
    """`failed`, `rejected`, `timed_out`, …: the status of the run."""
    receipt_ref: str

    @property
    def words(self) -> str:
        """How it ended, in words of code alone: its own error is text that a model may have written."""
        return f"A snippet {_ENDS.get(self.status, 'did not come to its end')}"


class Answer(Frozen):
    """What came of one message: the text that may be shown, and what was done, from receipts."""

    conversation_id: str
    turn_id: str | None
    """The turn that holds the answer; None while there is none."""
    status: AnswerStatus
    text: str
    """The model's text, checked: claims that no receipt supports are labelled."""
    actions: str = ""
    """What was done, failed, was denied or waits: written by code from receipts. Empty if nothing was."""
    activity: tuple[ActivityItem, ...] = ()
    """The relevant calls of this exchange."""
    folded_reads: int = 0
    failed_snippets: tuple[FailedSnippet, ...] = ()
    """Snippets of this exchange that did not come to their end; `actions` says so, too."""
    claims: tuple[Claim, ...] = ()
    """What the text says about actions, each with a verdict."""
    approvals: tuple[ApprovalRequest, ...] = ()
    unknown: tuple[UnknownCall, ...] = ()
    """Calls of unknown outcome that a waiting answer needs a decision about."""
    provider: str = ""
    model: str = ""
    usage: Usage | None = None
    error: Problem | None = None
    run_ids: tuple[str, ...] = field(default=())
    """The runs of this exchange."""

    @property
    def grounded(self) -> bool:
        """Whether receipts support everything that the text claims."""
        return all(each.is_supported for each in self.claims)

    def facts(self) -> dict[str, Any]:
        """The answer as JSON data."""
        usage, error = self.usage, self.error
        return {
            "conversation_id": self.conversation_id,
            "turn_id": self.turn_id,
            "status": self.status,
            "text": self.text,
            "actions": self.actions,
            "activity": [item._asdict() for item in self.activity],
            "folded_reads": self.folded_reads,
            "failed_snippets": [vars(each) for each in self.failed_snippets],
            "grounded": self.grounded,
            "claims": [
                {"text": each.text, "verdict": each.verdict, "receipt_ref": each.receipt_ref} for each in self.claims
            ],
            "approvals": [each.short_facts() for each in self.approvals],
            "unknown": [vars(each) for each in self.unknown],
            "run_ids": list(self.run_ids),
            "provider": self.provider,
            "model": self.model,
            "usage": None if usage is None else vars(usage),
            "error": None if error is None else vars(error),
        }


class RoundStarted(Frozen):
    """The model is asked, for the first time in this exchange or with results of tools."""

    number: int
    conversation_id: str = ""


class TextReleased(Frozen):
    """Text of the model that has been checked and may be shown."""

    text: str


class SnippetStarted(Frozen):
    """A snippet of the model is about to run."""

    source: str


class CallChanged(Frozen):
    """A call of this exchange has another state than before."""

    item: ActivityItem


class WaitingForApproval(Frozen):
    """The exchange is suspended until a person decides."""

    approvals: tuple[ApprovalRequest, ...]


class ProviderChanged(Frozen):
    """Another provider than the last one answered."""

    before: str
    after: str
    reason: str = ""


ExchangeEvent: TypeAlias = (
    RoundStarted | TextReleased | SnippetStarted | CallChanged | WaitingForApproval | ProviderChanged
)
Listen: TypeAlias = Callable[[ExchangeEvent], None]


def ignore(event: ExchangeEvent) -> None:
    """Do nothing about an event."""
    return
