"""Rate limits: how often each address may fail to authenticate, and how many requests it may send."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

__all__ = ["RateLimit"]

_MOST_KEYS: Final = 10_000


class RateLimit:
    """A token bucket for each key: so many at once, and then so many a second. Belongs to one event loop."""

    def __init__(self, burst: float, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._spent: dict[str, tuple[float, float]] = {}
        """By key: how much was spent, and when that was so. It comes back with time."""

    def wait(self, key: str) -> float:
        """Return the seconds until this key may go on; 0 if it may now. Takes nothing."""
        over = self._current(key) + 1 - self._burst
        return max(0.0, over / self._per_second)

    def take(self, key: str) -> None:
        """Count one."""
        spent = self._current(key)
        self._spent.pop(key, None)  # The latest stand last.
        self._spent[key] = (min(spent + 1, self._burst), self._clock())
        while len(self._spent) > _MOST_KEYS:
            # Whoever has many addresses cannot use up the memory; the oldest are forgotten.
            del self._spent[next(iter(self._spent))]

    def _current(self, key: str) -> float:
        spent, when = self._spent.get(key, (0.0, 0.0))
        return max(0.0, spent - (self._clock() - when) * self._per_second)
