"""The journal: every answer that a run received, in order.

A snippet is deterministic but for the answers it gets. They are written down in the transactions of
the receipts they belong to: the answer of every call, and every delivery of answers to the snippet
with the time it had by then. Giving the same answers again at the same places repeats the run.

A snippet that looks for answers again and again, and gets none, is not a flood of rows: such looks move its
time by what it asked for and nothing else, so their number is enough, written before the next thing that happens.

The receipts that the run writes next pin down everything it had received by then (`Journal.mark`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from coilclaw.bridge.run_store import HELD, claim_run
from coilclaw.receipts import Row, read_contents
from coilclaw.sdk.quick_json import compact_encoder, from_json
from coilclaw.store import KEYED, Migration

if TYPE_CHECKING:
    from coilclaw.sandbox import RunClock
    from coilclaw.store import Database

__all__ = ["JOURNAL", "Delivery", "DeliveryDigest", "Journal", "Known", "Recorded", "count_rows", "read_journal"]

JOURNAL: Final = (
    Migration(
        6,
        "journal",
        f"""
        CREATE TABLE IF NOT EXISTS journal (
            run_id TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('answer', 'delivery')),
            key INTEGER NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (run_id, kind, key)
        ) {KEYED};
        """,
        replaces=("run-journal",),
    ),
)

_INSERT: Final = f"INSERT INTO journal SELECT ?, ?, ?, ? WHERE {HELD}"


class Known(NamedTuple):
    """The answer of one call: the hash of its value, or the whole refusal."""

    number: int
    result_hash: str | None
    failure: str | None


class Delivery(NamedTuple):
    """Answers that reached the snippet at one moment of its own time; `of_call` when it had stopped for that one.

    Without numbers, it is as many looks as `looks` says that found nothing. A negative number is a call whose
    answer was not passed on, because too many waited to be read.
    """

    numbers: tuple[int, ...]
    clock: int
    of_call: bool
    looks: int = 0


@dataclass(frozen=True, slots=True)
class Recorded:
    """Everything a run had learned when its journal was read."""

    answers: Mapping[int, Known]
    deliveries: Sequence[Delivery]
    delivered: DeliveryDigest
    marks: Sequence[str]
    """What `Journal.mark` was before the first delivery and after each."""
    rows: int
    database: Database

    def results(self, hashes: Sequence[str | None], most_bytes: int) -> list[bytes | None]:
        """Read the contents of these hashes in order, up to `most_bytes`; None for each that is missing.

        Raises DamagedReceipt for one that was changed.
        """
        return read_contents(self.database, hashes, most_bytes)


class DeliveryDigest:
    """A running digest of the deliveries: a receipt that names its mark pins down all that came before."""

    __slots__ = ("_digest", "position")

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.position = 0

    def add(self, body: str, answers: Sequence[Known | None]) -> None:
        self.position += 1
        self._digest.update(body.encode())
        for known in answers:
            text = "" if known is None else f"{known.result_hash} {known.failure}"
            self._digest.update(f"{len(text)} {text}".encode("utf-8", "backslashreplace"))

    @property
    def mark(self) -> str:
        return f"{self.position}:{self._digest.hexdigest()[:32]}"


class Journal:
    """Makes the rows of one run in one process. Another process that takes the run over raises the fence.

    Every row claims that the fence is still the one it was: what a process writes that has lost its run, it
    writes not at all, together with the receipts that would go with it.
    """

    def __init__(self, run_id: str, fence: int, clock: RunClock, recorded: Recorded | None = None) -> None:
        self._run_id = run_id
        self.fence = fence
        self._delivered = recorded.delivered if recorded is not None else DeliveryDigest()
        self._answers: dict[int, Known] = dict(recorded.answers) if recorded is not None else {}
        self._looks = 0
        self.clock = clock

    @property
    def mark(self) -> str:
        """A digest that identifies every delivery so far."""
        return self._delivered.mark

    def pins(self) -> dict[str, str | int]:
        """Payload fields that bind a receipt to the journal so far; the fence exposes a process that lost the run."""
        return {"heard": self.mark, "fence": self.fence} if self.fence > 1 else {"heard": self.mark}

    def claim(self) -> Row:
        """Claims that the run is still this process's; goes with whatever precedes a side effect."""
        return claim_run(self._run_id, self.fence)

    def answer(self, known: Known) -> Row:
        """Make the row for the answer of a begun call."""
        self._answers[known.number] = known
        return self._row("answer", known.number, _text([known.result_hash, known.failure]))

    def call_returns(self, known: Known) -> Row:
        """Make the row for the answer of a call that the snippet was blocked on."""
        return self._delivery([known.number, known.result_hash, known.failure, self.clock.arrive()], ())

    def nothing_came(self, nanoseconds: int) -> None:
        """Note that the snippet waited this long and received no answer."""
        self._looks += 1
        self.clock.pass_by(nanoseconds)

    def wait_returns(self, numbers: Sequence[int]) -> list[Row]:
        """Make the rows for answers that a wait delivered."""
        rows = self.looked()
        rows.append(self._delivery([list(numbers), self.clock.arrive()], numbers))
        return rows

    def looked(self) -> list[Row]:
        """Make the row for waits that returned nothing since the last row."""
        looks, self._looks = self._looks, 0
        return [self._delivery([looks], ())] if looks else []

    def _delivery(self, body: Sequence[object], numbers: Sequence[int]) -> Row:
        text = _text(body)
        self._delivered.add(text, [self._answers.pop(abs(number), None) for number in numbers])
        return self._row("delivery", self._delivered.position, text)

    def _row(self, kind: str, key: int, body: str) -> Row:
        return Row(_INSERT, (self._run_id, kind, key, body, self._run_id, self.fence), claims=True)


