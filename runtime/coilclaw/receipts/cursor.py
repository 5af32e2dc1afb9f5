"""Cursors: places in the log to continue reading from.

A cursor is a text that says which receipt it stands behind, by number and hash, and in which log. Only this module
knows that: to everybody else it is opaque, because another store may order receipts in another way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from pydantic_core import to_json

from coilclaw.receipts.canonical import digest
from coilclaw.receipts.chain import GENESIS
from coilclaw.receipts.errors import BadCursor, DamagedReceipt
from coilclaw.receipts.record import receipt_of
from coilclaw.receipts.verification import HEAD, Head, checked_head
from coilclaw.sdk import Receipt
from coilclaw.store import Database

__all__ = ["Page", "cursor_of", "end_cursor", "read_page", "start_cursor"]

_HASH_LETTERS: Final = 16
"""Enough to notice that another receipt stands there now; the chain behind it is checked with whole hashes."""
_FORM: Final = re.compile(rf"([0-9a-f]{{8}})-(0|[1-9][0-9]{{0,18}})-([0-9a-f]{{{_HASH_LETTERS}}})", re.ASCII)
_BODY: Final = "CAST(coalesce(body, '') AS BLOB)"  # An editor of the database may have left another type behind.
_FIRST_OF_RUN: Final = f"SELECT seq, {_BODY}, receipt_hash FROM receipts WHERE run_id = ? ORDER BY seq LIMIT 1"  # noqa: S608
_BEHIND: Final = f"SELECT {_BODY}, receipt_hash FROM receipts WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"  # noqa: S608
_PREVIOUS: Final = b'"previous_hash":"'


class Page(NamedTuple):
    """Receipts in the order of the log, and the cursor behind the last one that was looked at."""

    receipts: Sequence[Receipt]
    cursor: str


class _Place(NamedTuple):
    log_id: str
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
    """The cursor before the first receipt of a run, or None if there is none on disk. Scans the log up to there."""
    rows = database.read(_FIRST_OF_RUN, (run_id,))
    if not rows:
        return None
    seq, body, receipt_hash = rows[0]
    return _text(_head(database, key).log_id, seq - 1, receipt_of(body, receipt_hash).previous_hash)


def read_page(database: Database, key: bytes, cursor: str | None, limit: int, run_id: str | None = None) -> Page:
    """Look at up to `limit` receipts on disk behind a cursor, and return them, or those of one run among them.

    Each is checked against its hash and against the one before it, the first one against the cursor, and the last one
    against the sealed head if this reaches it. So whatever a reader was given is proven once it has caught up.
    """
    head = _head(database, key)
    place = _place(cursor, head)
    seq, previous = place.seq, place.hash_start
    named = b'"run_id":' + to_json(run_id) if run_id is not None else b""
    found: list[Receipt] = []
    for body, receipt_hash in database.read(_BEHIND, (seq, head.seq, limit)):
        starts = body.rfind(_PREVIOUS) + len(_PREVIOUS)
        if digest(body) != receipt_hash or not body.startswith(previous.encode(), starts):
            raise _damaged(f"receipt {seq + 1} was changed or is missing")
        seq, previous = seq + 1, receipt_hash
        if named in body:
            found.append(receipt_of(body, receipt_hash))
    if limit > seq - place.seq and not head.receipt_hash.startswith(previous):
        raise _damaged(f"receipt {head.seq} is not the one the head of the log names")
    mine = found if run_id is None else [receipt for receipt in found if receipt.run_id == run_id]
    return Page(mine, _text(head.log_id, seq, previous))


def _head(database: Database, key: bytes) -> Head:
    heads = database.read(HEAD)
    if not heads and not database.read("SELECT 1 FROM receipts LIMIT 1"):
        return Head("0" * 8, 0, GENESIS)  # Nothing was ever appended.
    head = checked_head(heads, key)
    if head is None:
        raise _damaged("the seal does not fit: the log was rewritten, or this is not the key it was written with")
    return head


def _damaged(message: str) -> DamagedReceipt:
    return DamagedReceipt(message, hint="`coilclaw receipt verify` says more")


def _place(cursor: str | None, head: Head) -> _Place:
    if cursor is None:
        return _Place(head.log_id, 0, GENESIS)
    found = _FORM.fullmatch(cursor)
    if found is None:
        raise BadCursor(f"{cursor[:100]!r} is not a cursor", hint="a cursor is used as an event or a page gave it")
    place = _Place(found[1], int(found[2]), found[3])
    if place.seq and (place.log_id != head.log_id or place.seq > head.seq):
        raise BadCursor(f"{cursor} is no place in this log: it belongs to another one", hint="read from the beginning")
    return place


def _text(log_id: str, seq: int, receipt_hash: str) -> str:
    return f"{log_id}-{seq}-{receipt_hash[:_HASH_LETTERS]}"
