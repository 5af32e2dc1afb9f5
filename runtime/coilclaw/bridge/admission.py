"""From what a snippet sent to leave to run: everything that is decided before a handler is called."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from pydantic_core import from_json

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.arguments import bind, validate
from coilclaw.bridge.asking import Asking, Denied, Leave, denied_by_person
from coilclaw.bridge.calls import Admitted, Call, PriorCall, call_id
from coilclaw.bridge.redaction import NOTHING_SECRET, Redaction
from coilclaw.bridge.registry import Registry
from coilclaw.bridge.surroundings import Surroundings
from coilclaw.bridge.trail import bounded, following, refused
from coilclaw.policy import Question, classify
from coilclaw.receipts import Draft, Row, digest, now
from coilclaw.sandbox import Abandoned, Deadline, Diverged, Failed, Limits, RunEnded, SnippetError
from coilclaw.sdk import Decision, Forbid, OperatorError, Risk, Tool, ToolContext

__all__ = [
    "Admission",
    "Divergence",
    "Identity",
    "OutcomeUnknown",
    "Rehearsed",
    "RunFacts",
    "call_difference",
]

_LONGEST_NAME: Final = 200
_DRY_RUN: Final = Refusal(code="dry_run", message="not called: this is a rehearsal", denied=True)
_UNKNOWN_OUTCOME: Final = Refusal(
    code="unknown_outcome",
    message="the process ended while the tool ran; a person decided that this counts as failed",
    hint="look at what the tool did before you call it again",
)


class Divergence(RunEnded):
    """A run that is repeated does something else than it did: it ends before anything else is executed."""

    def __init__(self, number: int, expected: str, found: str) -> None:
        message = f"call {number} was {expected} and is {found} now"
        error = SnippetError(type="Diverged", message=message, hint="start it again as a new run")
        super().__init__(Diverged(error=error))


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


class Identity(NamedTuple):
    """Which call this is, as receipts, approvals and the journal name it."""

    call: Call
    arguments: bytes
    kept: bytes
    args_hash: str
    secrets: dict[str, str]
    missing: Refusal | None
    redaction: Redaction
    problem: Refusal | None


class CallDifference(NamedTuple):
    """What about a call is not as it was."""

    what: Literal["call", "tool", "arguments", "version"]
    then: str
    now: str


def call_difference(prior: PriorCall | None, found: Identity, *, version: bool = True) -> CallDifference | None:
    """The first thing in which a call differs from the one that had its number before."""
    name = found.call.name
    if prior is None:
        return CallDifference("call", "not made", f"of {name}")
    if prior.tool != name:
        return CallDifference("tool", f"of {prior.tool}", f"of {name}")
    if prior.args_hash != found.args_hash:
        return CallDifference("arguments", f"with arguments {prior.args_hash[:12]}", f"with {found.args_hash[:12]}")
    present = found.call.tool.version if found.call.tool else None
    if version and prior.tool_version != present:
        return CallDifference("version", f"of version {prior.tool_version}", f"of version {present}")
    return None


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
        self, surroundings: Surroundings, registry: Registry, run: RunFacts, context: Context, ended: Ended, pins: Pins
    ) -> None:
        self._around = surroundings
        self._registry = registry
        self._run = run
        self._prior = dict(run.prior)
        self._context = context
        self._ended = ended
        self._pins = pins
        self._unknown = run.unknown
        self.asking = Asking(surroundings, run.deadline)
        self.unmet: set[str] = set()

    def identify(self, name: str, sent: bytes, line: int, number: int, *, stops: bool) -> Identity:
        """Resolve the name and make the arguments canonical. Nothing is written yet."""
        shown = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"
        tool = self._registry.resolve(name)
        call = Call(number, call_id(self._run.run_id, number), tool.id if tool else shown, line, tool, stops)
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
            problem = Refusal(code="unknown_tool", message=f"tools.{shown} does not exist", hint=hint, denied=True)
        return Identity(call, arguments, kept, digest(kept), secrets, missing, redaction, problem)

    def named(self, name: str) -> tuple[str, str] | None:
        """The id and the version of the tool that a name stands for."""
        tool = self._registry.resolve(name)
        return (tool.id, tool.version) if tool is not None else None

    def admit(self, name: str, sent: bytes, line: int, number: int, *, stops: bool) -> Admitted:
        """Everything that comes before the handler. Raises `Refusal`, `Waiting`, `Divergence` or `OutcomeUnknown`."""
        identity = self.identify(name, sent, line, number, stops=stops)
        call, tool = identity.call, identity.call.tool
        if number > self._run.limits.calls:
            self._exceed(call)
        # First of all: what an author wrote to validate or classify a call is not run either.
        stopped = self.stopped()
        input, problem = None, stopped or identity.problem
        if tool is not None and problem is None:
            try:
                input = validate(tool, identity.arguments)
            except Refusal as refusal:
                problem = refusal
        requested = self._requested(identity)
        prior = self._prior.get(number)
        if prior is not None:
            # If its tool has changed since, it is asked about anew.
            if other := call_difference(prior, identity, version=False):
                raise Divergence(number, other.then, other.now)
            if prior.denial is not None:
                raise self._denied_before(call, prior.denial)
            if stopped is not None and prior.state == "started":
                raise OutcomeUnknown(call)  # It may have run: "not called" would be a lie. The run waits on.
        else:
            # From here on the attempt is in the log, whatever the tool's own code does when it is asked about it.
            self._around.log.append_relaxed(requested, contents={identity.args_hash: identity.kept})
        if tool is None or problem is not None:
            raise self.refuse(call, requested, problem or _UNKNOWN_OUTCOME)
        if identity.missing:
            self.unmet.add("missing_secret")
            raise self.refuse(call, requested, identity.missing)
        context = self._context(call, tool, identity.secrets)
        asked = Admitted(call, tool, input, context, identity.redaction, requested, True, itertools.count())
        if prior is not None and prior.state == "started":
            return self._again(asked, identity, prior)
        return self.decide(asked, identity, self._classify(asked))

    def decide(
        self, asked: Admitted, identity: Identity, classified: Risk | Forbid, again: _Again | None = None
    ) -> Admitted:
        """Ask policy, and perhaps a person. `again` if the call was started before and may be started again."""
        tool, requested, policy = asked.tool, asked.draft, self._around.policy
        # Rules look at what was sent, before secrets are taken out of it.
        given = from_json(identity.arguments) if policy.constrained(tool) else None
        verdict = policy.decide(tool, classified, given, self._around.channel, input=asked.input)
        risk = tool.risk if isinstance(classified, Forbid) else classified
        requested = requested._replace(risk=risk.value) if risk is not tool.risk else requested
        reason = asked.redaction.text(verdict.reason)
        if again is not None:
            return self._started_again(asked, identity, requested, verdict.decision, again, reason, risk)
        if verdict.decision is Decision.DENY:
            hint = "ask the operator to change the policy, or do without this call"
            raise self.refuse(asked.call, requested, Refusal(code="denied", message=reason, hint=hint, denied=True))
        stand_in = self._around.stand_in
        if stand_in is not None and (risk is not Risk.READ or verdict.decision is Decision.ASK):
            facts = {"verdict": verdict.decision.value, "reason": bounded(reason)}
            self._around.log.append_relaxed(refused(requested, _DRY_RUN, facts))
            raise Rehearsed(stand_in(tool))
        before = self._prior.get(asked.call.number)
        # It ended without an answer, as the process that had the run did: nobody knows what it has done.
        given_up = before is not None and before.state == "ended"
        if verdict.decision is Decision.ALLOW and not given_up:
            started = following(requested, "tool.call.started", "allowed", now(), {})
            return asked._replace(draft=started, durable=risk is not Risk.READ)
        self._around.log.flush()  # The question is on disk before it is put.
        leave = self._leave(asked, risk, reason, identity.kept, requested)
        started = following(requested, "tool.call.started", "allowed", now(), leave.facts)
        return asked._replace(draft=started, before=leave.drafts, rows=leave.rows)

    def stopped(self) -> Refusal | None:
        """The refusal every call gets while the operator has stopped everything."""
        reason = self._around.stop() if self._around.stop is not None else None
        if reason is None:
            return None
        hint = "do without tools; a person ends this with `coilclaw estop --clear`"
        return Refusal(code="stopped", message=reason, hint=hint, denied=True)

    def refuse(
        self, call: Call, requested: Draft, refusal: Refusal, decided: Mapping[str, str] | None = None
    ) -> Refusal:
        """The refusal, written down."""
        rows = self._ended(call, refusal)
        self._around.log.append_relaxed(refused(requested, refusal, decided), rows=rows)
        return refusal

    def _leave(self, asked: Admitted, risk: Risk, reason: str, arguments: bytes, requested: Draft) -> Leave:
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
        )
        try:
            return self.asking.leave(question, requested)
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
        classified = self._classify(asked)
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
        leave = Leave()
        if decision is Decision.ASK and not same:
            self._around.log.flush()
            leave = self._leave(asked, risk, reason, identity.kept, requested)
        started = following(requested, "tool.call.started", "allowed", now(), {**decided, **leave.facts})
        return asked._replace(draft=started, before=leave.drafts, rows=leave.rows)

    def _classify(self, asked: Admitted) -> Risk | Forbid:
        tool, deadline = asked.tool, self._run.deadline
        if tool.classify is None:
            return tool.risk
        timeout = min(self._around.tool_seconds, deadline.remaining)
        try:
            opinion: Risk | Forbid = self._around.handlers.run(
                f"{tool.version} classify", lambda: classify(tool, asked.input, asked.context), timeout, deadline
            )
        except Abandoned:
            return Forbid(reason="the tool did not classify this call in time")
        return opinion

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
            tool=call.name.encode("utf-8", "replace").decode(),
            tool_version=call.tool.version if call.tool else None,
            risk=call.tool.risk.value if call.tool else None,
            args_hash=identity.args_hash,
            payload={"line": call.line, "number": call.number, **self._pins()},
        )
