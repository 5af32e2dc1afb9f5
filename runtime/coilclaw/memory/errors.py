"""Errors of the memory.

OperatorError
├── NoSuchConversation      there is no conversation of this id, or it was cleared
├── NoSuchMessage           the conversation has no message of this id
├── PendingChanged          the suspended turn was settled by someone else meanwhile
├── BadTurn                 a turn that cannot be kept as it is
├── BadStep                 a row of a workflow's step that is none
├── NoSuchWorkflowRun       there is no workflow run of this id
└── WorkflowRunTaken        a workflow run that is over, or that another process carries out
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = [
    "BadStep",
    "BadTurn",
    "NoSuchConversation",
    "NoSuchMessage",
    "NoSuchWorkflowRun",
    "PendingChanged",
    "WorkflowRunTaken",
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
    """A suspended turn was settled or suspended again by another process."""

    code = "pending_changed"


class BadTurn(OperatorError):
    """A turn with a role, a source or a document that no turn has."""

    code = "bad_turn"


class BadStep(OperatorError):
    """A row of a workflow's step that this program has not written."""

    code = "bad_step"

    def __init__(self, run_id: str, number: object) -> None:
        super().__init__(f"what is kept of step {number} of {run_id} cannot be read", hint="start the workflow again")


class NoSuchWorkflowRun(OperatorError):
    """There is no workflow run of this id."""

    code = "no_such_workflow_run"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"there is no workflow run {run_id!r}", hint="`coilclaw sop list` shows the latest runs")


class WorkflowRunTaken(OperatorError):
    """A workflow run that cannot be continued here: it is over, or another process carries it out."""

    code = "workflow_run_taken"

    def __init__(self, run_id: str, state: str) -> None:
        super().__init__(f"{run_id} cannot be resumed: it is {state}", hint="`coilclaw sop list` shows the latest runs")