_text: Final = compact_encoder()


def read_journal(database: Database, run_id: str) -> Recorded:
    """Read the whole journal of a run. Raises ValueError if it is damaged."""
    answers: dict[int, Known] = {}
    deliveries: list[Delivery] = []
    digest = DeliveryDigest()
    marks = [digest.mark]
    rows = database.read("SELECT kind, key, body FROM journal WHERE run_id = ? ORDER BY kind, key", (run_id,))
    for kind, key, body in rows:
        if type(key) is not int or type(body) is not str:
            raise ValueError(f"row {kind} {key} of the journal is damaged")
        fields = from_json(body)
        size = len(fields) if type(fields) is list else 0
        delivered: Sequence[Known | None] = ()
        if kind == "answer" and size == 2 and _is_answer(*fields):
            answers[key] = Known(key, *fields)
            continue
        if size == 4 and type(fields[0]) is int and type(fields[3]) is int and _is_answer(fields[1], fields[2]):
            number, result_hash, failure, clock = fields
            answers[number] = Known(number, result_hash, failure)
            deliveries.append(Delivery((number,), clock, True))
        elif size == 2 and type(fields[0]) is list and type(fields[1]) is int and _are_numbers(fields[0]):
            deliveries.append(Delivery(tuple(fields[0]), fields[1], False))
            delivered = [answers.get(abs(number)) for number in fields[0]]
        elif size == 1 and type(fields[0]) is int and fields[0] > 0:
            deliveries.append(Delivery((), 0, False, fields[0]))
        else:
            raise ValueError(f"row {kind} {key} of the journal is damaged")
        if kind != "delivery" or key != len(deliveries):
            raise ValueError(f"delivery {len(deliveries)} is missing in the journal")
        digest.add(body, delivered)
        marks.append(digest.mark)
    return Recorded(answers, deliveries, digest, marks, len(rows), database)


def count_rows(database: Database, run_id: str) -> int:
    """How many rows the journal of a run has."""
    ((count,),) = database.read("SELECT count(*) FROM journal WHERE run_id = ?", (run_id,))
    return int(count)


def _is_answer(result_hash: object, failure: object) -> bool:
    return (result_hash is None or type(result_hash) is str) and (failure is None or type(failure) is str)


def _are_numbers(values: Sequence[object]) -> bool:
    return all(type(value) is int for value in values)
