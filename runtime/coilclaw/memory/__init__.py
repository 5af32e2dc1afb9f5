"""Conversations: what people, models and tools have said, kept and found again. Beside them, runs of SOPs."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.memory.conversations import Conversation, ConversationPage
    from coilclaw.memory.documents import is_kept_whole
    from coilclaw.memory.errors import (
        BadStep,
        BadTurn,
        NoSuchConversation,
        NoSuchMessage,
        NoSuchSopRun,
        PendingChanged,
        SopRunTaken,
    )
    from coilclaw.memory.memory import Cleared, Memory, create_ambient_table, create_tables
    from coilclaw.memory.search import Hit
    from coilclaw.memory.search_tool import make_search_tool
    from coilclaw.memory.sop_runs import (
        SopRecord,
        SopRuns,
        SopStatus,
        StepRecord,
        create_sop_tables,
    )
    from coilclaw.memory.turns import Role, Source, Turn, TurnDraft, TurnPage
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "conversations": "Conversation ConversationPage",
            "documents": "is_kept_whole",
            "errors": "BadStep BadTurn NoSuchConversation NoSuchMessage NoSuchSopRun PendingChanged SopRunTaken",
            "memory": "Cleared Memory create_ambient_table create_tables",
            "search": "Hit",
            "search_tool": "make_search_tool",
            "turns": "Role Source Turn TurnDraft TurnPage",
            "sop_runs": "StepRecord SopRecord SopRuns SopStatus create_sop_tables",
        },
    )

__all__ = [
    "BadStep",
    "BadTurn",
    "Cleared",
    "Conversation",
    "ConversationPage",
    "Hit",
    "Memory",
    "NoSuchConversation",
    "NoSuchMessage",
    "NoSuchSopRun",
    "PendingChanged",
    "Role",
    "SopRecord",
    "SopRunTaken",
    "SopRuns",
    "SopStatus",
    "Source",
    "StepRecord",
    "Turn",
    "TurnDraft",
    "TurnPage",
    "create_ambient_table",
    "create_sop_tables",
    "create_tables",
    "is_kept_whole",
    "make_search_tool",
]
