"""Runtime: runs snippets and direct calls, and resumes, replays and rehearses runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coilclaw.bridge import Caller, ReusableWrites, RunSpec
from coilclaw.policy import NobodyToAsk
from coilclaw.runs.errors import NotRetryable
from coilclaw.runs.jobs import direct_job, snippet_job
from coilclaw.runs.start import RunOrigin, start_run
from coilclaw.sandbox import Completed, Deadline, Failed
from coilclaw.sdk import Err, Ok

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coilclaw.bridge import Registry, Services
    from coilclaw.runs.comparison import Comparison
    from coilclaw.runs.plan import ApprovedPlan, Rehearsal
    from coilclaw.runs.report import RunReport
    from coilclaw.sandbox import Engine, Limits, Snippet
    from coilclaw.sdk import Result

__all__ = ["Runtime"]


class Runtime:
    """Everything that its runs share is given; nothing here is global."""

    def __init__(self, services: Services, caller: Caller | None = None) -> None:
        self._services = services
        self._caller = caller or Caller()

    @property
    def services(self) -> Services:
        """What all its runs share."""
        return self._services

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
        retry_of: str | None = None,
    ) -> RunReport:
        """Run a snippet to its end. Raises EvidenceUnavailable before anything ran if receipts cannot be written.

        With `planned`, it carries out the plan that was approved. With `run_id`, that is its name. With `retry_of`,
        calls that are the same as succeeded writes of that run are answered from its receipts. Raises NotRetryable.
        """
        caller, origin = caller or self._caller, _origin(run_id)
        reusable = None
        if retry_of is not None:
            from coilclaw.runs.retry import earlier_writes, refuse_retry

            if planned is not None:
                raise NotRetryable("a plan is carried out as it was rehearsed, and not as a retry")
            refuse_retry(self._services, retry_of, caller.conversation)
            reusable = ReusableWrites(earlier_writes(self._services, retry_of))
            origin = replace(origin, retry_of=retry_of)
        if planned is not None:
            from coilclaw.runs.plan import PlannedAnswers

            origin = planned.beginning
            caller = replace(caller, approver=PlannedAnswers(planned, caller.approver))
        spec, job = _spec(origin, registry, limits, caller, deadline), snippet_job(snippet, engine, limits)
        spec = replace(spec, reusable=reusable)
        return start_run(self._services, spec, origin, job, planned).execute(job)

    def queue(
        self, snippet: Snippet, engine: str, limits: Limits, *, caller: Caller, run_id: str, retry_of: str | None
    ) -> None:
        """Accept a run, durably, that some process of this home is to execute. Raises NotRetryable."""
        from coilclaw.runs.queue import queue_run

        queue_run(self._services, run_id, snippet, engine, limits, caller, retry_of)

    def run_queued(
        self, run_id: str, engines: Callable[[str], Engine], registry: Registry, *, caller: Caller, deadline: Deadline
    ) -> RunReport:
        """Begin a queued run and execute it. Raises NotResumable if it was begun or cancelled meanwhile."""
        from coilclaw.runs.queue import run_queued

        return run_queued(self._services, run_id, engines, registry, caller, deadline)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        registry: Registry,
        limits: Limits,
        *,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
        run_id: str | None = None,
    ) -> tuple[Result[Any], RunReport]:
        """Call one tool directly. The same path, the same receipts; only the sandbox is missing."""
        origin, job = _origin(run_id), direct_job(tool, arguments)
        spec = _spec(origin, registry, limits, caller or self._caller, deadline)
        report = start_run(self._services, spec, origin, job).execute(job)
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
        """Resume a suspended run: repeat it from its journal, then continue. Nothing is executed twice."""
        from coilclaw.runs.resume import resume_run

        return resume_run(self._services, run_id, engines, registry, caller or self._caller, deadline, unknown)

    def replay(
        self,
        run_id: str,
        engines: Callable[[str], Engine],
        registry: Registry,
        *,
        until: int | None = None,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
    ) -> Comparison:
        """Execute a run again from its journal alone, writing nothing, and say whether it is the same.

        With `until`, it is stopped at the call of that number, and the snippet's variables are shown.
        """
        from coilclaw.runs.replay import replay_run

        return replay_run(self._services, run_id, engines, registry, caller or self._caller, until, deadline)

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
        """Run a snippet with its reads only: other calls are answered with sample values."""
        from coilclaw.runs.plan import Plan, Rehearsal, planned_calls
        from coilclaw.runs.sample_value import stand_in

        origin, job = RunOrigin(), snippet_job(snippet, engine, limits)
        alone = replace(caller or self._caller, approver=NobodyToAsk(), suspends=False)
        spec = replace(_spec(origin, registry, limits, alone, deadline), stand_in=stand_in)
        session, log = start_run(self._services, spec, origin, job), self._services.log
        report = session.execute(job)
        calls = planned_calls(log.of_run(report.run_id, since=report.first_receipt or None), log)
        return Rehearsal(report=report, plan=Plan(rehearsal=report.run_id, header=session.header, calls=calls))


def _origin(run_id: str | None) -> RunOrigin:
    return RunOrigin() if run_id is None else RunOrigin(run_id=run_id)


def _spec(origin: RunOrigin, registry: Registry, limits: Limits, caller: Caller, deadline: Deadline | None) -> RunSpec:
    return RunSpec(
        run_id=origin.run_id,
        registry=registry,
        limits=limits,
        deadline=deadline or Deadline(limits.seconds),
        caller=caller,
    )


def _result_of(report: RunReport) -> Result[Any]:
    if isinstance(report.outcome, Completed):
        return Ok(report.value)
    error = report.error
    if isinstance(report.outcome, Failed) and error is not None:
        return Err(error.type, error.message, error.hint)
    return Err(report.status, error.message if error else report.status)
