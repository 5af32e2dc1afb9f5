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

    def __init__(self, database: Database, head: Callable[[], Head], after: int) -> None:
        self._database = database
        self._head = head
        self._seq = after
        self._hash = ""

    def read(self) -> Iterator[bytes]:
        """The bodies that came since the last reading. They are proven once this has ended without DamagedReceipt."""
        head = self._head()
        while rows := self._database.read(_SINCE, (self._seq, head.seq)):
            for seq, body, receipt_hash in rows:
                at = body.rfind(_PREVIOUS) + len(_PREVIOUS)
                if seq != self._seq + 1 or digest(body) != receipt_hash or not body.startswith(self._hash.encode(), at):
                    raise _damaged(f"receipt {self._seq + 1} was changed or is missing")
                self._seq, self._hash = seq, receipt_hash
                yield body
        if self._seq != head.seq or (self._hash and self._hash != head.receipt_hash):
            raise _damaged(f"receipt {head.seq} is not the one the head of the log names")


def _damaged(message: str) -> DamagedReceipt:
    return DamagedReceipt(message, hint="`coilclaw receipt verify` says more")
