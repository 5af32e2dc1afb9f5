"""The approval gate: permission for a call that needs a person's decision."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.call_receipts import bounded, following
from coilclaw.policy import AlreadyDecided, Answer, DamagedApproval, denial, runs_facts
from coilclaw.receipts import DamagedReceipt, now
from coilclaw.sandbox import POLL_SECONDS, RunEnded

if TYPE_CHECKING:
    from coilclaw.bridge.caller import Caller
    from coilclaw.bridge.services import Services
    from coilclaw.policy import Approval, Question
    from coilclaw.receipts import Draft, Row
    from coilclaw.sandbox import Deadline

__all__ = ["ApprovalGate", "Denied", "Pending", "Permission", "denied_by_person"]

_logger = logging.getLogger(__name__)


class Permission(NamedTuple):
    """Permission to start: receipts that come before the start, what the start uses up, and what it says of it."""

    drafts: tuple[Draft, ...] = ()
    rows: tuple[Row, ...] = ()
    facts: Mapping[str, str] = MappingProxyType({})


class Denied(NamedTuple):
    """A person denied the call, or nobody could be asked."""

    refusal: Refusal
    has_receipt: bool = False
    """Whether the log has the receipt of this denial already."""


class Pending(NamedTuple):
    """The question is on disk, and nobody has decided yet."""

    approval: Approval
    question: Question
    windows: bool = True
    """Whether a window for calls like this one permits it."""


class ApprovalGate:
    """Finds or requests approvals for the calls of one run."""

    def __init__(
        self, services: Services, caller: Caller, deadline: Deadline, claims: Callable[[], Sequence[Row]]
    ) -> None:
        """`claims` gives the rows that claim the run for this process: one that has lost its run asks nothing."""
        self._caller = caller
        self._claims = claims
        self._workspace = str(services.workspace)
        self._approvals = services.approvals if caller.suspends else None
        self._deadline = deadline

    def permission(
        self, question: Question, requested: Draft, *, windows: bool = True
    ) -> Permission | Denied | Pending:
        """Find or get a decision about this call; without one, the question is on disk before `Pending` is returned.

        Without `windows`, only a decision about this very call counts.
        """
        approvals, args_hash = self._approvals, str(requested.args_hash)
        known: Approval | None = None
        bound = runs_facts(question.runs_hash)
        if approvals is not None:
            known = approvals.of_call(question.run_id, question.number)
            if known is not None and known.status == "denied" and known.is_of_call(question, args_hash):
                # For good: an edited tool, another policy or a window do not undo it.
                said = denied_by_person(denial(str(known.decided_by), known.note))
                return self._unproven(known) or Denied(said, has_receipt=True)
            if known is not None and not known.is_for(question, args_hash):
                question = _asked_again(question, known, args_hash)
                known = None
            if known is not None and known.status == "granted":
                return self._unproven(known) or Permission((), (approvals.consume(known),), {"approval": known.id})
            if known is not None and known.status != "pending":
                known = None
            # After the answer to this very call, which would otherwise be left over while a window is used up.
            if windows and (window := approvals.usable(question.of_tool, self._workspace, question.arguments)):
                facts = {"decision": "window", "grant": window.id, **_decided(window.granted_by, "window"), **bound}
                rows = [approvals.use(window)] + (
                    [approvals.answered_here(known, bounded(window.granted_by))] if known else []
                )
                return Permission((following(requested, "tool.call.approved", "allowed", now(), facts),), tuple(rows))
        answer = self._put(question)
        decided = {"decision": answer.decision, **_decided(answer.decided_by, answer.scope), **bound}
        if answer.decision == "allow-once":
            here = (approvals.answered_here(known, bounded(answer.decided_by)),) if approvals and known else ()
            return Permission((following(requested, "tool.call.approved", "allowed", now(), decided),), here)
        if answer.decision == "deny":
            if approvals is not None and known is not None:
                return self._deny(known, question, requested, answer, windows)
            return Denied(denied_by_person(denial(answer.decided_by, None), decided))
        if approvals is not None:
            asked = known or approvals.ask(question, args_hash, requested, self._claims())
            return Pending(asked, question, windows)
        del decided["scope"]
        return Denied(
            Refusal(
                code="approval_required",
                message=f"a person has to approve this call ({question.reason}) and nobody could be asked",
                hint="run it where a person can be asked, or approve it in advance",
                denied=True,
                facts={**decided, "matched_rule": question.matched_rule},
            )
        )

    def _deny(
        self, known: Approval, question: Question, requested: Draft, answer: Answer, windows: bool
    ) -> Permission | Denied | Pending:
        """Deny a question that is on disk; if someone else decided first, follow that decision."""
        assert self._approvals is not None
        try:
            self._approvals.decide(known.id, approved=False, decided_by=answer.decided_by)
        except AlreadyDecided:
            return self.permission(question, requested, windows=windows)
        return Denied(denied_by_person(denial(answer.decided_by, None)), has_receipt=True)

    def _unproven(self, known: Approval) -> Denied | None:
        """Return a denial if the log has no receipt of this decision: the table alone could have been edited."""
        assert self._approvals is not None
        try:
            if self._approvals.is_proven(known):
                return None
            problem = f"the table says that {known.id} is {known.status}, and the log has no receipt of that decision"
        except DamagedReceipt as error:
            problem = f"{known.id} is {known.status}, and the log does not hold: {error.message}"
        hint = "a person finds out who changed the database; `coilclaw receipt verify` checks the log"
        return Denied(Refusal(code="approval_unproven", message=problem, hint=hint, denied=True))

    def is_decided(self, pending: Pending) -> bool:
        """Whether someone has decided meanwhile, or opened a window for calls like this one."""
        approvals, question = self._approvals, pending.question
        try:
            if approvals is None or approvals.get(pending.approval.id).status != "pending":
                return True
        except DamagedApproval:
            return True  # It is asked again.
        return pending.windows and approvals.usable(question.of_tool, self._workspace, question.arguments) is not None

    def wait(self, pending: Pending) -> None:
        """Wait here for a decision made elsewhere; the run's time stands still.

        Ends without one when the caller does not want to wait any longer.
        """
        pause = threading.Event()
        with self._deadline.paused():
            while self._caller.waits() and not self.is_decided(pending):
                self._deadline.end_if_over()
                pause.wait(POLL_SECONDS / 2)

    def _put(self, question: Question) -> Answer:
        try:
            with self._deadline.paused():
                answer = self._caller.approver.decide(question)
            if _is_answer(answer):
                return replace(answer, decided_by=bounded(answer.decided_by))
            _logger.warning(
                "asking about %s brought nothing that counts as an Answer: %s", question.tool, type(answer).__name__
            )
        except RunEnded:
            raise
        except BaseException as error:
            _logger.warning("asking about %s failed: %s", question.tool, type(error).__name__)
        return Answer(decision="unanswered", decided_by="nobody")


def _is_answer(answer: object) -> bool:
    """Whether an approver, which may be anybody's code, said something that counts."""
    return (
        isinstance(answer, Answer)
        and isinstance(answer.decided_by, str)
        and answer.decision in ("allow-once", "deny", "unanswered")
        and answer.scope in ("once", "plan")
    )


def _decided(by: str, scope: str) -> dict[str, str]:
    return {"decided_by": bounded(by), "scope": scope}


def _asked_again(question: Question, before: Approval, args_hash: str) -> Question:
    """Return the question again, with the reason why the earlier decision no longer counts."""
    if before.status not in ("pending", "granted") or not before.is_of_call(question, args_hash):
        return question
    changed = " and ".join(before.changes(question))
    verb = "have" if " and " in changed else "has"
    return replace(question, reason=f"{question.reason}; {changed} {verb} changed since {before.id}")


def denied_by_person(message: str, facts: Mapping[str, Any] = MappingProxyType({})) -> Refusal:
    """A person's denial, as the snippet receives it."""
    return Refusal(code="approval_denied", message=message, denied=True, facts=facts)
