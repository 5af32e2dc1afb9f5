"""The head of a log: its last receipt, sealed with the log's key in every commit."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.receipts.seal import seal

if TYPE_CHECKING:
    from coilclaw.receipts.receipt_table import Read

__all__ = [
    "CREATE_HEAD",
    "Head",
    "checked_head",
    "demanded_head",
    "insert_head",
    "move_head",
    "remove_head",
    "stored_heads",
]

CREATE_HEAD: Final = """
CREATE TABLE receipt_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    log_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    receipt_hash TEXT NOT NULL,
    seal TEXT NOT NULL
);
"""


class Head(NamedTuple):
    """The end of a log, as its seal confirms it."""

    log_id: str
    seq: int
    receipt_hash: str

    def is_followed_by(self, receipt_id: str) -> bool:
        """Whether this receipt is the first behind this end."""
        return receipt_id == f"receipt-{self.log_id}-{self.seq + 1}"


def stored_heads(read: Read) -> list[tuple[Any, ...]]:
    """Whatever is stored as the head: log, number, hash and seal. One row, unless somebody has edited the table."""
    return list(read("SELECT log_id, seq, receipt_hash, seal FROM receipt_head"))


def checked_head(rows: Sequence[tuple[Any, ...]], key: bytes) -> Head | None:
    """The head, if there is exactly one and the seal on it was made with this key."""
    if len(rows) != 1:
        return None
    log_id, seq, receipt_hash, mark = rows[0]
    texts = (log_id, receipt_hash, mark)
    if type(seq) is not int or not all(isinstance(text, str) and text.isascii() for text in texts):
        return None
    if not hmac.compare_digest(mark, seal(key, log_id=log_id, seq=seq, receipt_hash=receipt_hash)):
        return None
    return Head(log_id, seq, receipt_hash)


def demanded_head(rows: Sequence[tuple[Any, ...]], key: bytes) -> Head:
    """The head, if its seal confirms it; raises DamagedReceipt if not."""
    head = checked_head(rows, key)
    if head is None:
        raise DamagedReceipt(
            "the seal does not fit: the log was rewritten, or the key is not the one it was written with"
        )
    return head


def insert_head(connection: Any, key: bytes, head: Head) -> None:
    """Begin a log, inside a transaction."""
    connection.execute("INSERT INTO receipt_head VALUES (1, ?, ?, ?, ?)", (*head, seal(key, **head._asdict())))


def move_head(connection: Any, key: bytes, head: Head) -> None:
    """Seal what was appended, inside a transaction."""
    mark = seal(key, **head._asdict())
    values = (head.seq, head.receipt_hash, mark)
    connection.execute("UPDATE receipt_head SET seq = ?, receipt_hash = ?, seal = ?", values)


def remove_head(connection: Any) -> None:
    """Take the head of a log away that has no receipts, inside a transaction."""
    connection.execute("DELETE FROM receipt_head")
