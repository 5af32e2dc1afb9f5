"""Replay a run: execute it again from its journal alone, write nothing, and compare."""

from __future__ import annotations

from dataclasses import replace

from coilclaw.bridge import Bridge, Caller, NotResumable, Registry, ReplayHost, RunSpec, Services
from coilclaw.runs.comparison import Comparison, FormerRun, compared, doubted
from coilclaw.runs.recorded_run import Engines, RecordedRun
from coilclaw.runs.replay_check import ReplayCheck
from coilclaw.runs.session import outcome_of
from coilclaw.sandbox import Deadline, Diverged, RunClock

__all__ = ["replay_run"]


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
    outcome = check.judged(outcome_of(lambda: job.execute(check, deadline, pins), services.handlers, deadline))
    return compared(former, replace(outcome, stdout=bridge.stdout), check.calls, check.difference, check.stop)
