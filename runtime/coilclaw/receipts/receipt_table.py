"""The table of receipts: each with its number, its run, its canonical JSON and the hash of that.

Functions take `read`, which executes a query: on the database, in a snapshot, or inside a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from coilclaw.receipts.canonical import digest
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.receipts.fast_reading import PREVIOUS
from coilclaw.store import BYTES

if TYPE_CHECKING:
    from coilclaw.receipts.chain import Link

__all__ = [
    "CREATE_RECEIPTS",
    "LOG_END",
    "Read",
    "Stored",
    "all_receipts",
    "bodies_at",
    "insert_receipts",
    "last_receipt",
    "last_receipts",
    "linked_receipts",
    "numbers_of_run",
    "receipts_at",
    "receipts_with",
]

CREATE_RECEIPTS: Final = f"""
CREATE TABLE receipts (
    seq INTEGER PRIMARY KEY,
    run_id TEXT,
    body {BYTES} NOT NULL,
    receipt_hash TEXT NOT NULL
);
"""
LOG_END: Final = "(SELECT coalesce(max(seq), 0) FROM receipts)"
"""An SQL expression for rows that say where in the log to begin to look: what comes with them is behind this place."""

Read = Callable[..., Iterable[tuple[Any, ...]]]
Stored = tuple[int, str | None, bytes, str]
"""Number, run, body and hash of a receipt."""

# Cast, because an editor of the database may have left another type behind.
_BODY: Final = f"CAST(coalesce(body, '') AS {BYTES})"
_WHOLE: Final = f"{_BODY}, receipt_hash, seq"
_BEHIND: Final = f"SELECT seq, {_BODY}, receipt_hash FROM receipts WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"  # noqa: S608
_AT_ONCE: Final = 256
"""Few enough to be in the processor's caches still when they are looked into."""
_TO_HASH: Final = len(PREVIOUS)


def insert_receipts(connection: Any, links: Sequence[Link]) -> None:
    """Add receipts to the log, inside a transaction."""
    connection.executemany("INSERT INTO receipts VALUES (?, ?, ?, ?)", links)


def last_receipt(read: Read) -> tuple[int, str] | None:
    """Number and hash of the last receipt."""
    return next(iter(read("SELECT seq, receipt_hash FROM receipts ORDER BY seq DESC LIMIT 1")), None)


def last_receipts(read: Read, limit: int) -> list[tuple[bytes, str, int]]:
    """Body, hash and number of the latest receipts, the latest first."""
    return list(read(f"SELECT {_WHOLE} FROM receipts ORDER BY seq DESC LIMIT ?", (limit,)))  # noqa: S608


def receipts_before(read: Read, seq: int, limit: int) -> list[tuple[bytes, str, int]]:
    """Body, hash and number of the receipts before a number, the latest first."""
    sql = f"SELECT {_WHOLE} FROM receipts WHERE seq < ? ORDER BY seq DESC LIMIT ?"  # noqa: S608
    return list(read(sql, (seq, limit)))


def all_receipts(read: Read) -> Iterable[Stored]:
    """Number, run, body and hash of every receipt, in order."""
    sql = f"SELECT seq, run_id, CAST(body AS {BYTES}), CAST(receipt_hash AS TEXT) FROM receipts ORDER BY seq"  # noqa: S608
    return read(sql)


def receipts_at(read: Read, numbers: Sequence[int]) -> Iterator[tuple[bytes, str, int]]:
    """Yield body, hash and number of the receipts with these numbers, in their order."""
    return _at(read, _WHOLE, numbers)


def bodies_at(read: Read, numbers: Sequence[int]) -> Iterator[tuple[bytes]]:
    """Yield the bodies of the receipts with these numbers, in their order."""
    return _at(read, _BODY, numbers)


def _at(read: Read, columns: str, numbers: Sequence[int]) -> Iterator[Any]:
    for first in range(0, len(numbers), _AT_ONCE):
        some = numbers[first : first + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        yield from read(f"SELECT {columns} FROM receipts WHERE seq IN ({marks}) ORDER BY seq", some)  # noqa: S608


def numbers_of_run(read: Read, run_id: str, after: int, last: int) -> list[int]:
    """The numbers of a run's receipts in a part of the log, all of which is looked at."""
    sql = "SELECT seq FROM receipts WHERE seq > ? AND seq <= ? AND run_id = ? ORDER BY seq"
    return [seq for (seq,) in read(sql, (after, last, run_id))]


def receipts_with(read: Read, field: bytes, after: int, last: int) -> Iterable[tuple[bytes, str, int]]:
    """Body, hash and number of the receipts in a part of the log that have some bytes in them; all are looked at."""
    # Databases have no common function that finds bytes in bytes.
    sql = f"SELECT {_WHOLE} FROM receipts WHERE seq > ? AND seq <= ? ORDER BY seq"  # noqa: S608
    return (row for row in read(sql, (after, last)) if field in row[0])


def linked_receipts(
    read: Read, after: int, last: int, *, follows_hash: str, ends_with: str, field: bytes | None = None
) -> Iterator[tuple[int, bytes, int, str]]:
    """Yield number, body, where its fields behind the payload begin, and hash of receipts behind `after` up to `last`.

    Each is checked against the one before it, the first against `follows_hash`, which is the beginning of a hash or
    nothing, and the last against `ends_with`. They are proven once this has ended without DamagedReceipt. With
    `field`, those are yielded that have it behind their payload.
    """
    seq, previous = after, follows_hash.encode()
    while rows := list(read(_BEHIND, (seq, last, _AT_ONCE))):
        # All of them in a row, which takes less time than each in its turn.
        digests = [digest(body) for _, body, _ in rows]
        for (number, body, receipt_hash), found in zip(rows, digests, strict=True):
            at = body.rfind(PREVIOUS)
            if number != seq + 1 or found != receipt_hash or not body.startswith(previous, at + _TO_HASH):
                raise DamagedReceipt(f"receipt {seq + 1} was changed or is missing")
            seq, previous = number, found.encode()
            if field is None or body.find(field, at) > 0:
                yield number, body, at, found
    if seq != last or not ends_with.encode().startswith(previous):
        raise DamagedReceipt("the log does not end as its seal says")
