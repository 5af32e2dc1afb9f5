"""Receipts behind a place in the log, read on from where the last reading stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from coilclaw.receipts.canonical import digest
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.receipts.verification import Head
from coilclaw.store import Database

__all__ = ["Tail"]

_SINCE: Final = (
    "SELECT seq, CAST(coalesce(body, '') AS BLOB), receipt_hash FROM receipts "
    "WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT 256"
)
_PREVIOUS: Final = b'"previous_hash":"'


class Tail:
    """Every receipt behind `after`, each checked against the one before it and all against the sealed head.

    A table beside the log can be edited by whoever can write the file; what this yields cannot, because the
    receipts are linked up to a head that only the key seals. Not for two threads at once.
    """

    def __init__(self, database: Database, head: Callable[[], Head], after: int, receipt_hash: str = "") -> None:
        """`receipt_hash` is the beginning of the hash of number `after`, if it is known."""
        self._database = database
        self._head = head
        self.seq = after
        self.hash = receipt_hash

    def read(self) -> Iterator[bytes]:
        """The bodies that came since the last reading. They are proven once this has ended without DamagedReceipt."""
        head = self._head()
        while rows := self._database.read(_SINCE, (self.seq, head.seq)):
            for seq, body, receipt_hash in rows:
                at = body.rfind(_PREVIOUS) + len(_PREVIOUS)
                if seq != self.seq + 1 or digest(body) != receipt_hash or not body.startswith(self.hash.encode(), at):
                    raise _damaged(f"receipt {self.seq + 1} was changed or is missing")
                self.seq, self.hash = seq, receipt_hash
                yield body
        if self.seq != head.seq or not head.receipt_hash.startswith(self.hash):
            raise _damaged(f"receipt {head.seq} is not the one the head of the log names")


def _damaged(message: str) -> DamagedReceipt:
    return DamagedReceipt(message, hint="`coilclaw receipt verify` says more")
