"""Receipts behind a place in the log, read on from where the last reading stopped."""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING

from coilclaw.receipts.canonical import digest
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.receipts.fast_reading import PREVIOUS, run_field
from coilclaw.receipts.marks import Mark, is_marked, true_marks
from coilclaw.receipts.receipt_table import bodies_at, linked_receipts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coilclaw.receipts.head import Head
    from coilclaw.store import Database

__all__ = ["Tail"]


class Tail:
    """Every receipt behind `after`, or those of one run, proven by the sealed head.

    A table beside the log can be edited by whoever can write the file; what this yields cannot, because receipts
    are linked up to a head that only the key seals. For one run, sealed marks stand for the receipts of all others:
    only what follows the last mark is looked at as a whole. Not for two threads at once.
    """

    def __init__(
        self,
        database: Database,
        key: bytes,
        head: Callable[[], Head],
        after: int,
        run_id: str | None = None,
        receipt_hash: str = "",
    ) -> None:
        """`receipt_hash` is the beginning of the hash of number `after`, if it is known."""
        self._database = database
        self._key = key
        self._read_head = head
        self._run_id = run_id
        self._field = None if run_id is None else run_field(run_id)
        self.seq = max(0, after)
        self.hash = receipt_hash
        self.head: Head | None = None
        """The end of the log when it was read last."""

    def read(self) -> Iterator[tuple[bytes, int]]:
        """The bodies that came since the last reading, each with the place where the fields behind its payload begin.

        They are proven once this has ended without DamagedReceipt; forget this object and what it gave otherwise.
        """
        head = self.head = self._read_head()
        if self._run_id is not None and is_marked(self._database):
            marks = true_marks(self._database.read, self._key, head, self.seq)
            if marks and marks[0].first > self.seq + 1:  # What is before the first mark is linked to what is behind.
                first = marks.pop(0)
                yield from self._linked(first.seq, first.receipt_hash)
            if marks:
                yield from self._marked(marks, self._run_id)
        yield from self._linked(head.seq, head.receipt_hash)

    def _linked(self, last: int, last_hash: str) -> Iterator[tuple[bytes, int]]:
        linked = linked_receipts(
            self._database.read, self.seq, last, follows_hash=self.hash, ends_with=last_hash, field=self._field
        )
        for self.seq, body, at, self.hash in linked:
            yield body, at
        self.seq, self.hash = last, last_hash

    def _marked(self, marks: Sequence[Mark], run_id: str) -> Iterator[tuple[bytes, int]]:
        found = [own for own in (mark.own(run_id) for mark in marks) if own is not None]
        bodies = bodies_at(self._database.read, [number for own in found for number in own.numbers])
        for own in found:
            mine = [body for (body,) in islice(bodies, len(own.numbers))]
            if digest("".join(map(digest, mine)).encode()) != own.hashes_digest:
                first = own.numbers[0]
                raise DamagedReceipt(f"a receipt of {run_id} behind receipt {first - 1} was changed or is missing")
            # Of the first segment some may have been read before.
            for body in mine[bisect_right(own.numbers, self.seq) :]:
                yield body, body.rfind(PREVIOUS)
        self.seq, self.hash = marks[-1].seq, marks[-1].receipt_hash
