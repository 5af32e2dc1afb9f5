"""What a run has learned from outside, in the order in which it learned it.

A snippet is deterministic but for the answers it gets. They are written down in the transactions of
the receipts they belong to: the answer of every call, and every delivery of answers to the snippet
with the time it had by then. Giving the same answers again at the same places repeats the run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from coilclaw.receipts import Row
from coilclaw.sandbox import RunClock
from coilclaw.store import Database, Migration

__all__ = ["JOURNAL", "Delivery", "Journal", "Known", "Recorded", "read_journal"]

JOURNAL: Final = Migration(
    name="run-journal",
    sql="""
    CREATE TABLE runs (
        run_id TEXT PRIMARY KEY,
        status TEXT NOT NULL,
        fence INTEGER NOT NULL,
        process TEXT NOT NULL,
        first_seq INTEGER NOT NULL,
        header TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE journal (
        run_id TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('answer', 'delivery')),
        key INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (run_id, kind, key)
    ) WITHOUT ROWID;
    """,
)

_ENTER: Final = "INSERT INTO journal SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM runs WHERE run_id = ? AND fence = ?)"
_HOLD: Final = "UPDATE runs SET process = process WHERE run_id = ? AND fence = ?"


@dataclass(frozen=True, slots=True)
class Known:
    """The answer of one call: the hash of its value, or the whole refusal."""

    number: int
    result_hash: str | None
    failure: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """Answers that reached the snippet at one moment of its own time; `of_call` when it had stopped for that one."""

    numbers: tuple[int, ...]
    clock: int
    of_call: bool


@dataclass(frozen=True, slots=True)
class Recorded:
    """Everything a run had learned when its journal was read."""

    answers: Mapping[int, Known]
    deliveries: Sequence[Delivery]
    digest: str
    """Of all of it: a receipt that names it pins the journal down."""


class Journal:
    """Makes the rows of one run in one process. Another process that takes the run over raises the fence."""

    def __init__(self, run_id: str, fence: int, clock: RunClock, position: int = 0) -> None:
        self._run_id = run_id
        self._fence = fence
        self._position = position
        self.clock = clock

    def hold(self) -> Row:
        """Claims that the run is still this process's; goes with whatever precedes a side effect."""
        return Row(_HOLD, (self._run_id, self._fence), claims=True)

    def answer(self, known: Known, *, durable: bool) -> Row:
        """A call has ended that the snippet did not stop for."""
        return self._row("answer", known.number, [known.result_hash, known.failure], durable)

    def call_returns(self, known: Known, *, durable: bool) -> Row:
        """A call has ended that the snippet had stopped for: it goes on with the answer."""
        body = [known.number, known.result_hash, known.failure, self.clock.arrive()]
        return self._delivery(body, durable=durable)

    def wait_returns(self, numbers: Sequence[int], at_least: int) -> Row:
        """The snippet goes on with these answers, or with none after a time."""
        return self._delivery([list(numbers), self.clock.arrive(at_least)], durable=False)

    def _delivery(self, body: Sequence[object], *, durable: bool) -> Row:
        self._position += 1
        return self._row("delivery", self._position, body, durable)

    def _row(self, kind: str, key: int, body: Sequence[object], durable: bool) -> Row:
        values = (self._run_id, kind, key, json.dumps(body, separators=(",", ":")), self._run_id, self._fence)
        return Row(_ENTER, values, claims=durable)


def read_journal(database: Database, run_id: str) -> Recorded:
    """The journal of a run, from its beginning."""
    answers: dict[int, Known] = {}
    deliveries: list[Delivery] = []
    rows = database.read("SELECT kind, key, body FROM journal WHERE run_id = ? ORDER BY kind, key", (run_id,))
    hashed = hashlib.sha256()
    for kind, key, body in rows:
        hashed.update(f"{kind} {key} {body}\n".encode())
        match kind, json.loads(body):
            case "answer", [result_hash, failure]:
                answers[key] = Known(key, result_hash, failure)
            case "delivery", [int(number), result_hash, failure, clock]:
                answers[number] = Known(number, result_hash, failure)
                deliveries.append(Delivery((number,), clock, True))
            case "delivery", [list(numbers), clock]:
                deliveries.append(Delivery(tuple(numbers), clock, False))
    return Recorded(answers, deliveries, hashed.hexdigest())
