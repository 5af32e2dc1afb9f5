"""Time inside a run."""

from __future__ import annotations

import time
from typing import Final

from coilclaw.sandbox.engine import Pins

__all__ = ["RunClock"]

_LOOK_NANOSECONDS: Final = 10_000
_BOOTED_NANOSECONDS: Final = 1_000_000_000


class RunClock:
    """Moves when the run sleeps, when something outside answers, and a little with every look.

    Everything it moves by is known to the journal or follows from the snippet, so that a run which is
    repeated sees the same times. A loop that waits for the time to pass still ends; code that measures
    itself between two calls sees next to nothing.
    """

    def __init__(self, started: int | None = None, *, behind: int = 0) -> None:
        self.started = time.time_ns() if started is None else started
        self._behind = behind
        """How much earlier it is in the run than outside: a plan was made some time before it is carried out."""
        self.offset = 0
        self.repeating = False
        """While what happened before is repeated, nobody waits for time to pass."""

    def pins(self, seed: bytes) -> Pins:
        """Everything a snippet could learn, as this clock and a seed have it."""
        return Pins(seed=seed, wall_clock=self.wall, monotonic_clock=self.monotonic, asleep=self.sleep)

    def wall(self) -> int:
        self.offset += _LOOK_NANOSECONDS
        return self.started + self.offset

    def monotonic(self) -> int:
        self.offset += _LOOK_NANOSECONDS
        return _BOOTED_NANOSECONDS + self.offset

    def sleep(self, nanoseconds: int) -> int:
        """The run sleeps; returns how long someone has to wait for that."""
        self.offset += nanoseconds
        return 0 if self.repeating else nanoseconds

    def arrive(self) -> int:
        """Something outside has answered: it is now, but never earlier than it was. Returns the journal's time."""
        self.offset = max(self.offset, time.time_ns() - self.started - self._behind)
        return self.offset

    def pass_by(self, nanoseconds: int) -> None:
        """The run waited this long for something that did not come. The clock outside has no say in it."""
        self.offset += nanoseconds

    def repeat(self, offset: int) -> None:
        """It was this late when the same answer came before."""
        self.offset = offset
