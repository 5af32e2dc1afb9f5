"""Errors of conversations.

CoilClawError
└── OperatorError
    ├── ConversationWaits      a call of the conversation waits for a decision
    ├── ConversationBusy       this conversation is being answered
    └── NothingToResume        the last exchange of the conversation is complete
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
    """This conversation is being answered, by this process or another one."""

    code = "conversation_busy"

    def __init__(self, conversation: str) -> None:
        super().__init__(f"{conversation} is being answered at the moment", hint="try again when it has its answer")


class NothingToResume(OperatorError):
    """The last exchange of the conversation is complete, or there is none."""

    code = "nothing_to_resume"

    def __init__(self, conversation: str) -> None:
        super().__init__(f"nothing waits in {conversation}", hint="say something: `coilclaw agent -m TEXT --continue`")
