"""Errors of conversations.

CoilClawError
└── OperatorError
    ├── ConversationWaits      a call of the conversation waits for a decision
    ├── ConversationBusy       another process answers in this conversation
    └── NothingToResume        the last turn of the conversation is complete
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["ConversationBusy", "ConversationWaits", "NothingToResume"]


class ConversationWaits(OperatorError):
    """A call of this conversation waits for a person's decision; a new message comes after that."""

    code = "conversation_waits"

    def __init__(self, conversation: str) -> None:
        super().__init__(
            f"{conversation} waits for a decision",
            hint=f"decide with `coilclaw approval list`, then `coilclaw agent --resume {conversation}`",
        )


class ConversationBusy(OperatorError):
    """Another process answers in this conversation at the moment."""

    code = "conversation_busy"

    def __init__(self, conversation: str) -> None:
        super().__init__(f"another process answers in {conversation} at the moment", hint="try again when it has ended")


class NothingToResume(OperatorError):
    """The last turn of the conversation is complete, or there is none."""

    code = "nothing_to_resume"

    def __init__(self, conversation: str) -> None:
        super().__init__(f"nothing waits in {conversation}", hint="say something: `coilclaw agent -m TEXT --continue`")
