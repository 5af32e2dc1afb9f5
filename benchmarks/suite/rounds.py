"""Rounds: every contestant takes every measurement once, close together in time.

The speed of a machine drifts. Two numbers are compared only if they come from the same round; what
is reported is the median of those comparisons.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["Entry", "Measurement", "Results", "play"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One contestant's part in a measurement: a function that gives seconds, or None if it has no such thing."""

    contestant: str
    sample: Callable[[], float | None]


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What is measured. The order of the entries rotates from round to round."""

    name: str
    entries: tuple[Entry, ...]

    def in_order(self, number: int) -> Iterator[Entry]:
        shift = number % len(self.entries)
        yield from (*self.entries[shift:], *self.entries[:shift])


@dataclass(frozen=True, kw_only=True)
class Results:
    """Seconds by measurement and contestant, one number for each round. Missing where something failed."""

    rounds: list[dict[str, dict[str, float]]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def seconds(self, measurement: str, contestant: str) -> list[float]:
        found = (played.get(measurement, {}).get(contestant) for played in self.rounds)
        return [seconds for seconds in found if seconds is not None]

    def median(self, measurement: str, contestant: str) -> float | None:
        seconds = self.seconds(measurement, contestant)
        return statistics.median(seconds) if seconds else None

    def compared(
        self, measurement: str, one: str, other: str, comparison: Callable[[float, float], float]
    ) -> list[float]:
        """What the comparison makes of the two contestants' seconds, for each round that both took part in."""
        pairs = [
            (played[measurement][one], played[measurement][other])
            for played in self.rounds
            if one in played.get(measurement, {}) and other in played[measurement]
        ]
        return [comparison(first, second) for first, second in pairs if second > 0]

    def ratio(self, measurement: str, one: str, other: str) -> float | None:
        ratios = self.compared(measurement, one, other, lambda first, second: first / second)
        return statistics.median(ratios) if ratios else None

    def contestants(self, measurement: str) -> list[str]:
        names: dict[str, None] = {}
        for played in self.rounds:
            names.update(dict.fromkeys(played.get(measurement, {})))
        return list(names)


def play(
    measurements: tuple[Measurement, ...],
    probes: Mapping[str, Callable[[], Mapping[str, float]]],
    count: int,
    say: Callable[[str], None],
) -> Results:
    """Play the rounds. A contestant that fails in a measurement is left out of it from then on, with a message."""
    results = Results()
    for number in range(count):
        say(f"round {number + 1} of {count}")
        played: dict[str, dict[str, float]] = {}
        for measurement in measurements:
            seconds = played.setdefault(measurement.name, {})
            for entry in measurement.in_order(number):
                key = f"{entry.contestant}: {measurement.name}"
                if key in results.skipped:
                    continue
                try:
                    sample = entry.sample()
                except Exception as error:
                    results.skipped[key] = f"{error}"
                    say(f"skipped {key}: {error}")
                    continue
                if sample is not None:
                    seconds[entry.contestant] = sample
        for name, probe in probes.items():
            played[name] = dict(probe())
        results.rounds.append(played)
    return results
