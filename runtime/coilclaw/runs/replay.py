"""Replay a run: execute it again from its journal alone, write nothing, and compare."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Final

from coilclaw.bridge import Bridge, Caller, NotResumable, Registry, ReplayHost, RunSpec, Services, call_difference
from coilclaw.receipts import DamagedReceipt, ReceiptLog
from coilclaw.runs.breakpoint import STOP, Breakpoint, frames_of
from coilclaw.runs.comparison import Comparison, Difference, FormerRun, compared, difference_of, doubted
from coilclaw.runs.recorded_run import Engines, RecordedRun
from coilclaw.runs.session import outcome_of
from coilclaw.sandbox import (
    Deadline,
    Diverged,
    Failed,
    Host,
    Limits,
    Outcome,
    RunClock,
    RunEnded,
    SnippetError,
    Suspended,
)

__all__ = ["replay_run"]

_LONGEST: Final = 200
_LONGEST_ARGUMENTS: Final = 2000


def replay_run(
    services: Services,
    run_id: str,
    engines: Engines,
    registry: Registry,
    caller: Caller,
    until: int | None,
    deadline: Deadline | None = None,
) -> Comparison:
    """Execute a run again and say whether it is the same. With `until`, stop at the call of that number."""
    run = RecordedRun(services, run_id)
    record, header = run.record, run.record.header
    if record.status == "running" and not record.is_waiting:
        raise NotResumable(f"{run_id} is under way in another process", hint="replay it when it has ended")
    if until is not None and header.kind == "direct":
        raise NotResumable(f"{run_id} is a direct call: it has no snippet whose variables could be shown")
    job, past = run.job(engines), run.history()
    if isinstance(past, Diverged):
        return doubted(run_id, record.status, past)
    if until is not None and until not in past.calls:
        raise NotResumable(f"there is no call {until} in {run_id}", hint=f"calls it made: {len(past.calls)}")
    deadline, clock = deadline or Deadline(run.limits.seconds), RunClock(header.clock)
    caller = replace(caller, conversation=header.conversation_id)
    bridge = Bridge(
        services, RunSpec(run_id=run_id, registry=registry, limits=run.limits, deadline=deadline, caller=caller)
    )
    host = ReplayHost(bridge, past.recorded, past.calls, clock, goes_on=False)
    former = FormerRun(run_id=run_id, calls=past.calls, end=past.end)
    check = ReplayCheck(host, bridge, former, past.recorded.answers, services.log, run.limits, until)
    pins = clock.pins(bytes.fromhex(header.seed))
    execute = partial(job.execute, check, deadline, pins)
    outcome = check.judged(outcome_of(partial(bridge.ended, check, execute), services.handlers, deadline))
    return compared(former, bridge.transcript.of(outcome), check.calls, check.difference, check.stop)


class ReplayCheck:
    """The host of one repetition: counts the calls, names the first that differs, and stops where it is told to.

    Of the bridge it uses only what neither executes nor writes.
    """

    def __init__(
        self,
        repetition: ReplayHost,
        bridge: Bridge,
        former: FormerRun,
        answered: Collection[int],
        log: ReceiptLog,
        limits: Limits,
        until: int | None,
    ) -> None:
        self._repetition = repetition
        self._bridge = bridge
        self._former = former
        self._answered = answered
        self._log = log
        self._limits = limits
        self._until = until
        self.calls = 0
        self.difference: Difference | None = None
        self.stop: Breakpoint | None = None

    def preflight(self, calls: bytes) -> bytes:
        # A run that began has passed; one that was rejected is judged again, by the tools and rules of today.
        host: Host = self._bridge if self._former.status == "rejected" else self._repetition
        return host.preflight(calls)

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        if self.stop is not None:
            self.stop = replace(self.stop, frames=frames_of(input))
            raise RunEnded(Suspended())
        number = self._count(line)
        if number == self._until:
            self._stop_at(number, tool, input, line)
            return STOP
        try:
            return self._repetition.call(tool, input, line)
        except RunEnded as ended:
            self._name_difference(ended.outcome, number, tool, input, line)
            raise

    def begin(self, tool: str, input: bytes, line: int) -> int:
        self._end_if_stopped()
        number = self._count(line)
        if number == self._until:
            self._stop_at(number, tool, input, line)
            return 0
        try:
            return self._repetition.begin(tool, input, line)
        except RunEnded as ended:
            self._name_difference(ended.outcome, number, tool, input, line)
            raise

    def wait(self, seconds: float | None) -> bytes:
        self._end_if_stopped()
        return self._repetition.wait(seconds)

    def withdraw(self, number: int) -> None:
        self._end_if_stopped()
        self._repetition.withdraw(number)

    def linger(self, tasks: str) -> None:
        self._repetition.linger(tasks)

    def write(self, stream: int, text: str) -> None:
        self._end_if_stopped()
        self._repetition.write(stream, text)

    def judged(self, outcome: Outcome) -> Outcome:
        """How the repetition ended, unless it ended by itself before it had done all that was done."""
        too_many = self.calls > self._limits.calls  # That call was never repeated.
        return outcome if too_many else self._repetition.judged(outcome)

    def _count(self, line: int) -> int:
        self.calls += 1
        if self.calls > self._limits.calls:
            message = f"more than {self._limits.calls} calls in one run"
            raise RunEnded(Failed(error=SnippetError(type="TooManyCalls", message=message, line=line or None)))
        return self.calls

    def _stop_at(self, number: int, tool: str, input: bytes, line: int) -> None:
        found = self._bridge.identify(tool, input, line, number, stops=True)
        self.difference = self._look(number, tool, input, line, version=number in self._answered)
        arguments = found.kept[: 4 * _LONGEST_ARGUMENTS].decode("utf-8", "replace")[:_LONGEST_ARGUMENTS]
        self.stop = Breakpoint(call=number, tool=found.call.name, arguments=arguments, line=line)

    def _end_if_stopped(self) -> None:
        if self.stop is not None:
            raise RunEnded(Suspended())  # Nothing is of interest any more but the variables.

    def _name_difference(self, outcome: Outcome, number: int, tool: str, input: bytes, line: int) -> None:
        """Say what is different about a call at which the repetition ended."""
        if isinstance(outcome, Diverged):
            self.difference = self._look(number, tool, input, line) or difference_of(outcome)
        elif isinstance(outcome, Suspended) and (number in self._former.calls or self._former.repeatable):
            # The journal has no answer: that is right only for a call which waited then as well.
            self.difference = self._look(number, tool, input, line, version=False)

    def _look(self, number: int, tool: str, input: bytes, line: int, *, version: bool = True) -> Difference | None:
        """A call, held against the one of the same number."""
        found = self._bridge.identify(tool, input, line, number, stops=True)
        prior, name = self._former.calls.get(number), found.call.name
        if prior is not None and found.call.tool is None and prior.tool_version is not None:
            return _difference(number, "tool", f"of {prior.tool}", f"of {name}, which does not exist")
        other = call_difference(prior, found, version=version)
        if other is None:
            return None
        if prior is not None and other.what == "arguments":
            return _difference(number, "arguments", f"with {self._then(prior.args_hash)}", f"with {_short(found.kept)}")
        if prior is not None and other.what == "version":
            present = found.call.tool.version if found.call.tool else None
            return _difference(
                number, "version", f"of {name} {prior.tool_version}", f"of {present}: its source changed"
            )
        return _difference(number, other.what, other.then, other.now)

    def _then(self, args_hash: str) -> str:
        try:
            kept = self._log.contents(args_hash)
        except DamagedReceipt:
            kept = None
        return _short(kept) if kept is not None else f"arguments {args_hash[:12]}, which are no longer kept,"


def _difference(number: int, what: str, then: str, now: str) -> Difference:
    message = (
        f"call {number} was {then} and is {now} now" if what != "version" else f"call {number} was {then}, now {now}"
    )
    return Difference(what=what, message=message, call=number, then=then, now=now)  # type: ignore[arg-type]


def _short(arguments: bytes) -> str:
    text = arguments[: 4 * _LONGEST].decode("utf-8", "replace")
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
