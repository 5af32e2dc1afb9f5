"""Runs: a snippet in a sandbox, or one direct call, with a receipt at each end."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from pydantic_core import from_json, to_json

from coilclaw.bridge import Bridge, Caller, Journal, Registry, ReplayHost, RunFacts, Services
from coilclaw.policy import NobodyToAsk
from coilclaw.receipts import Conflict, DamagedReceipt, Draft, Row, digest, now
from coilclaw.runs.comparison import Comparison, FormerRun, compared, doubted
from coilclaw.runs.errors import NotResumable
from coilclaw.runs.history import History, kept_so_far, read_history
from coilclaw.runs.jobs import Execute, direct_job, judged, snippet_job
from coilclaw.runs.plan import ApprovedPlan, Plan, PlannedAnswers, Rehearsal, planned_calls
from coilclaw.runs.replay_check import ReplayCheck
from coilclaw.runs.report import RunReport, value_digest
from coilclaw.runs.run_origin import RunOrigin
from coilclaw.runs.run_store import RunHeader, RunRecord, enter, find_run, leave, take_over
from coilclaw.runs.sample_value import stand_in
from coilclaw.sandbox import (
    Abandoned,
    Cancelled,
    Completed,
    Crashed,
    Deadline,
    Diverged,
    Engine,
    Failed,
    Host,
    Limits,
    Outcome,
    RunClock,
    Snippet,
    SnippetError,
    TimedOut,
)
from coilclaw.sdk import Err, EvidenceUnavailable, Ok, Result

__all__ = ["Runtime"]

_logger = logging.getLogger(__name__)

_GRACE_SECONDS: Final = 0.15
"""How long a run that is over may take to notice, before it is left alone."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """What one run, or one stretch of it, is to be done with."""

    registry: Registry
    limits: Limits
    caller: Caller
    deadline: Deadline | None = None
    origin: RunOrigin = field(default_factory=RunOrigin)
    rehearsal: bool = False


@dataclass(frozen=True, kw_only=True)
class _Session:
    """One stretch of a run in one process."""

    run_id: str
    header: RunHeader
    fence: int
    started: Draft
    first_receipt: str
    clock: RunClock
    bridge: Bridge
    journal: Journal | None
    host: Host
    deadline: Deadline


class Runtime:
    """Starts runs, and goes on with runs that waited. Everything they share is given; nothing here is global."""

    def __init__(self, services: Services, caller: Caller | None = None) -> None:
        self._around = services
        self._caller = caller or Caller()

    def run(
        self,
        snippet: Snippet,
        engine: Engine,
        registry: Registry,
        limits: Limits,
        *,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
        planned: ApprovedPlan | None = None,
        run_id: str | None = None,
    ) -> RunReport:
        """Run a snippet to its end. Raises EvidenceUnavailable before anything ran if receipts cannot be written.

        With `planned`, it carries out the plan that was approved.
        """
        caller = caller or self._caller
        origin = RunOrigin() if run_id is None else RunOrigin(run_id=run_id)
        if planned is not None:
            origin = planned.beginning
            caller = replace(caller, approver=PlannedAnswers(planned, caller.approver))
        spec = RunSpec(registry=registry, limits=limits, caller=caller, deadline=deadline, origin=origin)
        return self._run(snippet, engine, spec, planned)[0]

    def _run(
        self, snippet: Snippet, engine: Engine, spec: RunSpec, planned: ApprovedPlan | None = None
    ) -> tuple[RunReport, RunHeader]:
        source, inputs = snippet.source.encode("utf-8", "replace"), to_json(dict(snippet.inputs))
        header = self._header("snippet", snippet.name, source, inputs, engine.name, engine.build, spec)
        if planned is not None:
            planned.claim(header)
        session = self._begin(header, {digest(source): source, digest(inputs): inputs}, spec)
        return self._finished(session, snippet_job(snippet, engine, spec.limits, header)), header

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        registry: Registry,
        limits: Limits,
        *,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
    ) -> tuple[Result[Any], RunReport]:
        """Call one tool directly. The same path, the same receipts; only the sandbox is missing."""
        sent = to_json(dict(arguments))
        spec = RunSpec(registry=registry, limits=limits, caller=caller or self._caller, deadline=deadline)
        header = self._header("direct", tool, tool.encode(), sent, "direct", "direct", spec)
        session = self._begin(header, {digest(sent): sent}, spec)
        report = self._finished(session, direct_job(tool, sent))
        return _result_of(report), report

    def resume(
        self,
        run_id: str,
        engines: Callable[[str], Engine],
        registry: Registry,
        *,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
        unknown: str | None = None,
    ) -> RunReport:
        """Go on with a run that waits: repeat it from its journal, then continue. Nothing is executed twice."""
        known = self._standing(run_id)
        if not known.is_waiting:
            state = "is under way in another process" if known.status == "running" else f"is {known.status}"
            raise NotResumable(f"{run_id} {state}", hint="only a run that waits can be resumed")
        stopped = self._around.stop() if self._around.stop is not None else None
        if stopped is not None:
            raise NotResumable(f"{run_id} waits on: {stopped}", hint="`coilclaw estop --clear` ends the stop")
        header, limits = known.header, known.header.run_limits()
        if header.workspace != str(self._around.workspace):
            # Its calls were asked about where they were meant to happen.
            raise NotResumable(
                f"{run_id} began in the workspace {header.workspace}", hint=f"add --workspace {header.workspace}"
            )
        past, job = self._past(known, resumed=False), None
        if isinstance(past, History):
            _refuse_without_tools(past, registry)
            job = self._job(known, engines, limits)
        receipt = Draft(
            "run.resumed", "running", now(), run_id, header.conversation_id, payload={"process": os.getpid()}
        )
        try:
            (resumed,) = self._around.log.append(receipt, rows=[take_over(known)])
        except Conflict:
            raise NotResumable(f"{run_id} was taken by another process just now") from None
        if isinstance(past, History) and not self._is_all(past, known, resumed):
            past = self._past(known, resumed=True)
        spec = RunSpec(registry=registry, limits=limits, caller=caller or self._caller, deadline=deadline)
        session = self._repeated(known, past, spec, unknown, resumed)
        if isinstance(session, RunReport) or job is None:
            assert isinstance(session, RunReport)
            return session
        return self._finished(session, job)

    def replay(
        self,
        run_id: str,
        engines: Callable[[str], Engine],
        registry: Registry,
        *,
        until: int | None = None,
        caller: Caller | None = None,
    ) -> Comparison:
        """Execute a run again from its journal alone, writing nothing, and say whether it is the same.

        With `until`, it is stopped at the call of that number, and the snippet's variables are shown.
        """
        known = self._standing(run_id)
        if known.status == "running" and not known.is_waiting:
            raise NotResumable(f"{run_id} is under way in another process", hint="replay it when it has ended")
        if until is not None and known.header.kind == "direct":
            raise NotResumable(f"{run_id} is a direct call: it has no snippet whose variables could be shown")
        limits = known.header.run_limits()
        job = self._job(known, engines, limits)
        past = self._past(known, resumed=False)
        if isinstance(past, Diverged):
            return doubted(run_id, known.status, past)
        if until is not None and until not in past.calls:
            raise NotResumable(f"there is no call {until} in {run_id}", hint=f"calls it made: {len(past.calls)}")
        log, deadline, clock = self._around.log, Deadline(limits.seconds), RunClock(known.header.clock)
        facts = RunFacts(run_id, known.header.conversation_id, limits, deadline, caller=caller or self._caller)
        bridge = Bridge(self._around, registry, facts)
        repetition = ReplayHost(bridge, past.recorded, past.calls, clock, goes_on=False)
        former = FormerRun(run_id=run_id, calls=past.calls, end=past.end)
        witness = ReplayCheck(repetition, bridge, former, past.recorded.answers, log, limits, until)
        outcome = witness.judged(self._outcome(lambda: job(witness, deadline, clock), deadline))
        return compared(former, replace(outcome, stdout=bridge.stdout), witness.calls, witness.difference, witness.stop)

    def rehearse(
        self,
        snippet: Snippet,
        engine: Engine,
        registry: Registry,
        limits: Limits,
        *,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
    ) -> Rehearsal:
        """Run a snippet with its reads alone: what would change something is answered with a made-up value."""
        alone = replace(caller or self._caller, approver=NobodyToAsk(), suspends=False)
        spec = RunSpec(registry=registry, limits=limits, caller=alone, deadline=deadline, rehearsal=True)
        report, header = self._run(snippet, engine, spec)
        log = self._around.log
        calls = planned_calls(log.of_run(report.run_id, since=report.first_receipt or None), log)
        return Rehearsal(report=report, plan=Plan(rehearsal=report.run_id, header=header, calls=calls))

    def _standing(self, run_id: str) -> RunRecord:
        if self._around.database is None:
            raise NotResumable("this runtime keeps no journals")
        return find_run(self._around.database, run_id)

    def _header(
        self, kind: Any, name: str, source: bytes, inputs: bytes, engine: str, build: str, spec: RunSpec
    ) -> RunHeader:
        return RunHeader(
            kind=kind,
            name=name.encode("utf-8", "replace").decode(),
            code_hash=digest(source),
            inputs_hash=digest(inputs),
            engine=engine,
            engine_build=build,
            seed=spec.origin.seed,
            clock=spec.origin.clock,
            policy_hash=self._around.policy.digest,
            conversation_id=spec.caller.conversation,
            limits=asdict(spec.limits),
            workspace=str(self._around.workspace),
        )

    def _begin(self, header: RunHeader, contents: Mapping[str, bytes], spec: RunSpec) -> _Session:
        run_id, deadline = spec.origin.run_id, spec.deadline or Deadline(spec.limits.seconds)
        started = Draft(
            type="run.started",
            status="running",
            timestamp=now(),
            run_id=run_id,
            conversation_id=header.conversation_id,
            payload={
                "kind": header.kind,
                "name": header.name,
                "code_hash": header.code_hash,
                "inputs_hash": header.inputs_hash,
                "engine": header.engine,
                "engine_build": header.engine_build,
                "generation": spec.registry.generation,
                "autonomy": self._around.policy.autonomy.value,
                "header_hash": digest(header.text().encode()),
                "process": os.getpid(),
                **({"rehearsal": True} if spec.rehearsal else {}),
            },
        )
        # A rehearsal has no journal: nobody is to resume it.
        journaled = self._around.database is not None and not spec.rehearsal
        log, rows = self._around.log, [enter(run_id, header)] if journaled else []
        # Durable before anything runs: a log that cannot be written is found out here, not behind the first call.
        (first_receipt,) = self._around.handlers.threads.run(
            lambda: log.append(started, contents=contents, rows=rows), deadline
        )
        clock = RunClock(header.clock, behind=max(0, time.time_ns() - header.clock))
        journal = Journal(run_id, 1, clock) if rows else None
        kept = [(content_hash, len(body)) for content_hash, body in contents.items()]
        facts = RunFacts(
            run_id,
            header.conversation_id,
            spec.limits,
            deadline,
            kept=kept,
            caller=spec.caller,
            stand_in=stand_in if spec.rehearsal else None,
        )
        bridge = Bridge(self._around, spec.registry, facts, journal=journal)
        return _Session(
            run_id=run_id,
            header=header,
            fence=1,
            started=started,
            first_receipt=first_receipt,
            clock=clock,
            bridge=bridge,
            journal=journal,
            host=bridge,
            deadline=deadline,
        )

    def _repeated(
        self, known: RunRecord, past: History | Diverged, spec: RunSpec, unknown: str | None, resumed: str
    ) -> _Session | RunReport:
        header, fence = known.header, known.fence + 1
        deadline = spec.deadline or Deadline(spec.limits.seconds)
        clock = RunClock(header.clock)
        recorded, calls = (past.recorded, past.calls) if isinstance(past, History) else (None, {})
        assert self._around.database is not None
        kept = kept_so_far(self._around.database, known, calls)
        facts = RunFacts(
            known.run_id,
            header.conversation_id,
            spec.limits,
            deadline,
            calls,
            unknown,
            header.policy_hash,
            kept,
            spec.caller,
        )
        journal = Journal(known.run_id, fence, clock, recorded)
        bridge = Bridge(self._around, spec.registry, facts, journal=journal)
        host: Host = bridge
        if isinstance(past, History):
            host = ReplayHost(bridge, past.recorded, past.calls, clock)
        started = Draft("run.resumed", "running", now(), known.run_id, header.conversation_id)
        session = _Session(
            run_id=known.run_id,
            header=header,
            fence=fence,
            started=started,
            first_receipt=f"{resumed.rsplit('-', 1)[0]}-{max(known.first_seq, 1)}",
            clock=clock,
            bridge=bridge,
            journal=journal,
            host=host,
            deadline=deadline,
        )
        if isinstance(past, Diverged):
            return self._closed(session, past, 0.0)
        return session

    def _past(self, known: RunRecord, *, resumed: bool) -> History | Diverged:
        """The journal of a run, if the receipts bear it out."""
        assert self._around.database is not None
        try:
            past = read_history(self._around.database, known, self._around.log.sealed_head(), resumed=resumed)
        except DamagedReceipt as error:
            return _diverged(error.message)
        except ValueError as error:
            return _diverged(str(error))
        return past if past.doubt is None else _diverged(past.doubt)

    def _is_all(self, past: History, known: RunRecord, resumed: str) -> bool:
        """Whether nothing was added between the look at a run and its taking over."""
        assert self._around.database is not None
        ((rows,),) = self._around.database.read("SELECT count(*) FROM journal WHERE run_id = ?", (known.run_id,))
        return int(resumed.rsplit("-", 1)[1]) == past.last_seq + 1 and rows == past.recorded.rows

    def _job(self, known: RunRecord, engines: Callable[[str], Engine], limits: Limits) -> Execute:
        header, log = known.header, self._around.log
        inputs = log.contents(header.inputs_hash)
        if inputs is None:
            raise NotResumable(f"the inputs of {known.run_id} are no longer kept")
        if header.kind == "direct":
            return judged(direct_job(header.name, inputs))
        source = log.contents(header.code_hash)
        if source is None:
            raise NotResumable(f"the source of {known.run_id} is no longer kept")
        engine = engines(header.engine)
        if engine.build != header.engine_build:
            raise NotResumable(
                f"{known.run_id} began on {header.engine_build}; this is {engine.build}",
                hint="go on with the installation it began on, or start it again",
            )
        snippet = Snippet(source=source.decode(), name=header.name, inputs=from_json(inputs))
        return judged(snippet_job(snippet, engine, limits, header))

    def _finished(self, session: _Session, job: Execute) -> RunReport:
        began = time.perf_counter()
        outcome = self._outcome(lambda: job(session.host, session.deadline, session.clock), session.deadline)
        return self._closed(session, outcome, (time.perf_counter() - began) * 1000)

    def _outcome(self, execute: Callable[[], Outcome], deadline: Deadline) -> Outcome:
        if deadline.cancelled:
            return Cancelled()  # Before it began.
        try:
            # On a thread that can be left alone, should a handler that was called in place never return.
            outcome: Outcome = self._around.handlers.threads.run(execute, deadline, grace=_GRACE_SECONDS)
            return outcome
        except Abandoned:
            return deadline.outcome or TimedOut(seconds=deadline.seconds)
        except EvidenceUnavailable as error:
            return Crashed(reason=error.message, hint=error.hint)
        except BaseException as error:
            _logger.exception("a run failed")
            return Crashed(reason=f"the run failed inside CoilClaw: {type(error).__name__}", hint="this is a bug")

    def _closed(self, session: _Session, outcome: Outcome, duration: float) -> RunReport:
        bridge, log = session.bridge, self._around.log
        outcome = replace(outcome, stdout=bridge.stdout)
        status = outcome.status
        kind = {"suspended": "run.suspended", "diverged": "run.diverged"}.get(status, "run.finished")

        def finish() -> None:
            bridge.close()
            facts: dict[str, Any] = {
                "duration_us": int(duration * 1000),
                "stdout_hash": digest(bridge.stdout.encode()),
            }
            if isinstance(outcome, Completed):
                facts["value_hash"] = value_digest(outcome.value)
            if bridge.stopped is not None:
                facts["stopped"] = bridge.stopped
            if isinstance(outcome, Diverged):
                facts["difference"] = outcome.error.message[:500]
            rows: list[Row] = []
            if session.journal is not None:
                log.flush()
                rows = [leave(session.run_id, session.fence, status)]
                facts |= session.journal.pins()
                if self._around.approvals is not None and status != "suspended":
                    rows.append(self._around.approvals.void(session.run_id))
            log.append(session.started._replace(type=kind, status=status, timestamp=now(), payload=facts), rows=rows)
            if self._around.database is not None:
                self._around.database.shrink()

        try:
            # Again not on the caller's thread: an interrupt must not fall into a commit.
            self._around.handlers.threads.run(finish, session.deadline)
        except Conflict:
            outcome = Crashed(reason="another process has taken this run over", stdout=bridge.stdout)
        except EvidenceUnavailable as error:
            outcome = Crashed(reason=error.message, hint=error.hint, stdout=bridge.stdout)
        return RunReport(
            run_id=session.run_id,
            engine=session.header.engine,
            outcome=outcome,
            stdout=bridge.stdout,
            duration_ms=round(duration, 3),
            first_receipt=session.first_receipt,
            unmet=frozenset(bridge.unmet),
            unknown=bridge.unknown.name if bridge.unknown else None,
        )


def _result_of(report: RunReport) -> Result[Any]:
    if isinstance(report.outcome, Completed):
        return Ok(report.value)
    error = report.error
    if isinstance(report.outcome, Failed) and error is not None:
        return Err(error.type, error.message, error.hint)
    return Err(report.status, error.message if error else report.status)


def _refuse_without_tools(past: History, registry: Registry) -> None:
    """A tool that cannot be loaded just now is no reason to give up a run that has waited for days."""
    for call in past.calls.values():
        if call.tool_version is not None and registry.resolve(call.tool) is None:
            raise NotResumable(
                f"{call.tool}, which the run has called, is not there", hint="`coilclaw tool list` says why"
            )


def _diverged(message: str) -> Diverged:
    return Diverged(error=SnippetError(type="Diverged", message=message, hint="start it again as a new run"))
