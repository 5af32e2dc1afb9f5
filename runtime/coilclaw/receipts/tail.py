"""Receipts behind a place in the log, read on from where the last reading stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from coilclaw.receipts.canonical import digest
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.receipts.fast_reading import behind_payload, is_of_run, run_field
from coilclaw.receipts.marks import is_marked, true_marks
from coilclaw.receipts.receipt_table import linked_receipts, receipts_at

if TYPE_CHECKING:
    from coilclaw.receipts.head import Head
    from coilclaw.receipts.marks import Mark
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
            for mark in true_marks(self._database.read, self._key, head, self.seq):
                if mark.first > self.seq + 1:  # What is before the first mark is linked to the receipt behind it.
                    yield from self._linked(mark.seq, mark.receipt_hash)
                else:
                    yield from self._marked(mark, self._run_id)
        yield from self._linked(head.seq, head.receipt_hash)

    def _linked(self, last: int, last_hash: str) -> Iterator[tuple[bytes, int]]:
        field = self._field
        for body, at, found in linked_receipts(
            self._database.read, self.seq, last, follows_hash=self.hash, ends_with=last_hash
        ):
            self.seq += 1
            self.hash = found
            if field is None or is_of_run(body, at, field):
                yield body, at

    def _marked(self, mark: Mark, run_id: str) -> Iterator[tuple[bytes, int]]:
        own = mark.own(run_id)
        if own is not None:
            hashes = hashlib.sha256()
            for rows in receipts_at(self._database.read, own.numbers):
                hashes.update("".join([digest(body) for _, body, _ in rows]).encode())
                for seq, body, _ in rows:
                    if seq > self.seq:
                        yield body, behind_payload(body)
            if hashes.hexdigest() != own.hashes_digest:
                message = f"a receipt of {run_id} before receipt {mark.seq} was changed or is missing"
                raise DamagedReceipt(message, hint="`coilclaw receipt verify` says more")
        self.seq, self.hash = mark.seq, mark.receipt_hash
