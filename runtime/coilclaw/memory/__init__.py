"""Conversations: what people, models and tools have said, kept and found again."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.memory.conversations import Conversation, ConversationPage
    from coilclaw.memory.errors import BadTurn, NoSuchConversation, PendingChanged
    from coilclaw.memory.memory import Cleared, Memory, create_tables
    from coilclaw.memory.search import Hit
    from coilclaw.memory.search_tool import make_search_tool
    from coilclaw.memory.turns import Role, Source, Turn, TurnDraft, TurnPage
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "conversations": "Conversation ConversationPage",
            "errors": "BadTurn NoSuchConversation PendingChanged",
            "memory": "Cleared Memory create_tables",
            "search": "Hit",
            "search_tool": "make_search_tool",
            "turns": "Role Source Turn TurnDraft TurnPage",
        },
    )

__all__ = [
    "BadTurn",
    "Cleared",
    "Conversation",
    "ConversationPage",
    "Hit",
    "Memory",
    "NoSuchConversation",
    "PendingChanged",
    "Role",
    "Source",
    "Turn",
    "TurnDraft",
    "TurnPage",
    "create_tables",
    "make_search_tool",
]
