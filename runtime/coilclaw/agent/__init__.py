"""The agent: a loop in which a model writes Python, CoilClaw runs it, and answers are grounded in receipts."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.agent.agent import Agent
    from coilclaw.agent.answer import (
        Answer,
        AnswerStatus,
        CallChanged,
        ExchangeEvent,
        FailedSnippet,
        Listen,
        Problem,
        ProviderChanged,
        RoundStarted,
        SnippetStarted,
        TextReleased,
        WaitingForApproval,
        ignore,
    )
    from coilclaw.agent.errors import ConversationBusy, ConversationWaits, NothingToResume
    from coilclaw.agent.opening import open_agent
    from coilclaw.agent.prompt import activity_lines, as_data
    from coilclaw.agent.settings import AgentSettings, ModelChoice, Price
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "agent": "Agent",
            "answer": "Answer AnswerStatus CallChanged ExchangeEvent FailedSnippet Listen Problem ProviderChanged "
            "RoundStarted SnippetStarted TextReleased WaitingForApproval ignore",
            "errors": "ConversationBusy ConversationWaits NothingToResume",
            "opening": "open_agent",
            "prompt": "activity_lines as_data",
            "settings": "AgentSettings ModelChoice Price",
        },
    )

__all__ = [
    "Agent",
    "AgentSettings",
    "Answer",
    "AnswerStatus",
    "CallChanged",
    "ConversationBusy",
    "ConversationWaits",
    "ExchangeEvent",
    "FailedSnippet",
    "Listen",
    "ModelChoice",
    "NothingToResume",
    "Price",
    "Problem",
    "ProviderChanged",
    "RoundStarted",
    "SnippetStarted",
    "TextReleased",
    "WaitingForApproval",
    "activity_lines",
    "as_data",
    "ignore",
    "open_agent",
]
