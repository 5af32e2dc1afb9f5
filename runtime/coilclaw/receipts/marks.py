"""Sealed marks within the log, so that the receipts of one run are proven without looking at all others.

Behind every `SEGMENT` receipts stands a mark: the hash of the last of them, and for each run among them which are its
own and the digest of their hashes. Its seal covers all that, its place, its log and the seal of the mark before. So no
mark can be made, changed, moved, left out or taken from elsewhere without the key; the last leads to the sealed head.

A part of the log that has no mark, because an older version has written it, is checked receipt by receipt instead.
"""

from __future__ import annotations

import hmac
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.receipts.canonical import digest
from coilclaw.receipts.chain import GENESIS
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.receipts.fast_reading import run_of
from coilclaw.receipts.head import Head
from coilclaw.receipts.receipt_table import linked_receipts, numbers_of_run
from coilclaw.sdk.quick_json import to_json
from coilclaw.store import BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coilclaw.receipts.chain import Link
    from coilclaw.receipts.receipt_table import Read, Stored
    from coilclaw.store import Database

__all__ = [
    "CREATE_MARKS",
    "SEGMENT",
    "Mark",
    "MarkCheck",
    "MarkWriter",
    "is_marked",
    "numbers_of",
    "remove_marks",
    "stored_marks",
    "true_marks",
]

SEGMENT: Final = 1024
"""How many receipts stand between two marks: as many as are checked one by one at most, behind the last."""

CREATE_MARKS: Final = f"""
CREATE TABLE receipt_marks (
    seq INTEGER PRIMARY KEY,
    receipt_hash TEXT NOT NULL,
    runs {BYTES} NOT NULL,
    seal TEXT NOT NULL
);
"""


class Own(NamedTuple):
    """The receipts of one run within a segment."""

    numbers: Sequence[int]
    hashes_digest: str


class Mark(NamedTuple):
    """A mark as it is stored. `seq` is the last receipt before it."""

    seq: int
    receipt_hash: str
    runs: bytes
    seal: str

    @property
    def first(self) -> int:
        """The first receipt that it covers."""
        return self.seq - SEGMENT + 1

    def own(self, run_id: str) -> Own | None:
        """The receipts of a run among those that it covers; None if there are none."""
        name = b"\n%b " % to_json(run_id)  # In JSON a line never ends within a name.
        at = self.runs.find(name)
        if at < 0:
            return None
        line = self.runs[at + len(name) : (self.runs.find(b"\n", at + 1) + 1 or len(self.runs) + 1) - 1]
        hashes_digest, places = line.split(b" ")
        return Own([self.first + place for place in _places(places.decode())], hashes_digest.decode())


def stored_marks(read: Read, after: int, last: int) -> list[Mark]:
    """The marks behind one receipt, up to another, as they are stored: whoever edited the table may have made them."""
    columns = f"seq, receipt_hash, CAST(coalesce(runs, '') AS {BYTES}), seal"
    sql = f"SELECT {columns} FROM receipt_marks WHERE seq > ? AND seq <= ? ORDER BY seq"  # noqa: S608
    return [Mark(*row) for row in read(sql, (after, last))]


def true_marks(read: Read, key: bytes, head: Head, after: int) -> list[Mark]:
    """The marks of all segments that end behind a place. Raises DamagedReceipt if one is not what was written."""
    before, own_key = after // SEGMENT * SEGMENT, _key_of_marks(key)
    found = stored_marks(read, before - SEGMENT, head.seq)
    previous = found.pop(0) if found and found[0].seq == before else None
    for mark in found:
        if not _is_true(own_key, head.log_id, mark, previous):
            raise _damaged(mark.seq)
        previous = mark
    return found


def numbers_of(database: Database, run_id: str, after: int = 0) -> list[int]:
    """The numbers of a run's receipts, found by the marks as they are stored, and by looking where there are none."""
    found, at = [], after
    for mark in stored_marks(database.read, after, 2**53) if is_marked(database) else ():
        if mark.first > at + 1:
            found += numbers_of_run(database.read, run_id, at, mark.first - 1)
        try:
            own = mark.own(run_id)
        except ValueError:
            raise _damaged(mark.seq) from None
        found += [number for number in own.numbers if number > after] if own is not None else []
        at = mark.seq
    return found + numbers_of_run(database.read, run_id, at, 2**53)


def is_marked(database: Database) -> bool:
    """Whether the log can have marks: a file of an older version that cannot be written has not even their table."""
    return database.has_table("receipt_marks")


def remove_marks(connection: Any) -> None:
    """Take away whatever a log has left that is no longer there, inside a transaction."""
    connection.execute("DELETE FROM receipt_marks")


