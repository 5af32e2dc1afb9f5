"""Errors of the memory.

OperatorError
├── NoSuchConversation      there is no conversation of this id, or it was cleared
├── PendingChanged          the suspended turn was settled by someone else meanwhile
└── BadTurn                 a turn that cannot be kept as it is
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["BadTurn", "NoSuchConversation", "PendingChanged"]


class NoSuchConversation(OperatorError):
    """There is no conversation of this id, or somebody cleared the memory."""

    code = "no_such_conversation"


class PendingChanged(OperatorError):
    """A suspended turn was settled or suspended again by another process."""

    code = "pending_changed"


class BadTurn(OperatorError):
    """A turn with a role, a source or a document that no turn has."""

    code = "bad_turn"
