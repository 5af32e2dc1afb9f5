"""The verdicts of one engine, counted class by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from coilclaw.sandbox import Engine, EngineUnavailable, escapes
from coilclaw.scorecard.trial import ProvingGround
from coilclaw.scorecard.verdict import Layer, Verdict

__all__ = ["ClassScore", "Scorecard", "score"]


@dataclass(frozen=True, kw_only=True)
class ClassScore:
    """One row: how many payloads of a class there are, how many held, and what held them."""

    title: str
    payloads: int
    held: int
    layers: Mapping[Layer, int]


@dataclass(frozen=True, kw_only=True)
class Scorecard:
    """Everything that was tried on one engine."""

    engine: str
    build: str
    verdicts: tuple[Verdict, ...]
    left: tuple[str, ...] = ()
    """What was wrong in the end; belongs to no single payload."""

    @property
    def escaped(self) -> tuple[Verdict, ...]:
        """What did not hold."""
        return tuple(verdict for verdict in self.verdicts if not verdict.held)

    @property
    def ok(self) -> bool:
        return not self.escaped and not self.left

    @property
    def classes(self) -> tuple[ClassScore, ...]:
        """In the order in which they were tried."""
        return tuple(self._score(title) for title in dict.fromkeys(verdict.payload.kind for verdict in self.verdicts))

    def _score(self, title: str) -> ClassScore:
        members = [verdict for verdict in self.verdicts if verdict.payload.kind == title]
        held = [verdict for verdict in members if verdict.held]
        layers = Counter(verdict.layer for verdict in held)
        return ClassScore(title=title, payloads=len(members), held=len(held), layers=dict(layers.most_common()))

    def as_data(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {
            "engine": self.engine,
            "build": self.build,
            "payloads": len(self.verdicts),
            "held": len(self.verdicts) - len(self.escaped),
            "classes": [
                {"class": row.title, "payloads": row.payloads, "held": row.held, "held_by": dict(row.layers)}
                for row in self.classes
            ],
            "escaped": [
                {
                    "class": verdict.payload.kind,
                    "payload": verdict.payload.name,
                    "status": verdict.status,
                    "problems": list(verdict.problems),
                }
                for verdict in self.escaped
            ],
            "left": list(self.left),
        }


def score(
    ground: ProvingGround,
    make_engine: Callable[[], Engine],
    classes: Iterable[escapes.EscapeClass],
    progress: Callable[[int], None] = lambda done: None,
) -> Scorecard:
    """Try every payload of these classes on an engine of their own. EngineUnavailable if it runs no snippet at all."""
    engine = make_engine()
    try:
        if problems := ground.settle(engine):
            raise EngineUnavailable(f"the {engine.name} engine cannot run a good snippet here: {problems[0]}")
        verdicts: list[Verdict] = []
        for escape_class in classes:
            for payload in escape_class.payloads:
                verdicts.append(ground.attempt(payload, engine))
                progress(len(verdicts))
        left = ground.settle(engine)
        build = engine.build
    finally:
        engine.close()
    left += ground.canaries.processes_left() + ground.canaries.traces()
    return Scorecard(engine=engine.name, build=build, verdicts=tuple(verdicts), left=tuple(left))
