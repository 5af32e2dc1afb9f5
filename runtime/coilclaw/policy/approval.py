"""Approvals: the question about one call, who is asked, and the decision."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from coilclaw.policy.decisions import CallOfTool, Standpoint
from coilclaw.receipts import Draft, digest, now
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.sdk import Risk

__all__ = ["Answer", "Approval", "ApproveAll", "Approver", "NobodyToAsk", "Question", "denial", "runs_facts"]


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
    """Answers questions, however long that takes. One left `unanswered` suspends the run, if its caller allows that."""

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


class Approval(Frozen):
    """One question and what became of it."""

    id: str
    run_id: str
    number: int
    call_id: str
    conversation_id: str | None
    tool: str
    tool_version: str
    args_hash: str
    policy_hash: str
    risk: str
    reason: str
    line: int | None
    status: Literal["pending", "granted", "denied", "expired", "consumed"]
    created_at: int
    expires_at: int
    decided_by: str | None = None
    decided_at: int | None = None
    decided_after: int | None = None
    """A receipt before the one of the decision: where to begin to look for that."""
    note: str | None = None
    """What the person said with a no."""
    runs_hash: str | None = None
    """Of what will run, if the tool says more about that than the arguments do."""

    @property
    def standpoint(self) -> Standpoint:
        """What its decision is bound to, as the receipt of it says."""
        return (
            self.run_id,
            self.call_id,
            self.tool,
            self.tool_version,
            self.args_hash,
            self.policy_hash,
            self.expires_at,
            self.decided_by,
            self.runs_hash,
        )

    @property
    def digest(self) -> str:
        """What a decision about it is bound to, in one text: the run, the number of the call, its tool and version,
        its arguments, the policy, and what will run."""
        bound = (self.run_id, self.number, self.tool, self.tool_version, self.args_hash, self.policy_hash)
        return digest(json.dumps([*bound, self.runs_hash]).encode())

    @property
    def shown_facts(self) -> dict[str, str | int | None]:
        """What the receipt of the question says beside what every receipt of a call does."""
        names = ("reason", "number", "line", "policy_hash", "created_at", "expires_at")
        return {name: getattr(self, name) for name in names}

    @property
    def of_tool(self) -> CallOfTool:
        return CallOfTool(self.tool, self.tool_version, self.policy_hash)

    def is_of_call(self, question: Question, args_hash: str) -> bool:
        """Whether it was asked about this call, whatever has become of its tool and the policy since."""
        asked = (question.run_id, question.number, question.call_id, question.tool, args_hash)
        return (self.run_id, self.number, self.call_id, self.tool, self.args_hash) == asked

    def is_for(self, question: Question, args_hash: str) -> bool:
        """Whether it was asked about exactly this call, which would run the same, under the policy that is in force."""
        return not self.changes(question) and self.is_of_call(question, args_hash)

    def changes(self, question: Question) -> Sequence[str]:
        """What is not as it was when this was asked, in words."""
        compared = (
            ("the tool", self.tool_version, question.tool_version),
            ("the policy", self.policy_hash, question.policy_hash),
            ("what it runs", self.runs_hash, question.runs_hash),
        )
        return [what for what, then, now in compared if then != now]

    def decision(self, granted: bool, decided_by: str, note: str | None) -> Draft:
        """The receipt of a person's answer."""
        payload: dict[str, str | int] = {
            "decision": "allow-once" if granted else "deny",
            "decided_by": decided_by,
            "scope": "once",
            "policy_hash": self.policy_hash,
            "expires_at": self.expires_at,
        }
        if granted:
            return self.draft("tool.call.approved", "allowed", payload)
        payload |= {"code": "approval_denied", "message": denial(decided_by, note)}
        return self.draft("tool.call.denied", "denied", payload)

    def draft(self, kind: str, status: str, payload: Mapping[str, Any]) -> Draft:
        return Draft(
            type=kind,
            status=status,
            timestamp=now(),
            run_id=self.run_id,
            conversation_id=self.conversation_id,
            tool_call_id=self.call_id,
            tool=self.tool,
            tool_version=self.tool_version,
            risk=self.risk,
            args_hash=self.args_hash,
            payload={"approval": self.id, **runs_facts(self.runs_hash), **payload},
        )


def denial(decided_by: str, note: str | None) -> str:
    """The message that a snippet receives with a denial."""
    return f"{decided_by} said no: {note}" if note else f"{decided_by} said no"


def runs_facts(runs_hash: str | None) -> dict[str, str]:
    """What a receipt says of what will run; nothing if the arguments say it all."""
    return {} if runs_hash is None else {"runs_hash": runs_hash}
