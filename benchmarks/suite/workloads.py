"""The work that is timed inside each sandbox. Written in the subset of Python that every peer understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["FIB", "MIXED", "Workload"]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A program of a given size. `reduced` is for interpreters too slow for the whole; its time is multiplied."""

    name: str
    body: str
    size: int
    reduced: int
    reduced_factor: float
    """How often the work of the reduced size fits in the work of the full size."""

    def source(self, *, is_reduced: bool = False) -> str:
        return f"{self.body}work({self.reduced if is_reduced else self.size})\n"


_FIB: Final = """\
def work(n):
    if n < 2:
        return n
    return work(n - 1) + work(n - 2)
"""

_MIXED: Final = """\
def work(rounds):
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    total = 0
    for turn in range(rounds):
        text = " ".join([words[(turn * 7 + i * i) % 8] + str(i % 13) for i in range(60)])
        counts = {}
        for word in text.split(" "):
            counts[word] = counts.get(word, 0) + 1
        ranked = sorted([(count, word) for word, count in counts.items()], reverse=True)
        lines = [f"{word}={count}" for count, word in ranked]
        joined = ";".join(lines).upper().replace("A", "a")
        total = total + len(joined) + sum([count for count, word in ranked[:5]])
    return total
"""

FIB: Final = Workload(
    name="fib(25)",
    body=_FIB,
    size=25,
    reduced=14,
    reduced_factor=242_785 / 1_219,  # The calls that fib makes of itself.
)

MIXED: Final = Workload(
    name="strings, dicts, lists",
    body=_MIXED,
    size=300,
    reduced=20,
    reduced_factor=300 / 20,
)
