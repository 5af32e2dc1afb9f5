"""The agent: a loop in which a model writes Python, CoilClaw runs it, and answers are grounded in receipts."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.agent.action_section import action_lines
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
    from coilclaw.agent.evidence import ConversationActivity
    from coilclaw.agent.opening import open_agent
    from coilclaw.agent.prompt import activity_lines, as_data
    from coilclaw.agent.settings import AgentSettings, ModelChoice, Price
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "action_section": "action_lines",
            "agent": "Agent",
            "answer": "Answer AnswerStatus CallChanged ExchangeEvent FailedSnippet Listen Problem ProviderChanged "
            "RoundStarted SnippetStarted TextReleased WaitingForApproval ignore",
            "errors": "ConversationBusy ConversationWaits NothingToResume",
            "evidence": "ConversationActivity",
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
    "ConversationActivity",
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
    "action_lines",
    "activity_lines",
    "as_data",
    "ignore",
    "open_agent",
]
