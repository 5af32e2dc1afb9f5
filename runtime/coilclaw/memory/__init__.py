"""Conversations: what people, models and tools have said, kept and found again. Beside them, runs of workflows."""

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
        NoSuchWorkflowRun,
        PendingChanged,
        WorkflowRunTaken,
    )
    from coilclaw.memory.memory import Cleared, Memory, create_ambient_table, create_tables
    from coilclaw.memory.search import Hit
    from coilclaw.memory.search_tool import make_search_tool
    from coilclaw.memory.turns import Role, Source, Turn, TurnDraft, TurnPage
    from coilclaw.memory.workflow_runs import (
        StepRecord,
        WorkflowRecord,
        WorkflowRuns,
        WorkflowStatus,
        create_workflow_tables,
    )
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "conversations": "Conversation ConversationPage",
            "documents": "is_kept_whole",
            "errors": "BadStep BadTurn NoSuchConversation NoSuchMessage NoSuchWorkflowRun PendingChanged "
            "WorkflowRunTaken",
            "memory": "Cleared Memory create_ambient_table create_tables",
            "search": "Hit",
            "search_tool": "make_search_tool",
            "turns": "Role Source Turn TurnDraft TurnPage",
            "workflow_runs": "StepRecord WorkflowRecord WorkflowRuns WorkflowStatus create_workflow_tables",
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
    "NoSuchWorkflowRun",
    "PendingChanged",
    "Role",
    "Source",
    "StepRecord",
    "Turn",
    "TurnDraft",
    "TurnPage",
    "WorkflowRecord",
    "WorkflowRunTaken",
    "WorkflowRuns",
    "WorkflowStatus",
    "create_ambient_table",
    "create_tables",
    "create_workflow_tables",
    "is_kept_whole",
    "make_search_tool",
]
