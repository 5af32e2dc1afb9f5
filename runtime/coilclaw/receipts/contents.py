"""The table of contents: arguments, results, sources and output, each under the hash that receipts have of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from coilclaw.receipts.canonical import digest
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.receipts.receipt_table import Read
from coilclaw.store import BYTES, EACH, KEYED, Database

__all__ = [
    "CREATE_CONTENTS",
    "absent_contents",
    "all_contents",
    "content_sizes",
    "keep_contents",
    "read_content",
    "read_contents",
    "small_contents",
]

CREATE_CONTENTS: Final = f"CREATE TABLE contents (hash TEXT PRIMARY KEY, body {BYTES} NOT NULL) {KEYED};"
_SMALL_BYTES: Final = 4096
"""Of contents that are read many at once, because together they are not large."""
# Cast, because an editor of the database may have left another type behind.
_BODY: Final = f"CAST(body AS {BYTES})"


def keep_contents(connection: Any, contents: Iterable[tuple[str, bytes]]) -> None:
    """Write contents down, inside a transaction. The same contents are kept once."""
    connection.executemany("INSERT INTO contents VALUES (?, ?) ON CONFLICT DO NOTHING", contents)


def read_content(database: Database, content_hash: str | None) -> bytes | None:
    """Return what a hash stands for, or None if it is missing. Raises DamagedReceipt if it was changed."""
    rows = database.read(f"SELECT {_BODY} FROM contents WHERE hash = ?", (content_hash,))  # noqa: S608
    return _checked(content_hash, rows[0][0]) if rows else None


def read_contents(database: Database, hashes: Sequence[str | None], most_bytes: int) -> list[bytes | None]:
    """Return what these hashes stand for, from the first until there are so many bytes; None for what is missing.

    Raises DamagedReceipt for one that was changed.
    """
    sql = f"SELECT hash, {_BODY} FROM contents WHERE hash IN ({EACH}) AND length(body) <= ?"  # noqa: S608
    small = dict(database.read(sql, (json.dumps(hashes), _SMALL_BYTES)))
    found: list[bytes | None] = []
    size = 0
    for name in hashes:
        body = _checked(name, small[name]) if name in small else read_content(database, name)
        found.append(body)
        size += len(body or b"")
        if size >= most_bytes:
            break
    return found


def small_contents(database: Database, hashes: Iterable[str | None]) -> Mapping[str, bytes]:
    """Return those of these contents that are there, small and unchanged; for a look at many of them."""
    sql = f"SELECT hash, {_BODY} FROM contents WHERE hash IN ({EACH}) AND length(body) <= ?"  # noqa: S608
    rows = database.read(sql, (json.dumps(list(hashes)), _SMALL_BYTES))
    return {name: body for name, body in rows if digest(body) == name}


def content_sizes(database: Database, hashes: Iterable[str | None]) -> Mapping[str, int]:
    """Return how many bytes each of these has, as far as they are there."""
    sql = f"SELECT hash, length(body) FROM contents WHERE hash IN ({EACH})"  # noqa: S608
    return dict(database.read(sql, (json.dumps(list(hashes)),)))


def absent_contents(read: Read, hashes: Sequence[str]) -> set[str]:
    """Return those of these hashes that stand for nothing."""
    sql = f"SELECT hash FROM contents WHERE hash IN ({EACH})"  # noqa: S608
    return set(hashes) - {name for (name,) in read(sql, (json.dumps(hashes),))}


def all_contents(read: Read) -> Iterable[tuple[str, bytes | None]]:
    """Yield every hash and what is stored under it, whether or not it fits."""
    return read(f"SELECT hash, {_BODY} FROM contents")  # noqa: S608


def _checked(name: str | None, body: bytes | None) -> bytes:
    if body is None or digest(body) != name:
        raise DamagedReceipt(f"the contents {name} were changed")
    return body