class MarkWriter:
    """Makes the marks of a log, in the transactions of the receipts before them.

    What this process has appended itself it knows; what others did in between is read when a mark is due, and checked
    against the sealed head, so that no mark seals a receipt that was changed.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._at: Head | None = None
        self._since: list[tuple[str | None, str]] = []
        """Run and hash of every receipt behind the last mark up to `_at`, as long as it is known."""

    def write(self, connection: Any, before: Head, links: Sequence[Link]) -> None:
        """Take note of what is appended behind `before`, and write the marks that are due."""
        start, last = before.seq // SEGMENT * SEGMENT, links[-1]
        known = self._at == before or before.seq == start
        if not known or before.seq == start:
            self._since = []
        fresh = [(run_id, receipt_hash) for _, run_id, _, receipt_hash in links]
        due = last.seq - start >= SEGMENT
        self._at = Head(before.log_id, last.seq, last.receipt_hash) if known or due else None
        if not due:
            if known:
                self._since += fresh
            return
        mark = self._last(connection, before)
        if mark is not None:
            known, start = known and mark.seq == start, mark.seq
        if not known:
            self._since = list(_between(connection.execute, start, mark.receipt_hash if mark else "", before))
        self._since += fresh
        while len(self._since) >= SEGMENT:
            start += SEGMENT
            mark = _made(_key_of_marks(self._key), before.log_id, start, self._since[:SEGMENT], mark)
            connection.execute("INSERT INTO receipt_marks VALUES (?, ?, ?, ?)", mark)
            del self._since[:SEGMENT]

    def _last(self, connection: Any, head: Head) -> Mark | None:
        ((last,),) = connection.execute("SELECT max(seq) FROM receipt_marks")
        if last is None:
            return None
        if last > head.seq:
            raise _damaged(last)
        return true_marks(connection.execute, self._key, head, last - SEGMENT)[-1]


class MarkCheck:
    """Holds every mark against the receipts before it, while these pass."""

    def __init__(self, marks: Iterable[Mark], key: bytes, log_id: str) -> None:
        self._marks = {mark.seq: mark for mark in marks}
        self._key = _key_of_marks(key)
        self._log_id = log_id
        self._problem: tuple[int, str] | None = None

    def passing(self, rows: Iterable[Stored]) -> Iterator[Stored]:
        """The same rows, which are number, run, body and hash of every receipt."""
        first = min(self._marks, default=2**53) - SEGMENT
        since: list[tuple[str | None, str]] = []
        previous: Mark | None = None
        for row in rows:
            if row[0] > first:
                since.append((row[1], row[3]))
                if len(since) == SEGMENT:
                    previous = self._held_against(_made(self._key, self._log_id, row[0], since, previous))
                    since = []
            yield row

    def problem(self) -> tuple[int, str] | None:
        """The first receipt whose mark does not hold, and why; once all have passed."""
        if self._problem is None and self._marks:
            seq = min(self._marks)
            return seq, f"there is a mark behind receipt {seq} that nobody has written"
        return self._problem

    def _held_against(self, true: Mark) -> Mark:
        found = self._marks.pop(true.seq, None)
        if found != true and self._problem is None:
            what = "is missing" if found is None else "was changed"
            self._problem = true.seq, f"the mark behind receipt {true.seq} {what}"
        return true


def _between(read: Read, after: int, after_hash: str, head: Head) -> Iterator[tuple[str | None, str]]:
    for _, body, at, found in linked_receipts(
        read, after, head.seq, follows_hash=after_hash, ends_with=head.receipt_hash
    ):
        yield run_of(body, at), found


def _damaged(seq: int) -> DamagedReceipt:
    return DamagedReceipt(f"the mark behind receipt {seq} was changed, or the one before it")


def _made(key: bytes, log_id: str, seq: int, receipts: Sequence[tuple[str | None, str]], previous: Mark | None) -> Mark:
    own: dict[str | None, tuple[list[str], list[str]]] = {}
    place = 0
    for run_id, some in groupby(receipts, itemgetter(0)):
        ranges, hashes = own.setdefault(run_id, ([], []))
        count = len(hashes)
        hashes += [receipt_hash for _, receipt_hash in some]
        last = place + len(hashes) - count - 1
        ranges.append(f"{place}-{last}" if last > place else f"{place}")
        place = last + 1
    lines = (
        b"\n%b %b %b" % (to_json(run_id), digest("".join(hashes).encode()).encode(), ",".join(ranges).encode())
        for run_id, (ranges, hashes) in own.items()
    )
    mark = Mark(seq, receipts[-1][1], b"".join(lines), "")
    return mark._replace(seal=_seal(key, log_id, mark, previous))


def _places(ranges: str) -> Iterator[int]:
    """Numbers from text: `0-2,7` are 0, 1, 2 and 7."""
    for each in ranges.split(","):
        first, _, last = each.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _key_of_marks(key: bytes) -> bytes:
    """A key of their own: no seal of a head passes for one of a mark, or the other way round."""
    return hmac.digest(key, b"marks within the log", "sha256")


def _is_true(key: bytes, log_id: str, mark: Mark, previous: Mark | None) -> bool:
    texts = (mark.receipt_hash, mark.seal, *((previous.seal,) if previous else ()))
    # All of the same length, so that nothing can be moved from one field to the next.
    return all(
        isinstance(text, str) and text.isascii() and len(text) == len(GENESIS) for text in texts
    ) and hmac.compare_digest(mark.seal, _seal(key, log_id, mark, previous))


def _seal(key: bytes, log_id: str, mark: Mark, previous: Mark | None) -> str:
    facts = f"{log_id}:{mark.seq}:{mark.receipt_hash}:{previous.seal if previous else ''}"
    return hmac.digest(key, facts.encode() + mark.runs, "sha256").hex()
