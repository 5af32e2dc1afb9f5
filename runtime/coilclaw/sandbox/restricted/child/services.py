"""What facades need from the run they are part of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from coilclaw.sandbox.guest.pending_calls import Completions
from coilclaw.sandbox.restricted.child.attributes import Attributes

__all__ = ["Clock", "Services"]


class Clock(Protocol):
    """The run's own time, which the host tells."""

    def wall(self) -> int: ...
    def monotonic(self) -> int: ...
    def sleep(self, nanoseconds: int) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Services:
    """Made once in the warm parent; the parts that belong to one run are connected in the child."""

    attributes: Attributes
    clock: Clock
    entropy: Callable[[int], bytes]
    completions: Completions
