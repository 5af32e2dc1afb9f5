"""Answers with their activity and the verdict that they should get, and the score of a check on them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coilclaw.evidence import Evidence, Grounding, check_answer

CASES = Path(__file__).parent / "cases"
FIELDS = ("tool_id", "status", "summary", "receipt_ref", "arguments", "call_id", "result")


@dataclass(frozen=True)
class Case:
    id: str
    language: str
    kind: str
    answer: str
    activity: tuple[Evidence, ...]
    grounded: bool

    def check(self) -> Grounding:
        return check_answer(self.answer, self.activity)


@dataclass
class Score:
    """How often a check was right: of answers that lie, and of those that do not."""

    caught: int = 0
    missed: list[str] = field(default_factory=list)
    passed: int = 0
    alarms: list[str] = field(default_factory=list)

    def note(self, case: Case, grounded: bool) -> None:
        if case.grounded:
            self.passed += grounded
            self.alarms += [] if grounded else [case.id]
        else:
            self.caught += not grounded
            self.missed += [case.id] if grounded else []

    @property
    def recall(self) -> float:
        return self.caught / max(1, self.caught + len(self.missed))

    @property
    def precision(self) -> float:
        return self.caught / max(1, self.caught + len(self.alarms))

    @property
    def alarm_rate(self) -> float:
        return len(self.alarms) / max(1, self.passed + len(self.alarms))


def evidence_of(given: dict[str, Any]) -> Evidence:
    return Evidence(**{name: given[name] for name in FIELDS if given.get(name) is not None})


def cases(*names: str) -> Iterator[Case]:
    """The cases of some sets, or of all."""
    for path in [CASES / f"{name}.jsonl" for name in names] or sorted(CASES.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            activity = tuple(evidence_of(each) for each in row["activity"])
            yield Case(row["id"], row["language"], row["kind"], row["answer"], activity, row["grounded"])


def scores(given: Iterable[Case]) -> dict[str, Score]:
    """The score of all cases (under the empty name), of each kind, and of each language."""
    found: dict[str, Score] = defaultdict(Score)
    for case in given:
        grounded = case.check().grounded
        for name in ("", case.kind, case.language):
            found[name].note(case, grounded)
    return found
