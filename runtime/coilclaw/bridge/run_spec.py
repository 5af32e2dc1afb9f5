"""RunSpec: the registry, limits, deadline and caller of one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from coilclaw.bridge.caller import Caller
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.bridge.prior_calls import PriorCall
    from coilclaw.bridge.registry import Registry
    from coilclaw.bridge.reuse import ReusableWrites
    from coilclaw.sandbox import Deadline, Limits
    from coilclaw.sdk import Tool

__all__ = ["RunSpec"]


class RunSpec(Frozen):
    """One run, as far as its calls depend on it: tools, limits, caller, and what earlier processes have done."""

    run_id: str
    registry: Registry
    limits: Limits
    deadline: Deadline
    caller: Caller = field(default_factory=Caller)
    tools_allow: tuple[tuple[str, ...], ...] = ()
    """For a resumed run: what it was allowed to call when it began, beside what its caller allows now."""
    stand_in: Callable[[Tool], bytes] | None = None
    """For a rehearsal: answers each call that could change something or needs approval; it is not made."""
    prior: Mapping[int, PriorCall] = field(default_factory=dict)
    """For a resumed run: the calls it has made so far, by number."""
    unknown: str | None = None
    """What a person said about the first call of unknown outcome: `retry` or `failed`."""
    reusable: ReusableWrites | None = None
    """For a retry: writes of earlier runs that answer the same calls of this one."""
    policy_hash: str | None = None
    """The policy under which a resumed run began."""
    kept: Sequence[tuple[str, int]] = ()
    """Hashes and sizes of everything that the run has left in the store so far."""
