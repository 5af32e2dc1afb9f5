"""Errors of the memory.

OperatorError
├── NoSuchConversation      there is no conversation of this id, or it was cleared
├── NoSuchMessage           the conversation has no message of this id
├── PendingChanged          the suspended exchange was settled by someone else meanwhile
├── BadTurn                 a turn that cannot be kept as it is
├── BadStep                 a row of a SOP's step that is none
├── NoSuchSopRun            there is no SOP run of this id
└── SopRunTaken             a SOP run that is over, or that another process carries out
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = [
    "BadStep",
    "BadTurn",
    "NoSuchConversation",
    "NoSuchMessage",
    "NoSuchSopRun",
    "PendingChanged",
    "SopRunTaken",
]


class NoSuchConversation(OperatorError):
    """There is no conversation of this id, or somebody cleared the memory."""

    code = "no_such_conversation"


class NoSuchMessage(OperatorError):
    """The conversation has no message of this id: it may be one of another conversation."""

    code = "no_such_message"

    def __init__(self, conversation_id: str, message_id: str) -> None:
        super().__init__(f"{conversation_id[:100]} has no message {message_id[:100]!r}", hint="look at its messages")


class PendingChanged(OperatorError):
    """A suspended exchange was settled or suspended again by another process."""

    code = "pending_changed"


class BadTurn(OperatorError):
    """A turn with a role, a source or a document that no turn has."""

    code = "bad_turn"


class BadStep(OperatorError):
    """A row of a SOP's step that this program has not written."""

    code = "bad_step"

    def __init__(self, run_id: str, number: object) -> None:
        super().__init__(f"what is kept of step {number} of {run_id} cannot be read", hint="start the SOP again")


class NoSuchSopRun(OperatorError):
    """There is no SOP run of this id."""

    code = "no_such_sop_run"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"there is no SOP run {run_id!r}", hint="`coilclaw sop list` shows the latest runs")


class SopRunTaken(OperatorError):
    """A SOP run that cannot be continued here: it is over, or another process carries it out."""

    code = "sop_run_taken"

    def __init__(self, run_id: str, state: str) -> None:
        super().__init__(f"{run_id} cannot be resumed: it is {state}", hint="`coilclaw sop list` shows the latest runs")
