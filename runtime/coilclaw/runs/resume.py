"""Resume a suspended run: repeat it from its journal, then continue it. Nothing is executed twice."""

from __future__ import annotations

import os
from dataclasses import replace

from coilclaw.bridge import (
    Bridge,
    Caller,
    Journal,
    NotResumable,
    Registry,
    ReplayHost,
    ReusableWrites,
    RunRecord,
    RunSpec,
    Services,
    take_over,
)
from coilclaw.receipts import Conflict, Draft, now
from coilclaw.runs.history import History, kept_so_far
from coilclaw.runs.recorded_run import Engines, RecordedRun
from coilclaw.runs.report import RunReport
from coilclaw.runs.retry import earlier_writes
from coilclaw.runs.session import Session
from coilclaw.sandbox import Deadline, Diverged, RunClock

__all__ = ["resume_run"]


def resume_run(
    services: Services,
    run_id: str,
    engines: Engines,
    registry: Registry,
    caller: Caller,
    deadline: Deadline | None,
    unknown: str | None,
) -> RunReport:
    """Take a suspended run over and run it to its end. Raises NotResumable, and then nothing has changed."""
    run = RecordedRun(services, run_id)
    record, header = run.record, run.record.header
    _refuse_unless_resumable(services, record)
    past, job = run.resumable_history(), None
    if isinstance(past, History):
        _refuse_without_tools(past, registry)
        job = run.job(engines)
    writes = () if header.retry_of is None else earlier_writes(services, header.retry_of)
    receipt = Draft("run.resumed", "running", now(), run_id, header.conversation_id, payload={"process": os.getpid()})
    try:
        (resumed,) = services.log.append(receipt, rows=[take_over(record)])
    except Conflict:
        raise NotResumable(f"{run_id} was taken by another process just now") from None
    if isinstance(past, History) and not past.is_all(services.database, run_id, resumed):
        past = run.resumable_history(resumed=True)
    calls = past.calls if isinstance(past, History) else {}
    used = {each.reused for each in calls.values() if each.reused is not None}
    spec = RunSpec(
        run_id=run_id,
        registry=registry,
        limits=run.limits,
        deadline=deadline or Deadline(run.limits.seconds),
        caller=replace(caller, conversation=header.conversation_id, project=header.project),
        tools_allow=() if header.tools_allow is None else (tuple(header.tools_allow),),
        prior=calls,
        unknown=unknown,
        reusable=None if header.retry_of is None else ReusableWrites(writes, used),
        policy_hash=header.policy_hash,
        kept=kept_so_far(services.database, record, past if isinstance(past, History) else None),
    )
    clock = RunClock(header.clock)
    recorded = past.recorded if isinstance(past, History) else None
    journal = Journal(run_id, record.fence + 1, clock, recorded)
    session = Session(
        services=services,
        spec=spec,
        header=header,
        first_receipt=f"{resumed.rsplit('-', 1)[0]}-{record.first_seq + 1}",
        clock=clock,
        bridge=Bridge(services, spec, journal=journal),
        journal=journal,
    )
    if isinstance(past, Diverged) or job is None:
        assert isinstance(past, Diverged)
        return session.close(past)
    return session.execute(job, ReplayHost(session.bridge, past.recorded, past.calls, clock))


def _refuse_unless_resumable(services: Services, record: RunRecord) -> None:
    """Refuse a run that is not suspended, that the emergency stop would only suspend again, or of another workspace."""
    run_id, workspace = record.run_id, record.header.workspace
    if not record.is_waiting:
        state = "is under way in another process" if record.status == "running" else f"is {record.status}"
        raise NotResumable(f"{run_id} {state}", hint="only a suspended or orphaned run can be resumed")
    stopped = services.stop() if services.stop is not None else None
    if stopped is not None:
        raise NotResumable(
            f"{run_id} waits on: {stopped}", hint="`coilclaw estop --clear` and `estop.clear()` end the stop"
        )
    if workspace != str(services.workspace):
        # Its calls were asked about where they were meant to happen.
        raise NotResumable(f"{run_id} began in the workspace {workspace}", hint="resume it there")


def _refuse_without_tools(past: History, registry: Registry) -> None:
    """A tool that cannot be loaded just now is no reason to give up a run that has waited for days."""
    for call in past.calls.values():
        if call.tool_version is not None and registry.resolve(call.tool) is None:
            raise NotResumable(
                f"{call.tool}, which the run has called, is not there",
                hint="`coilclaw tool list` and `tools.registry.diagnostics` say why",
            )
