"""Cursors: places in the log to continue reading from.

A cursor is a text that says which receipt it stands behind, by number and hash, and in which log. Only this module
knows that: to everybody else it is opaque, because another store may order receipts in another way.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from coilclaw.receipts.chain import GENESIS, receipt_of
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.receipts.fast_reading import run_field
from coilclaw.receipts.head import Head, demanded_head, stored_heads
from coilclaw.receipts.marks import numbers_of
from coilclaw.receipts.receipt_table import last_receipt, receipts_at
from coilclaw.receipts.tail import Tail
from coilclaw.store import BadCursor, checked_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coilclaw.sdk import Receipt
    from coilclaw.store import Database

__all__ = ["Page", "Place", "cursor_of", "end_cursor", "read_page", "start_cursor"]

_HASH_LETTERS: Final = 16
"""Enough to notice that another receipt stands there now; the chain behind it is checked with whole hashes."""
_FORM: Final = re.compile(rf"[0-9a-f]{{8}}-(0|[1-9][0-9]{{0,18}})-([0-9a-f]{{{_HASH_LETTERS}}})", re.ASCII)


class Page(NamedTuple):
    """Receipts in the order of the log, and the cursor behind the last one that was looked at."""

    receipts: Sequence[Receipt]
    cursor: str


class Place:
    """Where in the log something happened that is in no receipt; known once everything before it is being written."""

    __slots__ = ("seq",)

    def __init__(self, seq: int | None = None) -> None:
        self.seq = seq
        """The number of the last receipt before it."""

    def is_before(self, cursor: str) -> bool:
        """Whether it is known, and comes before the receipt that the cursor stands behind."""
        return self.seq is not None and self.seq < _seq(cursor)

    def is_reached(self, cursor: str) -> bool:
        """Whether it is known, and the cursor stands behind every receipt that comes before it."""
        return self.seq is not None and self.seq <= _seq(cursor)


class _Position(NamedTuple):
    seq: int
    hash_start: str


def cursor_of(receipt: Receipt) -> str:
    """The cursor behind a receipt."""
    return _text(receipt.id.split("-")[1], receipt.seq, receipt.receipt_hash)


def end_cursor(database: Database, key: bytes) -> str:
    """The cursor behind the last receipt on disk."""
    head = _head(database, key)
    return _text(head.log_id, head.seq, head.receipt_hash)


def start_cursor(database: Database, key: bytes, run_id: str) -> str | None:
    """The cursor before the first receipt of a run, or None if there is none on disk."""
    numbers = numbers_of(database, run_id)[:1]
    for row in receipts_at(database.read, numbers):
        return _text(_head(database, key).log_id, numbers[0] - 1, receipt_of(*row).previous_hash)
    return None


def read_page(database: Database, key: bytes, cursor: str | None, limit: int, run_id: str | None = None) -> Page:
    """Look at up to `limit` receipts on disk behind a cursor, and return them, or those of one run among them.

    Each is checked against its hash and against the one before it, the first one against the cursor, and the last one
    against the sealed head if this reaches it. So whatever a reader was given is proven once it has caught up.
    """
    head = _head(database, key)
    place = _position(database, cursor, head)
    tail = Tail(database, key, lambda: head, place.seq, receipt_hash=place.hash_start)
    field = None if run_id is None else run_field(run_id)
    receipts = [
        receipt_of(body, tail.hash, tail.seq)
        for body, at in islice(tail.read(), checked_limit(limit))
        if field is None or body.find(field, at) > 0
    ]
    return Page(receipts, _text(head.log_id, tail.seq, tail.hash))


def _head(database: Database, key: bytes) -> Head:
    heads = stored_heads(database.read)
    if not heads and last_receipt(database.read) is None:
        return Head("0" * 8, 0, GENESIS)  # Nothing was ever appended.
    return demanded_head(heads, key)


def _position(database: Database, cursor: str | None, head: Head) -> _Position:
    if cursor is None:
        return _Position(0, GENESIS)
    found = _FORM.fullmatch(cursor) if isinstance(cursor, str) else None
    if found is None:
        raise BadCursor(f"{str(cursor)[:100]!r} is not a cursor", hint="a cursor is used as an event or a page gave it")
    place = _Position(int(found[1]), found[2])
    # The hash tells logs apart.
    if place.seq > head.seq or not _hash_at(database, place.seq, head).startswith(place.hash_start):
        raise BadCursor(f"{cursor} is no place in this log: it belongs to another one", hint="read from the beginning")
    return place


def _hash_at(database: Database, seq: int, head: Head) -> str:
    """The hash of a receipt, as the one behind it or the head has it. Raises DamagedReceipt if that was changed."""
    if seq in (0, head.seq):
        return GENESIS if seq == 0 else head.receipt_hash
    for row in receipts_at(database.read, [seq + 1]):
        return receipt_of(*row).previous_hash
    raise DamagedReceipt(f"receipt {seq + 1} is missing")


def _seq(cursor: str) -> int:
    return int(cursor.split("-")[1])


def _text(log_id: str, seq: int, receipt_hash: str) -> str:
    return f"{log_id}-{seq}-{receipt_hash[:_HASH_LETTERS]}"
