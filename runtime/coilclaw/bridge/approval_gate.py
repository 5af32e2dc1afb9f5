"""Ask a person about a call: now, or later."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.call_receipts import bounded, following
from coilclaw.bridge.caller import Caller
from coilclaw.bridge.services import Services
from coilclaw.policy import AlreadyDecided, Answer, Approval, Question, denial, runs_facts
from coilclaw.receipts import DamagedReceipt, Draft, Row, now
from coilclaw.sandbox import POLL_SECONDS, Deadline, RunEnded

__all__ = ["ApprovalGate", "Denied", "Permission", "Waiting", "denied_by_person"]

_logger = logging.getLogger(__name__)


class Permission(NamedTuple):
    """A yes: receipts that come before the start, what the start uses up, and what it says of it."""

    drafts: tuple[Draft, ...] = ()
    rows: tuple[Row, ...] = ()
    facts: Mapping[str, str] = MappingProxyType({})


class Denied(Exception):
    """A no, or nobody there. `decided` is what the receipt of it says; None if that was written already."""

    def __init__(self, refusal: Refusal, decided: dict[str, str] | None) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal
        self.decided = decided


class Waiting(Exception):
    """The question is written down and nobody has answered it."""

    def __init__(self, approval: Approval, question: Question) -> None:
        super().__init__(approval.id)
        self.approval = approval
        self.question = question


class ApprovalGate:
    """Puts the questions of one run."""

    def __init__(self, services: Services, caller: Caller, deadline: Deadline) -> None:
        self._caller = caller
        self._workspace = str(services.workspace)
        self._approvals = services.approvals if caller.suspends else None
        self._deadline = deadline

    def permission(self, question: Question, requested: Draft) -> Permission:
        """What allows this call. Raises `Denied`, or `Waiting` once the question is on disk."""
        book, args_hash = self._approvals, str(requested.args_hash)
        known: Approval | None = None
        bound = runs_facts(question.runs_hash)
        if book is not None:
            known = book.of_call(question.run_id, question.number)
            if known is not None and known.status == "denied" and known.is_of_call(question, args_hash):
                # For good: an edited tool, another policy or a window do not undo it.
                self._demand_receipt(known)
                raise Denied(denied_by_person(denial(str(known.decided_by), known.note)), None)
            if known is not None and not known.is_for(question, args_hash):
                question = _asked_again(question, known, args_hash)
                known = None
            if known is not None and known.status == "granted":
                self._demand_receipt(known)
                return Permission((), (book.consume(known),), {"approval": known.id})
            if known is not None and known.status != "pending":
                known = None
            # After the answer to this very call, which would otherwise be left over while a window is used up.
            if grant := book.usable(question.of_tool, self._workspace, question.arguments):
                facts = {"decision": "window", "grant": grant.id, "decided_by": bounded(grant.granted_by), **bound}
                rows = [book.use(grant)] + ([book.answered_here(known, grant.granted_by)] if known else [])
                return Permission((following(requested, "tool.call.approved", "allowed", now(), facts),), tuple(rows))
        answer = self._put(question)
        decided = {"decision": answer.decision, "decided_by": bounded(answer.decided_by), **bound}
        if answer.decision == "allow-once":
            here = (book.answered_here(known, answer.decided_by),) if book is not None and known is not None else ()
            return Permission((following(requested, "tool.call.approved", "allowed", now(), decided),), here)
        if answer.decision == "deny":
            if book is not None and known is not None:
                return self._deny(known, question, requested, answer)
            raise Denied(denied_by_person(denial(answer.decided_by, None)), decided)
        if book is None:
            raise Denied(
                Refusal(
                    code="approval_required",
                    message=f"a person has to approve this call ({question.reason}) and nobody could be asked",
                    hint="run it on a terminal, or with --yes to approve everything in advance",
                    denied=True,
                ),
                decided,
            )
        raise Waiting(known or book.ask(question, args_hash, requested), question)

    def _deny(self, known: Approval, question: Question, requested: Draft, answer: Answer) -> Permission:
        """A no to a question that was written down closes it, unless someone else was first: then that holds."""
        assert self._approvals is not None
        try:
            self._approvals.decide(known.id, granted=False, decided_by=bounded(answer.decided_by))
        except AlreadyDecided:
            return self.permission(question, requested)
        raise Denied(denied_by_person(denial(bounded(answer.decided_by), None)), None)

    def _demand_receipt(self, known: Approval) -> None:
        """A table can be edited; a decision counts if the log has it."""
        assert self._approvals is not None
        try:
            if self._approvals.is_proven(known):
                return
            problem = f"the table says that {known.id} is {known.status}, and the log has no receipt of that decision"
        except DamagedReceipt as error:
            problem = f"{known.id} is {known.status}, and the log does not hold: {error.message}"
        hint = "a person finds out who changed the database; `coilclaw receipt verify` checks the log"
        raise Denied(Refusal(code="approval_unproven", message=problem, hint=hint, denied=True), {})

    def is_decided(self, waiting: Waiting) -> bool:
        """Whether someone has answered meanwhile, or opened a window for calls like this one."""
        book, question = self._approvals, waiting.question
        if book is None or book.get(waiting.approval.id).status != "pending":
            return True
        return book.usable(question.of_tool, self._workspace, question.arguments) is not None

    def stay(self, waiting: Waiting) -> None:
        """Wait here for the answer of someone elsewhere; the run's time stands still.

        Ends without one when nobody wants to stay any longer.
        """
        pause = threading.Event()
        with self._deadline.paused():
            while self._caller.waits() and not self.is_decided(waiting):
                self._deadline.end_if_over()
                pause.wait(POLL_SECONDS / 2)

    def _put(self, question: Question) -> Answer:
        try:
            with self._deadline.paused():
                return self._caller.approver.decide(question)
        except RunEnded:
            raise
        except BaseException as error:
            _logger.warning("asking about %s failed: %s", question.tool, type(error).__name__)
            return Answer(decision="unanswered", decided_by="nobody")


def _asked_again(question: Question, before: Approval, args_hash: str) -> Question:
    """The question about a call that was asked about before: it says why an answer to that does not count."""
    if before.status not in ("pending", "granted") or not before.is_of_call(question, args_hash):
        return question
    changed = " and ".join(before.changes(question))
    verb = "have" if " and " in changed else "has"
    return replace(question, reason=f"{question.reason}; {changed} {verb} changed since {before.id}")


def denied_by_person(message: str) -> Refusal:
    """A person's no, as the snippet gets it."""
    return Refusal(code="approval_denied", message=message, denied=True)
