"""Plans: what a snippet would do, found out in a rehearsal, and a person's yes to exactly that."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coilclaw.bridge import RunHeader
from coilclaw.policy import Answer, Approver, Question
from coilclaw.receipts import ReceiptLog, digest
from coilclaw.runs.report import RunReport
from coilclaw.runs.start import RunOrigin
from coilclaw.sdk import OperatorError, Receipt, Risk
from coilclaw.sdk.frozen import Frozen

__all__ = ["ApprovedPlan", "Plan", "PlanNotUsable", "PlannedAnswers", "PlannedCall", "Rehearsal", "planned_calls"]


class PlanNotUsable(OperatorError):
    """The plan is not for this run, or was carried out already: rehearse again."""

    code = "plan_not_usable"


class PlannedCall(Frozen):
    """One call of a rehearsal."""

    number: int
    line: int
    tool: str
    tool_version: str | None
    risk: Risk | None
    args_hash: str
    arguments: str
    """As JSON, with secrets taken out."""
    verdict: Literal["allow", "ask", "deny"] | None
    """What policy says; None if the call did not come so far."""
    stubbed: bool
    """Whether it was answered with a made-up value instead of being made."""
    outcome: str
    """`succeeded`, `stubbed`, or the code of the failure."""
    reason: str | None = None
    runs_hash: str | None = None
    runs: str | None = None
    """What will run, if the tool says more about that than the arguments do."""


class Plan(Frozen):
    """The calls of a rehearsal, and what they hold for."""

    rehearsal: str
    header: RunHeader
    calls: tuple[PlannedCall, ...]

    @property
    def questions(self) -> tuple[PlannedCall, ...]:
        """The calls a person would be asked about."""
        return tuple(call for call in self.calls if call.stubbed and call.verdict == "ask")


class Rehearsal(Frozen):
    """A run in which reads were made and everything else was answered with made-up values."""

    report: RunReport
    plan: Plan


class ApprovedPlan:
    """A person's yes to a plan: for each call once, in one run, and only if nothing about it has changed."""

    def __init__(self, plan: Plan, decided_by: str) -> None:
        self._plan = plan
        self._decided_by = f"{decided_by} (plan of {plan.rehearsal})"
        self._lock = threading.Lock()
        self._left = {call.number: call for call in plan.questions}
        self._claimed = False
        # Known before the run begins, so that the yes cannot be meant for another.
        self.beginning = RunOrigin(seed=plan.header.seed, clock=plan.header.clock)

    def claim(self, header: RunHeader) -> None:
        """The run that carries out the plan begins. Raises PlanNotUsable for a second one, or for another snippet."""
        with self._lock:
            spent, self._claimed = self._claimed, True
        if spent:
            raise PlanNotUsable("this plan was carried out already", hint="rehearse it again")
        if header != self._plan.header:
            raise PlanNotUsable(
                "the plan is for another snippet, other inputs, another engine, other limits or another policy",
                hint="rehearse this one",
            )

    def answer(self, question: Question) -> Answer | None:
        """The yes to this call, which is used up by it; None if the plan says nothing about it."""
        with self._lock:
            call = self._left.get(question.number)
            if call is None or not self._claimed or not self._is_planned(call, question):
                return None
            del self._left[question.number]
        return Answer(decision="allow-once", decided_by=self._decided_by, scope="plan")

    def _is_planned(self, call: PlannedCall, question: Question) -> bool:
        return (
            question.run_id == self.beginning.run_id
            and question.tool == call.tool
            and question.tool_version == call.tool_version
            and question.risk is call.risk
            and question.policy_hash == self._plan.header.policy_hash
            and digest(question.arguments.encode()) == call.args_hash
            and question.runs_hash == call.runs_hash
        )


@dataclass(frozen=True)
class PlannedAnswers:
    """Answers what the plan answers. Whatever else is asked goes to the person, as without a plan."""

    approved: ApprovedPlan
    otherwise: Approver

    def decide(self, question: Question) -> Answer:
        return self.approved.answer(question) or self.otherwise.decide(question)


def planned_calls(receipts: Sequence[Receipt], log: ReceiptLog) -> tuple[PlannedCall, ...]:
    """The calls of a rehearsal as its receipts tell of them, in the order in which they were issued."""
    asked: dict[str, Receipt] = {}
    ended: dict[str, Receipt] = {}
    started: set[str] = set()
    for receipt in receipts:
        call_id = receipt.tool_call_id
        if call_id is None:
            continue
        if receipt.type == "tool.call.requested":
            asked[call_id] = receipt
        elif receipt.type == "tool.call.started":
            started.add(call_id)
        elif receipt.type in ("tool.call.succeeded", "tool.call.failed", "tool.call.denied"):
            ended[call_id] = receipt
    calls = [_planned(each, ended.get(call_id), call_id in started, log) for call_id, each in asked.items()]
    return tuple(sorted(calls, key=lambda call: call.number))


def _planned(asked: Receipt, end: Receipt | None, started: bool, log: ReceiptLog) -> PlannedCall:
    facts = end.payload if end is not None else {}
    code = str(facts.get("code", ""))
    stubbed = code == "dry_run" and not started
    verdict: Literal["allow", "ask", "deny"] | None = None
    if stubbed:
        verdict = "ask" if facts.get("verdict") == "ask" else "allow"
    elif started:
        verdict = "allow"
    elif code == "denied":
        verdict = "deny"
    succeeded = end is not None and end.type == "tool.call.succeeded"
    reason = facts.get("reason") if stubbed else None if succeeded else facts.get("message")
    runs_hash = facts.get("runs_hash") if stubbed else None
    return PlannedCall(
        number=int(asked.payload["number"]),
        line=int(asked.payload["line"]),
        tool=str(asked.tool),
        tool_version=asked.tool_version,
        risk=(end or asked).risk,
        args_hash=str(asked.args_hash),
        arguments=(log.contents(str(asked.args_hash)) or b"").decode("utf-8", "replace"),
        verdict=verdict,
        stubbed=stubbed,
        outcome="stubbed" if stubbed else "succeeded" if succeeded else code or "unknown",
        reason=str(reason) if reason else None,
        runs_hash=runs_hash,
        runs=None if runs_hash is None else (log.contents(runs_hash) or b"").decode(),
    )
