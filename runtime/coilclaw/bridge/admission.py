"""Admission: everything that a call passes before its handler runs, in the order that docs/architecture.md gives.

The result is one of five values, and whatever refuses a call has its receipts by then.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.approval_gate import ApprovalGate, Denied, Pending, Permission, denied_by_person
from coilclaw.bridge.arguments import validate
from coilclaw.bridge.call_context import CallContexts
from coilclaw.bridge.call_receipts import CallReceipts, bounded, following, refused
from coilclaw.bridge.calls import Admitted, Answered, Call, UnknownOutcome
from coilclaw.bridge.calls_under_way import TAKEN_OVER, WITHDRAWN, CallsUnderWay
from coilclaw.bridge.evidence_budget import EvidenceBudget, is_small
from coilclaw.bridge.identified_call import Divergence, Identity, call_difference, identify
from coilclaw.bridge.policy_check import PolicyCheck, denial_by_policy, rule_facts
from coilclaw.bridge.prior_calls import PriorCall, PriorCalls, Retry
from coilclaw.bridge.redaction import may_be_redacted
from coilclaw.bridge.reuse import Doubt, Reused
from coilclaw.bridge.run_spec import RunSpec
from coilclaw.bridge.services import Services
from coilclaw.policy import Question, Verdict, runs_facts
from coilclaw.receipts import Conflict, Draft, digest, now
from coilclaw.sandbox import Failed, RunEnded, SnippetError
from coilclaw.sdk import Decision, Forbid, Risk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coilclaw.sdk import Tool, ToolContext

__all__ = ["Admission", "AdmissionResult"]

_MOST_ATTEMPTS: Final = 3
_DRY_RUN: Final = Refusal(code="dry_run", message="not called: this is a rehearsal", denied=True)
_COUNTED_AS_FAILED: Final = Refusal(
    code="unknown_outcome",
    message="the process ended while the tool ran; a person decided that this counts as failed",
    hint="look at what the tool did before you call it again",
    facts={"decision": "failed", "decided_by": "operator"},
)

AdmissionResult: TypeAlias = Admitted | Refusal | Answered | Pending | UnknownOutcome


class _JudgedCall(NamedTuple):
    """A valid call that its tool and policy have judged."""

    identity: Identity
    tool: Tool
    input: Any
    context: ToolContext
    requested: Draft
    risk: Risk
    runs: str | None
    why: str
    verdict: Verdict

    @property
    def call(self) -> Call:
        return self.identity.call

    @property
    def reason(self) -> str:
        told = f"{self.verdict.reason}: {self.why}" if self.why else self.verdict.reason
        return self.identity.redaction.text(told)

    @property
    def large(self) -> dict[str, bytes] | None:
        """Arguments that were too large to be kept with the request."""
        identity = self.identity
        return None if is_small(identity.kept) else {identity.args_hash: identity.kept}


class Admission:
    """Admits the calls of one run."""

    def __init__(
        self,
        services: Services,
        run: RunSpec,
        receipts: CallReceipts,
        budget: EvidenceBudget,
        under_way: CallsUnderWay,
    ) -> None:
        self._services = services
        self._run = run
        self._receipts = receipts
        self._budget = budget
        self._under_way = under_way
        self._policy = PolicyCheck(services, run)
        self._contexts = CallContexts(services, run, under_way)
        self._prior = PriorCalls(run.prior, run.unknown)
        self.gate = ApprovalGate(services, run.caller, run.deadline, receipts.claim)
        self.unmet: set[str] = set()
        """Codes of refusals a person could lift: `approval_required`, `missing_secret`."""

    def admit(self, name: str, sent: bytes, line: int, number: int, *, stops: bool) -> AdmissionResult:
        """Decide about a call, and record that it is started if it may run."""
        for attempt in range(_MOST_ATTEMPTS):
            try:
                result = self._examine(name, sent, line, number, stops, is_recorded=attempt > 0)
                return self._under_way.start(result) if isinstance(result, Admitted) else result
            except Conflict:
                continue  # What permitted the call ran out, or was used elsewhere: it is decided again.
        # Three conflicts in a row: another process holds this run.
        raise RunEnded(TAKEN_OVER)

    def _examine(
        self, name: str, sent: bytes, line: int, number: int, stops: bool, *, is_recorded: bool
    ) -> AdmissionResult:
        """Put a call through everything that could refuse it, in a fixed order.

        With `is_recorded`, the log has the request already, because this is done again.
        """
        identity = identify(self._services, self._run, name, sent, line, number, stops=stops)
        call, tool, prior = identity.call, identity.call.tool, self._prior.get(number)
        if number > self._run.limits.calls:
            raise self._too_many(identity)
        repeats = prior is not None and prior.state == "started"
        stopped = self._under_way.estop.refusal()
        input = self._input(identity, stopped, repeats)
        requested = self._receipts.requested(identity)
        if prior is None:
            if not is_recorded:
                self._record_request(identity, requested)
        elif (settled := self._settled(identity, prior, stopped)) is not None:
            return settled
        problem = input if isinstance(input, Refusal) else self._hindrance(identity, input, repeats)
        if problem is not None:
            return self._receipts.refuse(call, requested, problem, identity.kept)
        assert tool is not None  # That would have been the problem.
        context = self._contexts.of(call, tool, identity.secrets)
        classified = self._policy.classify(identity, tool, input, context)
        if classified is None:
            # If it may have run, "denied" would be a lie.
            return UnknownOutcome(call) if repeats else self._refuse_unclassified(identity, tool, requested)
        retry: Retry | None = None
        if prior is not None and repeats:
            said = self._prior.retry(prior, tool, classified.opinion)
            if not isinstance(said, Retry):
                return UnknownOutcome(call) if said is None else self._count_as_failed(call, requested)
            retry = said
        elif classified.runs is not None and not self._has_room(classified.runs.encode()):
            return self._receipts.refuse(call, requested, self._budget.refusal(), identity.kept)
        verdict = self._policy.decide(tool, classified.opinion, identity.given, input)
        risk = tool.risk if isinstance(classified.opinion, Forbid) else classified.opinion
        if risk is not tool.risk:
            requested = requested._replace(risk=risk.value)
        judged = _JudgedCall(identity, tool, input, context, requested, risk, classified.runs, classified.why, verdict)
        return self._decide(judged, prior) if retry is None else self._decide_again(judged, retry)

    # Before the tool judges the call -------------------------------------------------------------------

    def _input(self, identity: Identity, stopped: Refusal | None, repeats: bool) -> Any:
        """The input of the tool, or the first reason why there is none."""
        tool = identity.call.tool
        # First of all: what an author wrote to validate or classify a call is not run either.
        problem = stopped or identity.problem
        if tool is not None and problem is None and not repeats:
            problem = self._policy.denial_of_tool(tool)
        return validate(tool, identity.arguments) if tool is not None and problem is None else problem

    def _record_request(self, identity: Identity, requested: Draft) -> None:
        """Record the request, before any code of the tool's author classifies it."""
        small = {identity.args_hash: identity.kept} if is_small(identity.kept) else None
        if small is not None:
            self._budget.count(identity.args_hash, len(identity.kept))
        self._services.log.append_relaxed(requested, contents=small)

    def _settled(
        self, identity: Identity, prior: PriorCall, stopped: Refusal | None
    ) -> Refusal | UnknownOutcome | None:
        """Return the answer that an earlier process or a person has already settled for this call, or None.

        Raises Divergence if it was another call.
        """
        # If its tool has changed since, it is asked about anew.
        if other := call_difference(prior, identity, version=False):
            raise Divergence(prior.number, other.then, other.now)
        if prior.denial is not None:  # It holds for this call, whatever has changed since.
            return self._receipts.repeat(identity.call, denied_by_person(prior.denial))
        # It may have run: "not called" would be a lie. The run stays suspended.
        return UnknownOutcome(identity.call) if stopped is not None and prior.state == "started" else None

    def _hindrance(self, identity: Identity, input: Any, repeats: bool) -> Refusal | None:
        """The first reason to refuse a valid call before its tool judges it."""
        if identity.missing is not None:
            self.unmet.add("missing_secret")
            return identity.missing
        if repeats:
            return None
        if denial := self._policy.denial_by_arguments(identity, input):
            return denial
        return None if self._has_room(identity.kept, identity.args_hash) else self._budget.refusal()

    def _has_room(self, body: bytes, body_hash: str | None = None) -> bool:
        return self._budget.has_room(body_hash or digest(body), len(body), self._services.response_bytes)

    # The decision ----------------------------------------------------------------------------------------

    def _decide(self, judged: _JudgedCall, prior: PriorCall | None) -> AdmissionResult:
        """Follow the verdict about a call that has not run yet."""
        identity, verdict = judged.identity, judged.verdict
        if verdict.decision is Decision.DENY:
            denial = denial_by_policy(verdict, judged.reason, identity.redaction.text(verdict.hint))
            return self._receipts.refuse(judged.call, judged.requested, denial, identity.kept)
        if not is_small(identity.kept):
            self._budget.count(identity.args_hash, len(identity.kept))
        if self._run.stand_in is not None and (judged.risk is not Risk.READ or verdict.decision is Decision.ASK):
            self._record_rehearsed(judged)
            return Answered(self._run.stand_in(judged.tool), judged.tool.output_plan)
        earlier = self._earlier_write(judged)
        if isinstance(earlier, Reused):
            return self._reuse(judged, earlier)
        # It ended without an answer, as the process that had the run did: nobody knows what it has done.
        given_up = prior is not None and prior.state == "ended"
        if verdict.decision is Decision.ALLOW and not given_up and earlier is None:
            reads = judged.risk is Risk.READ
            # The most common case: a read that the autonomy level allows carries no facts.
            facts = {} if reads and verdict.matched_rule == "autonomy" else rule_facts(verdict)
            return _admitted(judged, facts, durable=not reads)
        permission = self._ask(judged, earlier)
        if not isinstance(permission, Permission):
            return permission
        doubt = earlier.facts if earlier is not None else {}
        return _admitted(judged, {**rule_facts(verdict), **permission.facts, **doubt}, permission)

    def _earlier_write(self, judged: _JudgedCall) -> Reused | Doubt | None:
        """The same call in a run that this one is a retry of. What only reads is made anew."""
        if self._run.reusable is None or judged.risk is Risk.READ:
            return None
        runs_hash = None if judged.runs is None else digest(judged.runs.encode())
        tool, identity = judged.tool, judged.identity
        redacted = bool(tool.secrets or tool.optional_secrets) and may_be_redacted(identity.kept)
        return self._run.reusable.find(tool, identity.args_hash, runs_hash, self._services.log, redacted=redacted)

    def _reuse(self, judged: _JudgedCall, reused: Reused) -> Answered:
        """Record that a call was answered from an earlier run; nobody is asked about what is not executed."""
        assert self._run.reusable is not None
        source = reused.source
        self._budget.count(str(source.result_hash), len(reused.value))
        self._receipts.reuse(judged.call, judged.requested, source, rule_facts(judged.verdict))
        self._run.reusable.use(source)
        return Answered(reused.value, judged.tool.output_plan)

    def _decide_again(self, judged: _JudgedCall, retry: Retry) -> AdmissionResult:
        """Follow the verdict about a call that may have run: what permitted it then must still hold."""
        if judged.verdict.decision is Decision.DENY:
            # It may have run: "denied" would be a lie. The run stays suspended.
            failed = self._prior.counts_as_failed()
            return self._count_as_failed(judged.call, judged.requested) if failed else UnknownOutcome(judged.call)
        facts = {**rule_facts(judged.verdict), **retry.facts}
        same_policy = self._run.policy_hash == self._services.policy.digest
        # What it runs may be something else by now, and whoever says "again" has not seen that.
        still_holds = retry.same_version and (retry.by_person or same_policy) and judged.runs is None
        if judged.verdict.decision is Decision.ALLOW or still_holds:
            return _admitted(judged, facts, repeats=True)
        permission = self._ask(judged)
        if not isinstance(permission, Permission):
            return permission
        return _admitted(judged, {**facts, **permission.facts}, permission, repeats=True)

    def _ask(self, judged: _JudgedCall, doubt: Doubt | None = None) -> Permission | Refusal | Pending:
        """Get permission from a person, once everything that they decide about is on disk."""
        identity, tool, call = judged.identity, judged.tool, judged.call
        if shown := self._shown(judged):
            self._services.log.append_relaxed(contents=shown)
        self._services.log.flush()
        self._prior.note_question(call.number, call.name, tool.version, identity.args_hash)
        question = Question(
            run_id=self._run.run_id,
            call_id=call.id,
            number=call.number,
            tool=tool.id,
            tool_version=tool.version,
            risk=judged.risk,
            reason=judged.reason if doubt is None else f"{judged.reason}; {doubt.reason}",
            matched_rule=judged.verdict.matched_rule,
            arguments=identity.kept.decode(),
            line=call.line or None,
            policy_hash=self._services.policy.digest,
            runs=judged.runs,
        )
        # Who opened a window did not know of the doubt.
        answer = self.gate.permission(question, judged.requested, windows=doubt is None)
        if not isinstance(answer, Denied):
            return answer
        if answer.refusal.code == "approval_required":
            self.unmet.add("approval_required")
        if answer.has_receipt:
            return self._receipts.repeat(call, answer.refusal)
        self._receipts.refuse(call, judged.requested, answer.refusal)
        if answer.refusal.code == "approval_denied":
            self._services.log.flush()  # A denial outlives the process that was told.
        return answer.refusal

    def _shown(self, judged: _JudgedCall) -> dict[str, bytes]:
        """Contents that a person has to see before deciding and that are not stored yet."""
        shown = judged.large or {}
        if judged.runs is not None:
            runs = judged.runs.encode()
            self._budget.count(digest(runs), len(runs))
            shown[digest(runs)] = runs
        return shown

    def withdraw(self, name: str, sent: bytes, line: int, number: int) -> Refusal:
        """Take back a call that has not started, and the question about it, which nobody can answer any more."""
        identity = identify(self._services, self._run, name, sent, line, number, stops=False)
        void = self._services.approvals.void(self._run.run_id, number)
        return self._receipts.refuse(identity.call, self._receipts.requested(identity), WITHDRAWN, b"", void)

    # Refusals ----------------------------------------------------------------------------------------------

    def _record_rehearsed(self, judged: _JudgedCall) -> None:
        facts = {"verdict": judged.verdict.decision.value, "reason": bounded(judged.reason)}
        facts |= rule_facts(judged.verdict)
        facts |= runs_facts(None if judged.runs is None else digest(judged.runs.encode()))
        self._services.log.append_relaxed(refused(judged.requested, _DRY_RUN, facts), contents=self._shown(judged))

    def _count_as_failed(self, call: Call, requested: Draft) -> Refusal:
        return self._receipts.refuse(call, requested, _COUNTED_AS_FAILED)

    def _refuse_unclassified(self, identity: Identity, tool: Tool, requested: Draft) -> Refusal:
        late = Refusal(
            code="classify_timeout",
            message=f"{tool.id} did not judge this call in time, so it was not made",
            hint="pass less at a time; the tool's author has to make `classify` quick",
            denied=True,
        )
        return self._receipts.refuse(identity.call, requested, late, identity.kept)

    def _too_many(self, identity: Identity) -> RunEnded:
        """End the run after too many calls: a loop that ignores errors would never stop."""
        call, nothing = identity.call, b"{}"
        message = f"more than {self._run.limits.calls} calls in one run"
        hint = "ask a tool for more at once, or do the rest in another run"
        refusal = Refusal(code="too_many_calls", message=message, denied=True)
        requested = self._receipts.requested(identity._replace(kept=nothing, args_hash=digest(nothing)))
        self._services.log.append_relaxed(
            requested._replace(risk=None), refused(requested, refusal), contents={digest(nothing): nothing}
        )
        error = SnippetError(type="TooManyCalls", message=message, line=call.line or None, hint=hint)
        return RunEnded(Failed(error=error))


def _admitted(
    judged: _JudgedCall,
    facts: Mapping[str, str],
    permission: Permission | None = None,
    *,
    durable: bool = True,
    repeats: bool = False,
) -> Admitted:
    return Admitted(
        judged.call,
        judged.tool,
        judged.input,
        judged.context,
        judged.identity.redaction,
        following(judged.requested, "tool.call.started", "allowed", now(), facts),
        durable,
        itertools.count(),
        permission.drafts if permission else (),
        permission.rows if permission else (),
        None if permission else judged.large,  # What a person was asked about is in the store.
        repeats,
    )
