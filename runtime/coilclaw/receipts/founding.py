"""Beginning a receipt log, and noticing that the log of a key is gone.

The head of a log is on disk before its key is. So a key without a log means that somebody took the log away, and
never that a process died while it began one: such a beginning leaves a head without a key, and is begun again.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coilclaw.receipts.chain import GENESIS
from coilclaw.receipts.errors import LogMissing
from coilclaw.receipts.seal import keep_key, load_key, seal
from coilclaw.sdk import OperatorError
from coilclaw.store import Database

__all__ = ["found_log", "refuse_without_log", "set_key_aside"]


def refuse_without_log(database_path: Path, key_path: Path) -> None:
    """Raise LogMissing if there is a key but no database. For callers that would create one by looking."""
    if key_path.exists() and not database_path.exists():
        raise LogMissing(database_path, key_path)


def found_log(database: Database, key_path: Path) -> bytes:
    """Return the key of the log in this database; begin the log and make the key if there is neither.

    Raises LogMissing if there is a key but no log.
    """
    # The key first: a process that begins the log right now makes it last.
    key = load_key(key_path)
    if key is None:
        with _alone(key_path):
            key = load_key(key_path)
            if key is None:
                return _begin(database, key_path)
    if not database.read("SELECT 1 FROM receipt_head UNION ALL SELECT 1 FROM receipts LIMIT 1"):
        raise LogMissing(database.path, key_path)
    return key


def set_key_aside(key_path: Path) -> Path:
    """Give the key of a lost log another name, under which it is kept; the next log gets a key of its own."""
    kept = key_path.with_name(f"{key_path.name}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.lost")
    try:
        os.link(key_path, kept)  # Never over an older one.
        key_path.unlink()
    except OSError as error:
        raise OperatorError(f"cannot rename {key_path} to {kept.name}: {error.strerror}") from None
    return kept


def _begin(database: Database, key_path: Path) -> bytes:
    key = secrets.token_bytes(32)
    with database.transaction() as connection:
        # A head without receipts was left by a beginning that did not get as far as the key.
        written = "SELECT 1 FROM receipts UNION ALL SELECT 1 FROM receipt_head WHERE seq <> 0 LIMIT 1"
        if connection.execute(written).fetchall():
            raise OperatorError(f"the key of the receipt log is missing: {key_path}", hint="restore it from a backup")
        log_id = secrets.token_hex(4)
        mark = seal(key, log_id=log_id, seq=0, receipt_hash=GENESIS)
        connection.execute("DELETE FROM receipt_head")
        connection.execute("INSERT INTO receipt_head VALUES (1, ?, 0, ?, ?)", (log_id, GENESIS, mark))
    keep_key(key_path, key)
    return key


@contextmanager
def _alone(key_path: Path) -> Iterator[None]:
    """Hold the lock that only the process which begins the log has; it is gone with the process."""
    try:
        key_path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(key_path.parent, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise OperatorError(f"cannot use the receipt key {key_path}: {error.strerror}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
