"""Runs: a snippet in a sandbox, or one direct call, with a receipt at each end."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from pydantic_core import from_json, to_json

from coilclaw.bridge import Bridge, Journal, Registry, Repetition, RunFacts, Surroundings, read_journal
from coilclaw.receipts import Conflict, DamagedReceipt, Draft, Row, digest, now
from coilclaw.runs.errors import NotResumable
from coilclaw.runs.header import Header, Standing, enter, leave, standing, take_over
from coilclaw.runs.history import first_doubt, prior_calls
from coilclaw.runs.report import RunReport
from coilclaw.sandbox import (
    Abandoned,
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
    RunEnded,
    Snippet,
    SnippetError,
    TimedOut,
)
from coilclaw.sdk import Err, EvidenceUnavailable, Ok, Receipt, Result

__all__ = ["Runtime"]

_logger = logging.getLogger(__name__)

_GRACE_SECONDS: Final = 0.15
"""How long a run that is over may take to notice, before it is left alone."""

Execute = Callable[[Host, Deadline, RunClock], Outcome]
Show = Callable[[int, str], None]


def _ignore(stream: int, text: str) -> None:
    return None


def _new_run_id() -> str:
    # Sortable by time and unique between processes.
    return f"run-{time.time_ns() // 1_000_000:011x}{secrets.token_hex(4)}"


@dataclass(frozen=True, kw_only=True)
class _Session:
    """One stretch of a run in one process."""

    run_id: str
    header: Header
    fence: int
    started: Draft
    first_receipt: str
    clock: RunClock
    bridge: Bridge
    host: Host
    deadline: Deadline


class Runtime:
    """Starts runs, and goes on with runs that waited. Everything they share is given; nothing here is global."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._around = surroundings

    def run(
        self,
        snippet: Snippet,
        engine: Engine,
        registry: Registry,
        limits: Limits,
        *,
        deadline: Deadline | None = None,
        conversation_id: str | None = None,
        show: Show = _ignore,
    ) -> RunReport:
        """Run a snippet to its end. Raises EvidenceUnavailable before anything ran if receipts cannot be written."""
        source, inputs = snippet.source.encode("utf-8", "replace"), to_json(dict(snippet.inputs))
        header = self._header(
            "snippet", snippet.name, source, inputs, engine.name, engine.build, limits, conversation_id
        )
        contents = {digest(source): source, digest(inputs): inputs}
        session = self._begin(header, contents, registry, limits, deadline, show)
        return self._finished(session, _snippet_job(snippet, engine, limits, header))

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        registry: Registry,
        limits: Limits,
        *,
        deadline: Deadline | None = None,
        conversation_id: str | None = None,
    ) -> tuple[Result[Any], RunReport]:
        """Call one tool directly. The same path, the same receipts; only the sandbox is missing."""
        sent = to_json(dict(arguments))
        header = self._header("direct", tool, tool.encode(), sent, "direct", "direct", limits, conversation_id)
        session = self._begin(header, {digest(sent): sent}, registry, limits, deadline, _ignore)
        report = self._finished(session, _direct_job(tool, sent))
        return _result_of(report), report

    def resume(
        self,
        run_id: str,
        engines: Callable[[str], Engine],
        registry: Registry,
        *,
        deadline: Deadline | None = None,
        unknown: str | None = None,
        show: Show = _ignore,
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
        job = self._job(known, engines, limits)
        receipt = Draft(
            "run.resumed", "running", now(), run_id, header.conversation_id, payload={"process": os.getpid()}
        )
        try:
            (resumed,) = self._around.log.append(receipt, rows=[take_over(known)])
        except Conflict:
            raise NotResumable(f"{run_id} was taken by another process just now") from None
        session = self._repeated(known, registry, limits, deadline, unknown, show, resumed)
        if isinstance(session, RunReport):
            return session
        return self._finished(session, job)

    def replay(
        self, run_id: str, engines: Callable[[str], Engine], registry: Registry, *, show: Show = _ignore
    ) -> tuple[Outcome, str]:
        """Execute a run again from its journal alone, writing nothing; returns how it ended and what it printed."""
        known = self._standing(run_id)
        limits = known.header.run_limits()
        job = self._job(known, engines, limits)
        facts = RunFacts(run_id, known.header.conversation_id, limits, Deadline(limits.seconds))
        clock = RunClock(known.header.clock)
        bridge = Bridge(self._around, registry, facts, show=show)
        host = self._repetition(known, bridge, clock, goes_on=False)
        if isinstance(host, Diverged):
            return host, ""
        outcome = self._outcome(lambda: job(host, facts.deadline, clock), facts.deadline)
        return replace(outcome, stdout=bridge.stdout), bridge.stdout

    def _standing(self, run_id: str) -> Standing:
        if self._around.database is None:
            raise NotResumable("this runtime keeps no journals")
        return standing(self._around.database, run_id)

    def _header(
        self,
        kind: Any,
        name: str,
        source: bytes,
        inputs: bytes,
        engine: str,
        build: str,
        limits: Limits,
        conversation_id: str | None,
    ) -> Header:
        return Header(
            kind=kind,
            name=name.encode("utf-8", "replace").decode(),
            code_hash=digest(source),
            inputs_hash=digest(inputs),
            engine=engine,
            engine_build=build,
            seed=secrets.token_hex(32),
            clock=time.time_ns(),
            policy_hash=self._around.policy.digest,
            conversation_id=conversation_id,
            limits=asdict(limits),
        )

    def _begin(
        self,
        header: Header,
        contents: Mapping[str, bytes],
        registry: Registry,
        limits: Limits,
        deadline: Deadline | None,
        show: Show,
    ) -> _Session:
        run_id = _new_run_id()
        deadline = deadline or Deadline(limits.seconds)
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
                "generation": registry.generation,
                "autonomy": self._around.policy.autonomy.value,
                "header_hash": digest(header.text().encode()),
                "process": os.getpid(),
            },
        )
        log, rows = self._around.log, [enter(run_id, header)] if self._around.database is not None else []
        # Durable before anything runs: a log that cannot be written is found out here, not behind the first call.
        (first_receipt,) = self._around.handlers.threads.run(
            lambda: log.append(started, contents=contents, rows=rows), deadline
        )
        clock = RunClock(header.clock)
        journal = Journal(run_id, 1, clock) if rows else None
        facts = RunFacts(run_id, header.conversation_id, limits, deadline)
        bridge = Bridge(self._around, registry, facts, journal=journal, show=show)
        return _Session(
            run_id=run_id,
            header=header,
            fence=1,
            started=started,
            first_receipt=first_receipt,
            clock=clock,
            bridge=bridge,
            host=bridge,
            deadline=deadline,
        )

    def _repeated(
        self,
        known: Standing,
        registry: Registry,
        limits: Limits,
        deadline: Deadline | None,
        unknown: str | None,
        show: Show,
        resumed: str,
    ) -> _Session | RunReport:
        header, fence = known.header, known.fence + 1
        deadline = deadline or Deadline(limits.seconds)
        clock = RunClock(header.clock)
        database = self._around.database
        assert database is not None
        position = len(read_journal(database, known.run_id).deliveries)
        receipts = self._around.log.proven(known.run_id, known.first_seq)
        facts = RunFacts(known.run_id, header.conversation_id, limits, deadline, prior_calls(receipts), unknown)
        journal = Journal(known.run_id, fence, clock, position)
        bridge = Bridge(self._around, registry, facts, journal=journal, show=show)
        host = self._repetition(known, bridge, clock, goes_on=True)
        started = Draft("run.resumed", "running", now(), known.run_id, header.conversation_id)
        session = _Session(
            run_id=known.run_id,
            header=header,
            fence=fence,
            started=started,
            first_receipt=f"{resumed.rsplit('-', 1)[0]}-{max(known.first_seq, 1)}",
            clock=clock,
            bridge=bridge,
            host=bridge if isinstance(host, Diverged) else host,
            deadline=deadline,
        )
        if isinstance(host, Diverged):
            return self._closed(session, host, 0.0)
        return session

    def _repetition(self, known: Standing, bridge: Bridge, clock: RunClock, *, goes_on: bool) -> Host | Diverged:
        """The journal, if the receipts bear it out."""
        assert self._around.database is not None
        try:
            receipts = self._around.log.proven(known.run_id, known.first_seq)
        except DamagedReceipt as error:
            return _diverged(error.message)
        recorded = read_journal(self._around.database, known.run_id)
        calls = prior_calls(receipts)
        pinned = [receipt.payload["journal_hash"] for receipt in receipts if "journal_hash" in receipt.payload]
        began = [receipt.payload.get("header_hash") for receipt in receipts if receipt.type == "run.started"]
        if pinned and pinned[-1] != recorded.digest and not _went_on(receipts):
            return _diverged("the journal is not the one that was left when the run was suspended")
        if began and began[0] != digest(known.header.text().encode()):
            return _diverged("the run's header is not the one it began with")
        if doubt := first_doubt(receipts, recorded, calls):
            return _diverged(doubt)
        return Repetition(bridge, recorded, calls, self._around.log, clock, goes_on=goes_on)

    def _job(self, known: Standing, engines: Callable[[str], Engine], limits: Limits) -> Execute:
        header, log = known.header, self._around.log
        inputs = log.contents(header.inputs_hash)
        if inputs is None:
            raise NotResumable(f"the inputs of {known.run_id} are no longer kept")
        if header.kind == "direct":
            return _direct_job(header.name, inputs)
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
        return _snippet_job(snippet, engine, limits, header)

    def _finished(self, session: _Session, job: Execute) -> RunReport:
        began = time.perf_counter()
        outcome = self._outcome(lambda: job(session.host, session.deadline, session.clock), session.deadline)
        return self._closed(session, outcome, (time.perf_counter() - began) * 1000)

    def _outcome(self, execute: Callable[[], Outcome], deadline: Deadline) -> Outcome:
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
                facts["value_hash"] = digest(to_json(outcome.value))
            if bridge.stopped is not None:
                facts["stopped"] = bridge.stopped
            if isinstance(outcome, Diverged):
                facts["difference"] = outcome.error.message[:500]
            rows: list[Row] = []
            if self._around.database is not None:
                log.flush()
                facts["journal_hash"] = read_journal(self._around.database, session.run_id).digest
                rows = [leave(session.run_id, session.fence, status)]
            log.append(session.started._replace(type=kind, status=status, timestamp=now(), payload=facts), rows=rows)

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


