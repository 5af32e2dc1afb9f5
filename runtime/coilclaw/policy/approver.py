"""Ask a person about one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from coilclaw.policy.decisions import CallOfTool
from coilclaw.receipts import digest
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.sdk import Risk

__all__ = ["Answer", "ApproveAll", "Approver", "NobodyToAsk", "Question"]


class Question(Frozen):
    """Exactly what would run: the answer holds for this call and no other."""

    run_id: str
    call_id: str
    number: int
    tool: str
    tool_version: str
    risk: Risk
    reason: str
    arguments: str
    line: int | None
    policy_hash: str = ""
    matched_rule: str = ""
    """What demands approval: see `Verdict.matched_rule`."""
    runs: str | None = None
    """What will run, if its tool says more about that than the arguments do."""

    @property
    def runs_hash(self) -> str | None:
        return None if self.runs is None else digest(self.runs.encode())

    @property
    def of_tool(self) -> CallOfTool:
        return CallOfTool(self.tool, self.tool_version, self.policy_hash)


class Answer(Frozen):
    """A decision and who made it."""

    decision: Literal["allow-once", "deny", "unanswered"]
    decided_by: str
    scope: Literal["once", "plan"] = "once"
    """What the person looked at: this call alone, or a plan that it is part of."""


class Approver(Protocol):
    """Answers questions, however long that takes. A later kind may end the run instead, to be resumed."""

    def decide(self, question: Question) -> Answer: ...


class NobodyToAsk:
    """No terminal, no operator: a call that needs a yes does not happen."""

    def decide(self, question: Question) -> Answer:
        return Answer(decision="unanswered", decided_by="nobody")


class ApproveAll:
    """The person said yes to everything in advance."""

    def __init__(self, decided_by: str) -> None:
        self._decided_by = decided_by

    def decide(self, question: Question) -> Answer:
        return Answer(decision="allow-once", decided_by=self._decided_by)
