"""From what a snippet sent to leave to run: everything that is decided before a handler is called."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic_core import from_json

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.approval_gate import ApprovalGate, Denied, Permission, denied_by_person
from coilclaw.bridge.arguments import bind, validate
from coilclaw.bridge.call_receipts import bounded, following, refused
from coilclaw.bridge.caller import Caller
from coilclaw.bridge.calls import Admitted, Call, PriorCall, call_id
from coilclaw.bridge.evidence_budget import EvidenceBudget, is_small, prefix_facts, size_facts
from coilclaw.bridge.identified_call import Divergence, Identity, call_difference
from coilclaw.bridge.redaction import NOTHING_SECRET, Redaction
from coilclaw.bridge.registry import Registry
from coilclaw.bridge.services import Services
from coilclaw.policy import Question, judge, runs_facts
from coilclaw.receipts import Draft, Row, digest, now
from coilclaw.sandbox import Abandoned, Deadline, Failed, Limits, RunEnded, SnippetError
from coilclaw.sdk import Decision, Forbid, Judged, OperatorError, Risk, Tool, ToolContext
from coilclaw.sdk.legible import text_of

__all__ = [
    "Admission",
    "OutcomeUnknown",
    "Rehearsed",
    "RunFacts",
]

_logger = logging.getLogger(__name__)

_LONGEST_NAME: Final = 200
_CLASSIFY_SECONDS: Final = 1.0
_LARGE_BYTES: Final = 4096
"""Of arguments: so many could keep a classifier busy that was always quick before."""
_DRY_RUN: Final = Refusal(code="dry_run", message="not called: this is a rehearsal", denied=True)
_UNKNOWN_OUTCOME: Final = Refusal(
    code="unknown_outcome",
    message="the process ended while the tool ran; a person decided that this counts as failed",
    hint="look at what the tool did before you call it again",
)


class OutcomeUnknown(Exception):
    """A call was under way when its process ended, and nobody has said what to do about it."""

    def __init__(self, call: Call) -> None:
        super().__init__(call.id)
        self.call = call


class Rehearsed(Exception):
    """A call that is not made because the run is a rehearsal; `value` is what it is answered with."""

    def __init__(self, value: bytes) -> None:
        super().__init__()
        self.value = value


class RunFacts(NamedTuple):
    """What the bridge of one run knows about the run."""

    run_id: str
    conversation_id: str | None
    limits: Limits
    deadline: Deadline
    prior: Mapping[int, PriorCall] = {}
    unknown: str | None = None
    """What a person said about the first call that was under way when its process ended: `retry` or `failed`."""
    policy_hash: str | None = None
    """The policy under which the run began, if it is resumed."""
    kept: Sequence[tuple[str, int]] = ()
    """Hashes and sizes of what the run has left in the store so far."""
    caller: Caller = Caller()
    stand_in: Callable[[Tool], bytes] | None = None
    """For a rehearsal: a call that could change something, or needs approval, is answered with this and not made."""


class _Again(NamedTuple):
    """A call that was under way when its process ended, and who says that it may be repeated."""

    prior: PriorCall
    by_person: bool


Context = Callable[[Call, Tool, dict[str, str]], ToolContext]
Ended = Callable[[Call, Refusal], Sequence[Row]]
Pins = Callable[[], Mapping[str, str | int]]


class Admission:
    """Admits the calls of one run. Whatever it refuses has its receipts when `Refusal` is raised."""

    def __init__(
        self, services: Services, registry: Registry, run: RunFacts, context: Context, ended: Ended, pins: Pins
    ) -> None:
        self._around = services
        self._registry = registry
        self._run = run
        self._prior = dict(run.prior)
        self._context = context
        self._ended = ended
        self._pins = pins
        self._unknown = run.unknown
        self._outright: dict[tuple[str, str], str | None] = {}
        self.asking = ApprovalGate(services, run.caller, run.deadline)
        self.kept = EvidenceBudget(run.limits.kept_bytes, run.kept)
        self.unmet: set[str] = set()

    def identify(self, name: str, sent: bytes, line: int, number: int, *, stops: bool) -> Identity:
        """Resolve the name and make the arguments canonical. Nothing is written yet."""
        tool = self._registry.resolve(name)
        # A forged frame may name anything: it is the same text in receipts, answers and when the run is repeated.
        known = tool.id if tool else text_of(name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…")
        call = Call(number, call_id(self._run.run_id, number), known, line, tool, stops)
        secrets, missing = self._secrets(tool) if tool else ({}, None)
        redaction = Redaction(secrets) if secrets else NOTHING_SECRET
        arguments, problem = b"", None
        try:
            arguments = bind(tool, sent)
        except Refusal as refusal:
            problem = refusal
        kept = redaction.json(arguments)
        if tool is None and problem is None:
            hint = self._registry.suggestion(name)
            problem = Refusal(code="unknown_tool", message=f"tools.{known} does not exist", hint=hint, denied=True)
        constrained = tool is not None and problem is None and self._around.policy.constrained(tool)
        given = from_json(arguments) if constrained else None
        return Identity(call, arguments, kept, digest(kept), secrets, missing, redaction, problem, given)

    def named(self, name: str) -> tuple[str, str] | None:
        """The id and the version of the tool that a name stands for."""
        tool = self._registry.resolve(name)
        return (tool.id, tool.version) if tool is not None else None

    def was_begun(self, number: int) -> bool:
        """Whether a call was under way when an earlier process ended, so that it may have been made."""
        prior = self._prior.get(number)
        return prior is not None and prior.state == "started"

    def admit(self, name: str, sent: bytes, line: int, number: int, *, stops: bool) -> Admitted:
        """Everything that comes before the handler. Raises `Refusal`, `Waiting`, `Divergence` or `OutcomeUnknown`."""
        identity = self.identify(name, sent, line, number, stops=stops)
        call, tool = identity.call, identity.call.tool
        if number > self._run.limits.calls:
            self._exceed(call)
        prior, begun = self._prior.get(number), self.was_begun(number)
        stopped = self.stopped()
        input, problem = self._read(identity, stopped, begun=begun)
        requested = self._requested(identity)
        if prior is None:
            self._write_attempt(identity, requested)
        else:
            self._compare(identity, prior, stopped)
        problem = problem or self._hindrance(identity, input, begun=begun)
        if tool is None or problem is not None:
            raise self.refuse(call, requested, problem or _UNKNOWN_OUTCOME, unkept=identity.kept)
        context = self._context(call, tool, identity.secrets)
        large = None if is_small(identity.kept) else {identity.args_hash: identity.kept}
        asked = Admitted(
            call, tool, input, context, identity.redaction, requested, True, itertools.count(), contents=large
        )
        if prior is not None and begun:
            return self._again(asked, identity, prior)
        asked, classified = self._classify(asked, identity)
        if asked.runs is not None and not self._has_room_to_show(asked.runs):
            raise self.refuse(call, requested, self.kept.refusal(), unkept=identity.kept)
        return self.decide(asked, identity, classified)

    def _read(self, identity: Identity, stopped: Refusal | None, *, begun: bool) -> tuple[Any, Refusal | None]:
        """The input of the tool, or the first reason why there is none."""
        tool = identity.call.tool
        # First of all: what an author wrote to validate or classify a call is not run either.
        problem = stopped or identity.problem
        if tool is not None and problem is None and not begun:
            problem = self._outright_denial(tool)
        if tool is None or problem is not None:
            return None, problem
        try:
            return validate(tool, identity.arguments), None
        except Refusal as refusal:
            return None, refusal

    def _write_attempt(self, identity: Identity, requested: Draft) -> None:
        """From here on the attempt is in the log, whatever the tool's own code does when it is asked about it."""
        small = {identity.args_hash: identity.kept} if is_small(identity.kept) else None
        if small is not None:
            self.kept.count(identity.args_hash, len(identity.kept))
        self._around.log.append_relaxed(requested, contents=small)

    def _compare(self, identity: Identity, prior: PriorCall, stopped: Refusal | None) -> None:
        """Hold a call to what an earlier process did under its number, and to what a person said of it."""
        # If its tool has changed since, it is asked about anew.
        if other := call_difference(prior, identity, version=False):
            raise Divergence(prior.number, other.then, other.now)
        if prior.denial is not None:
            raise self._denied_before(identity.call, prior.denial)
        if stopped is not None and prior.state == "started":
            raise OutcomeUnknown(identity.call)  # It may have run: "not called" would be a lie. The run waits on.

    def _hindrance(self, identity: Identity, input: Any, *, begun: bool) -> Refusal | None:
        """The first thing that stands in the way of a valid call, before its tool judges it."""
        if identity.missing is not None:
            self.unmet.add("missing_secret")
            return identity.missing
        if begun:
            return None
        if denial := self._denial_by_arguments(identity, input):
            return denial
        return None if self._has_room(identity) else self.kept.refusal()

    def _outright_denial(self, tool: Tool) -> Refusal | None:
        """The refusal that policy gives to all calls of a tool. Looked up once: nothing it goes by changes in a run."""
        key = (tool.id, tool.version)
        if key not in self._outright:
            self._outright[key] = self._denied_at_any_risk(tool, None, None)
        reason = self._outright[key]
        return None if reason is None else _denied(reason)

    def _denial_by_arguments(self, identity: Identity, input: Any) -> Refusal | None:
        """The refusal that rules about arguments give, where a tool's own judgement would come before `decide`."""
        tool = identity.call.tool
        if tool is None or tool.classify is None or identity.given is None:
            return None
        reason = self._denied_at_any_risk(tool, identity.given, input)
        return None if reason is None else _denied(identity.redaction.text(reason))

    def _denied_at_any_risk(self, tool: Tool, given: Any, input: Any) -> str | None:
        """Why policy denies a call by itself, whatever risk the tool's classifier would name."""
        policy, channel = self._around.policy, self._run.caller.channel
        verdict = policy.decide(tool, tool.risk, given, channel, input=input)
        if verdict.decision is not Decision.DENY:
            return None
        if tool.classify is not None:
            for risk in Risk:
                higher = risk.rank > tool.risk.rank
                if higher and policy.decide(tool, risk, given, channel, input=input).decision is not Decision.DENY:
                    return None
        return verdict.reason

    def _has_room(self, identity: Identity) -> bool:
        return self.kept.has_room(identity.args_hash, len(identity.kept), self._around.response_bytes)

    def _has_room_to_show(self, runs: str) -> bool:
        return self.kept.has_room(digest(runs.encode()), len(runs.encode()), self._around.response_bytes)

    def decide(
        self, asked: Admitted, identity: Identity, classified: Risk | Forbid, again: _Again | None = None
    ) -> Admitted:
        """Ask policy, and perhaps a person. `again` if the call was started before and may be started again."""
        tool, requested = asked.tool, asked.draft
        channel = self._run.caller.channel
        verdict = self._around.policy.decide(tool, classified, identity.given, channel, input=asked.input)
        risk = tool.risk if isinstance(classified, Forbid) else classified
        requested = requested._replace(risk=risk.value) if risk is not tool.risk else requested
        reason = asked.redaction.text(verdict.reason)
        if again is not None:
            return self._started_again(asked, identity, requested, verdict.decision, again, reason, risk)
        if verdict.decision is Decision.DENY:
            denial = _forbidden(reason, asked.redaction.text(verdict.hint)) if verdict.forbidden else _denied(reason)
            raise self.refuse(asked.call, requested, denial, unkept=identity.kept)
        if asked.contents is not None:
            self.kept.count(identity.args_hash, len(identity.kept))
        stand_in = self._run.stand_in
        if stand_in is not None and (risk is not Risk.READ or verdict.decision is Decision.ASK):
            facts = {"verdict": verdict.decision.value, "reason": bounded(reason)}
            shown = self._shown(asked)
            facts |= runs_facts(None if asked.runs is None else digest(asked.runs.encode()))
            self._around.log.append_relaxed(refused(requested, _DRY_RUN, facts), contents=shown)
            raise Rehearsed(stand_in(tool))
        before = self._prior.get(asked.call.number)
        # It ended without an answer, as the process that had the run did: nobody knows what it has done.
        given_up = before is not None and before.state == "ended"
        if verdict.decision is Decision.ALLOW and not given_up:
            started = following(requested, "tool.call.started", "allowed", now(), {})
            return asked._replace(draft=started, durable=risk is not Risk.READ)
        self._write_question(asked)
        permission = self._permission(asked, risk, reason, identity.kept, requested)
        started = following(requested, "tool.call.started", "allowed", now(), permission.facts)
        return asked._replace(draft=started, before=permission.drafts, rows=permission.rows, contents=None)

    def stopped(self) -> Refusal | None:
        """The refusal every call gets while the operator has stopped everything."""
        reason = self._around.stop() if self._around.stop is not None else None
        if reason is None:
            return None
        hint = "do without tools; a person ends this with `coilclaw estop --clear`"
        return Refusal(code="stopped", message=reason, hint=hint, denied=True)

    def refuse(
        self,
        call: Call,
        requested: Draft,
        refusal: Refusal,
        decided: Mapping[str, str] | None = None,
        *,
        unkept: bytes = b"",
    ) -> Refusal:
        """The refusal, written down. `unkept` are arguments that are not in the store, and stay out of it."""
        rows = self._ended(call, refusal)
        facts = {**prefix_facts(unkept), **(decided or {})}
        self._around.log.append_relaxed(refused(requested, refusal, facts), rows=rows)
        return refusal

    def _write_question(self, asked: Admitted) -> None:
        """What a person decides about is on disk, in full, before the question is put."""
        if shown := self._shown(asked):
            self._around.log.append_relaxed(contents=shown)
        self._around.log.flush()

    def _shown(self, asked: Admitted) -> dict[str, bytes]:
        """What a person has to see of a call, and is not in the store yet."""
        shown = dict(asked.contents or {})
        if asked.runs is not None:
            runs = asked.runs.encode()
            self.kept.count(digest(runs), len(runs))
            shown[digest(runs)] = runs
        return shown

    def _permission(self, asked: Admitted, risk: Risk, reason: str, arguments: bytes, requested: Draft) -> Permission:
        call, tool = asked.call, asked.tool
        before = self._prior.get(call.number)
        # Should it be decided again, then without being requested again.
        self._prior[call.number] = PriorCall(
            number=call.number,
            tool=call.name,
            tool_version=tool.version,
            args_hash=str(requested.args_hash),
            state=before.state if before else "requested",
        )
        question = Question(
            run_id=self._run.run_id,
            call_id=call.id,
            number=call.number,
            tool=tool.id,
            tool_version=tool.version,
            risk=risk,
            reason=reason,
            arguments=arguments.decode(),
            line=call.line or None,
            policy_hash=self._around.policy.digest,
            runs=asked.runs,
        )
        try:
            return self.asking.permission(question, requested)
        except Denied as denied:
            if denied.refusal.code == "approval_required":
                self.unmet.add("approval_required")
            if denied.decided is not None:
                refusal = self.refuse(call, requested, denied.refusal, denied.decided)
                if refusal.code == "approval_denied":
                    self._around.log.flush()  # A no outlives the process that was told.
                raise refusal from None
            raise self._denied_before(call, denied.refusal.message) from None

    def _denied_before(self, call: Call, message: str) -> Refusal:
        """A person's no, which has its receipt: it holds for this call, whatever has changed since."""
        refusal = denied_by_person(message)
        self._around.log.append_relaxed(rows=self._ended(call, refusal))
        return refusal

    def _again(self, asked: Admitted, identity: Identity, prior: PriorCall) -> Admitted:
        """A call that was under way when its process ended: what it did is unknown."""
        asked, classified = self._classify(asked, identity)
        # What only reads may be called such by its author, and yet be classified as more; and another version of a
        # tool knows nothing of the keys of the one before.
        reads = asked.tool.risk is Risk.READ and classified is Risk.READ
        safe = (reads or asked.tool.idempotent) and prior.tool_version == asked.tool.version
        if safe:
            return self.decide(asked, identity, classified, _Again(prior, by_person=False))
        # The person was told of one call, and spoke of that: the next one is asked about by itself.
        said, self._unknown = self._unknown, None
        if said == "failed":
            raise self._counted_as_failed(asked)
        if said != "retry":
            raise OutcomeUnknown(asked.call)
        return self.decide(asked, identity, classified, _Again(prior, by_person=True))

    def _counted_as_failed(self, asked: Admitted) -> Refusal:
        decided = {"decision": "failed", "decided_by": "operator"}
        return self.refuse(asked.call, asked.draft, _UNKNOWN_OUTCOME, decided)

    def _started_again(
        self,
        asked: Admitted,
        identity: Identity,
        requested: Draft,
        decision: Decision,
        again: _Again,
        reason: str,
        risk: Risk,
    ) -> Admitted:
        """Leave to repeat a call that may have been made: what allowed it then must still hold."""
        if decision is Decision.DENY:
            said, self._unknown = self._unknown, None
            if said == "failed":
                raise self._counted_as_failed(asked)
            raise OutcomeUnknown(asked.call)  # It may have run: "denied" would be a lie. The run waits on.
        decided = {"decision": "retry", "decided_by": "operator" if again.by_person else "contract"}
        same = again.prior.tool_version == asked.tool.version and (
            again.by_person or self._run.policy_hash == self._around.policy.digest
        )
        # What it stands for may be something else by now, and whoever says "again" has not seen that.
        same = same and asked.runs is None
        permission = Permission()
        if decision is Decision.ASK and not same:
            self._write_question(asked)
            permission = self._permission(asked, risk, reason, identity.kept, requested)
        started = following(requested, "tool.call.started", "allowed", now(), {**decided, **permission.facts})
        return asked._replace(draft=started, before=permission.drafts, rows=permission.rows)

    def _classify(self, asked: Admitted, identity: Identity) -> tuple[Admitted, Risk | Forbid]:
        """Let the tool judge this call, for a moment: a tool's code must not hold up the decision about it."""
        tool, deadline = asked.tool, self._run.deadline
        if tool.classify is None:
            return asked, tool.risk
        try:
            opinion: Risk | Judged | Forbid = self._around.handlers.run(
                f"{tool.version} classify",
                lambda: judge(tool, asked.input, asked.context),
                min(_CLASSIFY_SECONDS, deadline.remaining),
                deadline,
                in_place=len(identity.arguments) <= _LARGE_BYTES,
            )
        except Abandoned:
            if asked.call.number in self._prior and self._prior[asked.call.number].state == "started":
                raise OutcomeUnknown(asked.call) from None  # It may have run: "denied" would be a lie.
            _logger.warning("classify of %s took too long and was left alone", tool.id)
            late = Refusal(
                code="classify_timeout",
                message=f"{tool.id} did not judge this call in time, so it was not made",
                hint="pass less at a time; the tool's author has to make `classify` quick",
                denied=True,
            )
            raise self.refuse(asked.call, asked.draft, late, unkept=identity.kept) from None
        if not isinstance(opinion, Judged):
            return asked, opinion
        # The handler is held to the very text; a person and the store get it as they get arguments.
        asked.context.judged = opinion.runs
        return asked._replace(runs=asked.redaction.text(opinion.runs)), Risk(opinion.risk)

    def _exceed(self, call: Call) -> None:
        """One call too many ends the run: a loop that ignores its errors would go on for ever."""
        message = f"more than {self._run.limits.calls} calls in one run"
        refusal = Refusal(code="too_many_calls", message=message, denied=True)
        nothing = b"{}"
        requested = self._requested(Identity(call, nothing, nothing, digest(nothing), {}, None, NOTHING_SECRET, None))
        ended = refused(requested, refusal)
        self._around.log.append_relaxed(requested._replace(risk=None), ended, contents={digest(nothing): nothing})
        error = SnippetError(type="TooManyCalls", message=message, line=call.line or None, hint="raise [limits] calls")
        raise RunEnded(Failed(error=error))

    def _secrets(self, tool: Tool) -> tuple[dict[str, str], Refusal | None]:
        """The values a tool declares, or why it cannot have them."""
        found: dict[str, str] = {}
        try:
            for name in (*tool.secrets, *tool.optional_secrets):
                if value := self._around.secret(name):
                    found[name] = value
                elif name in tool.secrets:
                    hint = f"a person sets it: coilclaw secret set {name}"
                    return found, Refusal(code="missing_secret", message=f"{name} is not set", hint=hint)
        except OperatorError as error:  # The file went bad while the run was under way.
            return found, Refusal(code="missing_secret", message=error.message, hint=error.hint)
        return found, None

    def _requested(self, identity: Identity) -> Draft:
        call = identity.call
        return Draft(
            type="tool.call.requested",
            status="pending",
            timestamp=now(),
            run_id=self._run.run_id,
            conversation_id=self._run.conversation_id,
            tool_call_id=call.id,
            tool=call.name,
            tool_version=call.tool.version if call.tool else None,
            risk=call.tool.risk.value if call.tool else None,
            args_hash=identity.args_hash,
            payload={"line": call.line, "number": call.number, **size_facts(identity.kept), **self._pins()},
        )


def _forbidden(reason: str, hint: str) -> Refusal:
    """The tool's own no, which no policy can change."""
    hint = hint or "change the call as the message says, or do without it; no policy rule allows it as it is"
    return Refusal(code="denied", message=reason, hint=hint, denied=True)


def _denied(reason: str) -> Refusal:
    hint = "ask the operator to change the policy, or do without this call"
    return Refusal(code="denied", message=reason, hint=hint, denied=True)