def _snippet_job(snippet: Snippet, engine: Engine, limits: Limits, header: Header) -> Execute:
    def execute(host: Host, deadline: Deadline, clock: RunClock) -> Outcome:
        return engine.execute(snippet, limits, host, deadline, clock.pins(bytes.fromhex(header.seed)))

    return execute


def _direct_job(tool: str, sent: bytes) -> Execute:
    def execute(host: Host, deadline: Deadline, clock: RunClock) -> Outcome:
        try:
            fields = from_json(host.call(tool, sent, 0))
        except RunEnded as ended:
            return ended.outcome
        if fields["ok"]:
            return Completed(value=fields["value"])
        return Failed(error=SnippetError(type=fields["code"], message=fields["message"], hint=fields["hint"]))

    return execute


def _result_of(report: RunReport) -> Result[Any]:
    if isinstance(report.outcome, Completed):
        return Ok(report.value)
    error = report.error
    if isinstance(report.outcome, Failed) and error is not None:
        return Err(error.type, error.message, error.hint)
    return Err(report.status, error.message if error else report.status)


def _went_on(receipts: Sequence[Receipt]) -> bool:
    """Whether a process went on after the journal was pinned and came to no end: it may have added to it."""
    types = [receipt.type for receipt in receipts]
    pinned = max(at for at, receipt in enumerate(receipts) if "journal_hash" in receipt.payload)
    return types[pinned:].count("run.resumed") > 1


def _diverged(message: str) -> Diverged:
    return Diverged(error=SnippetError(type="Diverged", message=message, hint="start it again as a new run"))
