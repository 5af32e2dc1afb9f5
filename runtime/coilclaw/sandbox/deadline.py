"""How long a run still has, and whether anyone still wants it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from coilclaw.sandbox.outcomes import Cancelled, RunEnded, TimedOut

__all__ = ["POLL_SECONDS", "Deadline"]

POLL_SECONDS: Final = 0.05
"""How often a thread that waits for something else looks whether the run has ended."""


class Deadline:
    """Shared by the engine, the bridge and whoever may cancel. Safe to use from any thread."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._ends = time.monotonic() + seconds
        self._paused_since: float | None = None
        self._pauses = 0
        self._stood_still = 0.0
        self.cancelled = False
        self.interrupted = False
        """Whether it was an interrupt from the keyboard that cancelled it, or came while its end was written."""

    def restart(self) -> None:
        """Begin to count now: what came before was preparation."""
        with self._lock:
            self._ends = time.monotonic() + self.seconds

    def cancel(self) -> None:
        """End the run as soon as it can be ended."""
        self.cancelled = True

    def interrupt(self) -> None:
        """Cancel, for an interrupt that whoever waits for the run has still to hear of."""
        self.interrupted = True
        self.cancelled = True

    @property
    def stood_still(self) -> float:
        """For how many seconds the run's time has stood still so far."""
        paused = self._paused_since
        return self._stood_still if paused is None else self._stood_still + (time.monotonic() - paused)

    @property
    def ends(self) -> float:
        """The end on the monotonic clock, as things stand."""
        paused = self._paused_since
        return self._ends if paused is None else self._ends + (time.monotonic() - paused)

    @property
    def remaining(self) -> float:
        return max(0.0, self.ends - time.monotonic())

    @property
    def expired(self) -> bool:
        paused = self._paused_since
        return (time.monotonic() if paused is None else paused) >= self._ends

    @property
    def over(self) -> bool:
        return self.cancelled or self.expired

    @property
    def outcome(self) -> Cancelled | TimedOut | None:
        """How the run has ended if it is over; None while it may go on."""
        if self.cancelled:
            return Cancelled()
        return TimedOut(seconds=self.seconds) if self.expired else None

    def end_if_over(self) -> None:
        if outcome := self.outcome:
            raise RunEnded(outcome)

    def sleep(self, seconds: float) -> None:
        """Let some of the run's time pass. Raises RunEnded as soon as it is over."""
        pause = threading.Event()
        while seconds > 0:
            self.end_if_over()
            step = min(seconds, POLL_SECONDS, self.remaining)
            pause.wait(step)
            seconds -= step

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While a person decides, the run's time stands still."""
        with self._lock:
            self._pauses += 1
            if self._pauses == 1:
                self._paused_since = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                if self._pauses == 0 and self._paused_since is not None:
                    self._stood_still += time.monotonic() - self._paused_since
                    self._ends += time.monotonic() - self._paused_since
                    self._paused_since = None
