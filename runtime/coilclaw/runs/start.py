"""Start a run: write its header and its first receipt, before anything of it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from coilclaw.bridge import Bridge, Journal, RunHeader, enter
from coilclaw.receipts import Draft, digest, now
from coilclaw.runs.session import Session
from coilclaw.sandbox import RunClock

if TYPE_CHECKING:
    from coilclaw.bridge import RunSpec, Services
    from coilclaw.runs.run_origin import RunOrigin

__all__ = ["make_header", "start_run"]


def make_header(
    services: Services,
    spec: RunSpec,
    origin: RunOrigin,
    *,
    kind: Literal["snippet", "direct"],
    name: str,
    source: bytes,
    inputs: bytes,
    engine: str,
    build: str,
) -> RunHeader:
    """The header of a new run: everything that is needed to repeat it."""
    return RunHeader(
        kind=kind,
        name=name.encode("utf-8", "replace").decode(),
        code_hash=digest(source),
        inputs_hash=digest(inputs),
        engine=engine,
        engine_build=build,
        seed=origin.seed,
        clock=origin.clock,
        policy_hash=services.policy.digest,
        conversation_id=spec.caller.conversation,
        limits=asdict(spec.limits),
        workspace=str(services.workspace),
    )


def start_run(services: Services, spec: RunSpec, header: RunHeader, contents: Mapping[str, bytes]) -> Session:
    """Begin a run. `contents` are its source and its inputs, which are kept with its first receipt.

    A rehearsal has no journal: nobody is to resume it.
    """
    rehearsal = spec.stand_in is not None
    started = Draft(
        type="run.started",
        status="running",
        timestamp=now(),
        run_id=spec.run_id,
        conversation_id=header.conversation_id,
        payload={
            "kind": header.kind,
            "name": header.name,
            "code_hash": header.code_hash,
            "inputs_hash": header.inputs_hash,
            "engine": header.engine,
            "engine_build": header.engine_build,
            "generation": spec.registry.generation,
            "autonomy": services.policy.autonomy.value,
            "header_hash": digest(header.text().encode()),
            "process": os.getpid(),
            **({"rehearsal": True} if rehearsal else {}),
        },
    )
    rows = [] if rehearsal else [enter(spec.run_id, header)]
    # Durable before anything runs: a log that cannot be written is found out here, not behind the first call.
    (first_receipt,) = services.handlers.threads.run(
        lambda: services.log.append(started, contents=contents, rows=rows), spec.deadline
    )
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
