"""Beginning a receipt log, and noticing that the log of a key is gone.

The head of a log is on disk before its key is. So a key without a log means that somebody took the log away, and
never that a process died while it began one: such a beginning leaves a head without a key, and is begun again.

A log that takes the place of a lost one begins with the receipt that says so, in the transaction that makes its head.
Its key waits under another name until then: whoever finds it, and a head that it fits, puts it in its place.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coilclaw.receipts.chain import GENESIS, checked, link
from coilclaw.receipts.errors import LogMissing
from coilclaw.receipts.head import Head, checked_head, insert_head, remove_head, stored_heads
from coilclaw.receipts.marks import remove_marks
from coilclaw.receipts.receipt_table import insert_receipts, last_receipt
from coilclaw.receipts.seal import keep_key, load_key, sync_folder
from coilclaw.sdk import OperatorError

if TYPE_CHECKING:
    from coilclaw.receipts.chain import Draft
    from coilclaw.receipts.receipt_table import Read
    from coilclaw.store import Database

__all__ = ["begin_log", "found_log", "refuse_without_log", "restart_log"]


def refuse_without_log(database_path: Path, key_path: Path) -> None:
    """Raise LogMissing if there is a key but no database. For callers that would create one by looking."""
    if key_path.exists() and not database_path.exists():
        raise LogMissing(database_path, key_path)


def found_log(database: Database, key_path: Path) -> bytes:
    """Return the key of the log in this database; begin the log and make the key if there is neither.

    Raises LogMissing if there is a key but no log.
    """
    if _next_to(key_path).exists():
        with _alone(key_path):
            _finish_restart(database, key_path)
    # The key first: a process that begins the log right now makes it last.
    key = load_key(key_path)
    if key is None:
        with _alone(key_path):
            key = load_key(key_path)
            if key is None:
                return _begin(database, key_path)
    if not _is_there(database.read):
        raise LogMissing(database.path, key_path)
    return key


def restart_log(database: Database, key_path: Path, first: Draft) -> Path:
    """Begin a log in place of one that is lost; returns the name under which the key of that is kept.

    `first` is the receipt that the log begins with, and gets that name. Until the new log is there, the old one counts
    as missing: a process that dies on the way leaves an alarm, or a log that says what it is.
    """
    with _alone(key_path):
        if _is_there(database.read):
            raise OperatorError("the receipt log is there: nothing to restart")
        kept = _kept_aside(key_path)
        waiting, key = _next_to(key_path), secrets.token_bytes(32)
        waiting.unlink(missing_ok=True)  # Of a restart that did not get as far as the log.
        keep_key(waiting, key)
        with database.transaction() as connection:
            begin_log(connection, key, first._replace(payload={**first.payload, "lost_key": kept.name}))
        _finish_restart(database, key_path)
    return kept


def _kept_aside(key_path: Path) -> Path:
    """Give the key of a lost log a second name, under which it is kept when the first is that of another."""
    kept = key_path.with_name(f"{key_path.name}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.lost")
    try:
        for earlier in key_path.parent.glob(f"{key_path.name}.*.lost"):
            if earlier.samefile(key_path):  # Of a restart that did not get as far as the log.
                return earlier
        os.link(key_path, kept)  # Never over an older one.
    except OSError as error:
        raise OperatorError(f"cannot keep {key_path} as {kept.name}: {error.strerror}") from None
    return kept


def _next_to(key_path: Path) -> Path:
    """Where the key of a log waits that is about to take the place of a lost one."""
    return key_path.with_name(f"{key_path.name}.next")


def _finish_restart(database: Database, key_path: Path) -> None:
    """Put the key that waits in its place, if it is that of the log."""
    waiting = _next_to(key_path)
    key = load_key(waiting)
    if key is not None and checked_head(stored_heads(database.read), key) is not None:
        try:
            waiting.replace(key_path)
        except OSError as error:
            raise OperatorError(f"cannot rename {waiting} to {key_path.name}: {error.strerror}") from None
        sync_folder(key_path.parent)


def _begin(database: Database, key_path: Path) -> bytes:
    key = secrets.token_bytes(32)
    with database.transaction() as connection:
        # A head without receipts was left by a beginning that did not get as far as the key.
        heads = stored_heads(connection.execute)
        if any(seq != 0 for _, seq, _, _ in heads) or last_receipt(connection.execute):
            raise OperatorError(f"the key of the receipt log is missing: {key_path}", hint="restore it from a backup")
        remove_head(connection)
        begin_log(connection, key)
    keep_key(key_path, key)
    return key


def begin_log(connection: Any, key: bytes, first: Draft | None = None) -> Head:
    """Make the head of a log, which has one receipt or none, inside a transaction."""
    head = Head(secrets.token_hex(4), 0, GENESIS)
    if first is not None:
        item = link(checked(first), log_id=head.log_id, seq=1, previous_hash=GENESIS)
        insert_receipts(connection, [item])
        head = Head(head.log_id, item.seq, item.receipt_hash)
    remove_marks(connection)
    insert_head(connection, key, head)
    return head


def _is_there(read: Read) -> bool:
    """Whether a database has anything of a log."""
    return bool(stored_heads(read) or last_receipt(read))


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
