"""Pages of the log from its end backwards, for people who look at what happened last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coilclaw.receipts.chain import receipt_of
from coilclaw.receipts.cursor import Page
from coilclaw.receipts.marks import numbers_of
from coilclaw.receipts.receipt_table import receipts_at, receipts_before
from coilclaw.store import BadCursor, checked_limit, cursor_at, position_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coilclaw.sdk import Receipt
    from coilclaw.store import Database

__all__ = ["read_back"]

_AT_ONCE: Final = 256
_MOST_LOOKED_AT: Final = 20_000


def read_back(database: Database, cursor: str | None, limit: int, run_id: str | None, type: str | None) -> Page:
    """The next receipts towards the beginning of the log; see `ReceiptLog.before`."""
    limit, below = checked_limit(limit), _below(cursor)
    rows = _all(database, below) if run_id is None else _of_run(database, run_id, below)
    found: list[Receipt] = []
    looked, last = 0, below
    for body, receipt_hash, seq in rows:
        if len(found) >= limit or looked >= _MOST_LOOKED_AT:
            return Page(found, cursor_at("receipts", str(last)))
        looked, last = looked + 1, seq
        receipt = receipt_of(body, receipt_hash, seq)
        if type is None or receipt.type == type or (type.endswith(".") and receipt.type.startswith(type)):
            found.append(receipt)
    return Page(found, "")


def _all(database: Database, below: int) -> Iterator[tuple[bytes, str, int]]:
    while rows := receipts_before(database.read, below, _AT_ONCE):
        yield from rows
        below = rows[-1][2]


def _of_run(database: Database, run_id: str, below: int) -> Iterator[tuple[bytes, str, int]]:
    numbers = [each for each in numbers_of(database, run_id) if each < below]
    for end in range(len(numbers), 0, -_AT_ONCE):
        yield from reversed(list(receipts_at(database.read, numbers[max(0, end - _AT_ONCE) : end])))


def _below(cursor: str | None) -> int:
    if cursor is None:
        return 2**53
    position = position_of("receipts", cursor)
    if not (position.isascii() and position.isdecimal() and len(position) < 17):
        raise BadCursor(f"{cursor[:100]!r} is not a position in the log", hint="begin again without it")
    return int(position)
