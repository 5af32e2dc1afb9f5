"""What a run begins with that is not in its source: its name, its chance, its time, and the run it is a retry of."""

from __future__ import annotations

import secrets
import time
from dataclasses import field

from coilclaw.sdk.frozen import Frozen

__all__ = ["RunOrigin", "new_run_id"]


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
