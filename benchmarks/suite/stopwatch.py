"""The measurements that every sandbox takes part in, taken in the same way from each.

Imports nothing outside the standard library: the peers run it in an environment of their own.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

__all__ = [
    "TRIVIAL",
    "Sandbox",
    "call_seconds",
    "compute_seconds",
    "fresh_seconds",
    "seconds_of",
    "sustained_seconds",
    "typical",
]

TRIVIAL: Final = "1 + 1"
_LONG_ENOUGH: Final = 0.01
"""Seconds below which a difference of two runs says more about the machine than about the calls."""


class Sandbox(Protocol):
    """Something that runs Python source, each time in a session that has seen nothing before."""

    @property
    def version(self) -> str: ...

    @property
    def prelude(self) -> str:
        """The lines that make the host function reachable; they end with a newline unless they are empty."""
        ...

    @property
    def call(self) -> str | None:
        """The expression that adds `i` and 1 on the host, or None if there is no way to ask the host anything."""
        ...

    def run(self, source: str) -> float:
        """Run the source in a fresh session and say how many seconds that took. Raises if it did not complete."""
        ...


def seconds_of(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def typical(sample: Callable[[], float], budget: float, least: int = 3) -> float:
    """The median of as many samples as fit in `budget` seconds, but of `least` at the least."""
    samples: list[float] = []
    ends = time.perf_counter() + budget
    while len(samples) < least or time.perf_counter() < ends:
        samples.append(sample())
    return statistics.median(samples)


def fresh_seconds(sandbox: Sandbox, budget: float) -> float:
    """A fresh session and the smallest snippet there is."""
    return typical(lambda: sandbox.run(TRIVIAL), budget)


def call_seconds(sandbox: Sandbox, calls: int) -> float:
    """One call of the host, in a loop of `calls` or more; the same loop without the calls is taken off."""
    if sandbox.call is None:
        raise NotImplementedError("nothing inside can call the host")
    while True:
        loop = f"{sandbox.prelude}for i in range({calls}):\n    "
        empty = sandbox.run(f"{loop}pass\n")
        full = sandbox.run(f"{loop}{sandbox.call}\n")
        if full - empty > _LONG_ENOUGH:
            return (full - empty) / calls
        calls *= 8


def compute_seconds(sandbox: Sandbox, source: str, budget: float) -> float:
    """The work alone: what a fresh session with a trivial snippet takes is taken off."""

    def sample() -> float:
        return sandbox.run(source) - sandbox.run(TRIVIAL)

    return max(typical(sample, budget, least=2), 0.0)


def sustained_seconds(sandbox: Sandbox, callers: int, budget: float) -> float:
    """What one run takes of the time while `callers` threads run one after the other; each run calls the host once."""
    source = TRIVIAL if sandbox.call is None else f"{sandbox.prelude}i = 1\n{sandbox.call}\n"
    sandbox.run(source)  # What is only done once is no part of it.
    began = time.perf_counter()
    counts = [0] * callers
    failures: list[BaseException] = []

    def call(number: int) -> None:
        try:
            while time.perf_counter() - began < budget:
                sandbox.run(source)
                counts[number] += 1
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return (time.perf_counter() - began) / sum(counts)
