"""Start a run: write its header and its first receipt, before anything of it runs."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from coilclaw.bridge import Bridge, Journal, RunHeader, add_run, begin_queued_run
from coilclaw.receipts import Draft, digest, now
from coilclaw.runs.session import Session
from coilclaw.sandbox import RunClock
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.bridge import Caller, RunSpec, Services
    from coilclaw.runs.jobs import Job
    from coilclaw.runs.plan import ApprovedPlan
    from coilclaw.sandbox import Limits

__all__ = ["RunOrigin", "header_facts", "make_header", "new_run_id", "start_run"]


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
    services: Services,
    spec: RunSpec,
    origin: RunOrigin,
    job: Job,
    planned: ApprovedPlan | None = None,
    queued: RunHeader | None = None,
) -> Session:
    """Begin a run of a job. A rehearsal has no journal: nobody is to resume it.

    With `queued`, the header it was accepted with, it begins only if it is still in the queue. Raises Conflict.
    """
    rehearsal = spec.stand_in is not None
    header = make_header(services, spec.caller, spec.limits, origin, job, queued)
    if planned is not None:
        planned.claim(header)
    payload = {
        **header_facts(header),
        "generation": spec.registry.generation,
        "autonomy": services.policy.autonomy.value,
        "process": os.getpid(),
        **({"rehearsal": True} if rehearsal else {}),
        **({"retry_of": header.retry_of} if header.retry_of else {}),
        **({"request": header.request} if header.request else {}),
    }
    started = Draft("run.started", "running", now(), spec.run_id, header.conversation_id, payload=payload)
    row = add_run(spec.run_id, header) if queued is None else begin_queued_run(spec.run_id, header)
    contents, rows = job.contents, [] if rehearsal else [row]
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


def header_facts(header: RunHeader) -> dict[str, Any]:
    """What the receipt of a run's beginning, or of its being queued, says of its header."""
    shown = ("kind", "name", "code_hash", "inputs_hash", "engine", "engine_build")
    return {**{name: getattr(header, name) for name in shown}, "header_hash": digest(header.text().encode())}


def make_header(
    services: Services, caller: Caller, limits: Limits, origin: RunOrigin, job: Job, queued: RunHeader | None = None
) -> RunHeader:
    """The header of a run that begins now."""
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
        conversation_id=caller.conversation,
        limits=dict(vars(limits)),
        workspace=str(services.workspace),
        retry_of=origin.retry_of,
        request=caller.request,
        tools_allow=caller.tools_allow,
        accepted=None if queued is None else queued.accepted,
        project=caller.project,
    )
