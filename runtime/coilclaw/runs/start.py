"""Start a run: write its header and its first receipt, before anything of it runs."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import field, replace
from typing import TYPE_CHECKING

from coilclaw.bridge import Bridge, Journal, RunHeader, add_run
from coilclaw.receipts import Draft, digest, now
from coilclaw.runs.session import Session
from coilclaw.sandbox import RunClock
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.bridge import RunSpec, Services
    from coilclaw.runs.jobs import Job
    from coilclaw.runs.plan import ApprovedPlan

__all__ = ["RunOrigin", "new_run_id", "start_run"]


def new_run_id() -> str:
    """Return the name of a run that is about to begin."""
    # Sortable by time and unique between processes.
    return f"run-{time.time_ns() // 1_000_000:011x}{secrets.token_hex(4)}"


class RunOrigin(Frozen):
    """Drawn afresh for every run; a run that carries out a plan has the chance and the time of its rehearsal."""

    run_id: str = field(default_factory=new_run_id)
    seed: str = field(default_factory=lambda: secrets.token_hex(32))
    clock: int = field(default_factory=time.time_ns)
    retry_of: str | None = None
    """The run whose succeeded writes are not made again."""


def start_run(
    services: Services, spec: RunSpec, origin: RunOrigin, job: Job, planned: ApprovedPlan | None = None
) -> Session:
    """Begin a run of a job. A rehearsal has no journal: nobody is to resume it."""
    rehearsal = spec.stand_in is not None
    header = _header(services, spec, origin, job)
    if planned is not None:
        planned.claim(header)
    shown = ("kind", "name", "code_hash", "inputs_hash", "engine", "engine_build")
    payload = {
        **{name: getattr(header, name) for name in shown},
        "generation": spec.registry.generation,
        "autonomy": services.policy.autonomy.value,
        "header_hash": digest(header.text().encode()),
        "process": os.getpid(),
        **({"rehearsal": True} if rehearsal else {}),
        **({"retry_of": header.retry_of} if header.retry_of else {}),
        **({"request": header.request} if header.request else {}),
    }
    started = Draft("run.started", "running", now(), spec.run_id, header.conversation_id, payload=payload)
    contents, rows = job.contents, [] if rehearsal else [add_run(spec.run_id, header)]
    # Durable before anything runs: a log that cannot be written is found out here, not behind the first call.
    (first_receipt,) = services.handlers.threads.run_uninterrupted(
        lambda: services.log.append(started, contents=contents, rows=rows), spec.deadline
    )
    spec = replace(spec, kept=[(content_hash, len(body)) for content_hash, body in contents.items()])
    clock = RunClock(header.clock, behind=max(0, time.time_ns() - header.clock))
    journal = None if rehearsal else Journal(spec.run_id, 1, clock)
    return Session(
        services=services,
        spec=spec,
        header=header,
        first_receipt=first_receipt,
        clock=clock,
        bridge=Bridge(services, spec, journal=journal),
        journal=journal,
    )


def _header(services: Services, spec: RunSpec, origin: RunOrigin, job: Job) -> RunHeader:
    return RunHeader(
        kind=job.kind,
        name=job.name.encode("utf-8", "replace").decode(),
        code_hash=digest(job.source),
        inputs_hash=digest(job.inputs),
        engine=job.engine,
        engine_build=job.build,
        seed=origin.seed,
        clock=origin.clock,
        policy_hash=services.policy.digest,
        conversation_id=spec.caller.conversation,
        limits=dict(vars(spec.limits)),
        workspace=str(services.workspace),
        retry_of=origin.retry_of,
        request=spec.caller.request,
        tools_allow=spec.caller.tools_allow,
    )
