"""One SQLite file in WAL mode, shared by threads and processes.

apsw bundles a current SQLite; the one inside many Python builds can corrupt a WAL under concurrent checkpoints.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from coilclaw.store.errors import StoreError, StoreUnwritable
from coilclaw.store.migrations import Migration, apply_migrations, missing_migrations, unknown_migrations

__all__ = ["Database"]

_BUSY_SECONDS: Final = 30.0
_NOTICEABLE_SECONDS: Final = 1.0
_LARGE_WAL_BYTES: Final = 1024 * 1024


class Database:
    """The file and its two connections: one that writes, one that reads.

    A commit returns only after the data has been synced. Nothing else in the project opens the file.
    """

    def __init__(
        self,
        path: Path,
        migrations: Sequence[Migration] = (),
        *,
        patience: Callable[[], float] = lambda: _BUSY_SECONDS,
        waiting: Callable[[], None] = lambda: None,
    ) -> None:
        """`patience` says how long another process may hold the file; `waiting` is called once it takes a second."""
        self.path = path
        self._patience = patience
        self._waiting = waiting
        self._write_lock = threading.Lock()
        self._read_lock = threading.Lock()
        self._closed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Created by hand so that it is never readable by others; SQLite gives WAL files the same mode.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            # A read-only file may still be read and verified.
            if not path.exists():
                raise StoreError(f"cannot create {path}: {error.strerror}") from None
        try:
            self._writer = self._connect()
            self._migrate(migrations)
            self._reader = self._connect()
        except apsw.Error as error:
            raise StoreError(f"cannot open {path}: {error}") from None

    def _connect(self) -> apsw.Connection:
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        flags = apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY
        connection = apsw.Connection(str(self.path), flags=flags)
        connection.set_busy_handler(_BusyHandler(self._patience, self._waiting))
        if writable:
            _switch_to_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _migrate(self, migrations: Sequence[Migration]) -> None:
        if not migrations:
            return
        self._refuse_newer(migrations)
        if self._writer.readonly("main") or not missing_migrations(self._writer, migrations):
            return
        with self.transaction() as connection:
            self._refuse_newer(migrations)  # Another process may have been faster.
            apply_migrations(connection, migrations)

    def _refuse_newer(self, migrations: Sequence[Migration]) -> None:
        """A newer version may rely on what this one would not keep to, such as a column it does not fill."""
        if unknown := unknown_migrations(self._writer, migrations):
            raise StoreError(
                f"{self.path} was written by a newer version of CoilClaw ({', '.join(unknown)})",
                hint="upgrade CoilClaw, or set COILCLAW_HOME to another folder",
            )

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name: one that was removed, or not made yet, is nobody's mistake."""
        return bool(self.read("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    @contextmanager
    def transaction(self, *, overwriting: bool = False) -> Iterator[apsw.Connection]:
        """A write transaction that holds the file's write lock from its first statement to its commit.

        With `overwriting`, the places of what it removes are filled with zeros.
        """
        with self._write_lock:
            if self._closed:
                raise StoreUnwritable(f"{self.path} is closed")
            try:
                if overwriting:  # From now on: little else is ever removed.
                    self._writer.execute("PRAGMA secure_delete = ON")
                self._writer.execute("BEGIN IMMEDIATE")
            except apsw.Error as error:
                raise StoreUnwritable(_explain(self.path, error)) from None
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException as error:
                self._roll_back()
                if isinstance(error, apsw.Error):
                    raise StoreUnwritable(_explain(self.path, error)) from None
                raise

    def _roll_back(self) -> None:
        # SQLite may have rolled back by itself (disk full, I/O error); asking again is harmless.
        if not self._writer.get_autocommit():
            try:
                self._writer.execute("ROLLBACK")
            except apsw.Error:
                self._writer.close(True)

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query, as they were at one moment."""
        with self._read_lock:
            if self._closed:
                raise StoreError(f"{self.path} is closed")
            try:
                return self._reader.execute(sql, parameters).fetchall()
            except apsw.Error as error:
                raise StoreError(_explain(self.path, error)) from None

    @contextmanager
    def snapshot(self) -> Iterator[Callable[..., Iterable[tuple[Any, ...]]]]:
        """Queries that all see the same moment, on a connection of their own so that nothing else waits."""
        try:
            connection = self._connect()
            try:
                connection.execute("BEGIN")
                yield connection.execute
            finally:
                connection.close()
        except apsw.Error as error:
            raise StoreError(_explain(self.path, error)) from None

    def shrink(self, *, always: bool = False) -> None:
        """Bring what a large write-ahead log holds into the file and empty it, unless somebody uses it just now.

        With `always`, a small one too.
        """
        try:
            size = self.path.with_name(self.path.name + "-wal").stat().st_size
            if size <= _LARGE_WAL_BYTES and not always:
                return
        except OSError:
            return
        with self._write_lock, self._read_lock:
            if self._closed:
                return
            # Nobody is waited for: another process that is at work does the same when it is done.
            self._writer.set_busy_handler(None)
            try:
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except apsw.Error:
                return  # Everything is committed; the log is only larger than it has to be.
            finally:
                self._writer.set_busy_handler(_BusyHandler(self._patience, self._waiting))

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            if not self._closed:
                self._closed = True
                self._reader.close()
                self._writer.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *ending: object) -> None:
        self.close()


def _switch_to_wal(connection: apsw.Connection) -> None:
    """Changing the mode needs the file for itself, and SQLite asks no busy handler about that."""
    ends = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except apsw.BusyError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.005)


class _BusyHandler:
    """Waits with short random sleeps: SQLite's own handler backs off to 100 ms and starves writers."""

    def __init__(self, patience: Callable[[], float], waiting: Callable[[], None]) -> None:
        self._patience = patience
        self._waiting = waiting
        self._began = 0.0
        self._seconds = 0.0
        self._told = False

    def __call__(self, attempts: int) -> bool:
        if attempts == 0:
            self._began, self._seconds, self._told = time.monotonic(), min(self._patience(), _BUSY_SECONDS), False
        waited = time.monotonic() - self._began
        if waited > self._seconds:
            return False
        if waited > _NOTICEABLE_SECONDS and not self._told:
            self._told = True
            self._waiting()
        time.sleep(random.uniform(0.0001, 0.002))  # noqa: S311
        return True


def _explain(path: Path, error: apsw.Error) -> str:
    if isinstance(error, apsw.FullError):
        return f"the disk is full: {path}"
    if isinstance(error, apsw.ReadOnlyError):
        return f"{path} is read-only"
    if isinstance(error, apsw.BusyError):
        return f"another process is writing to {path} and did not finish in time"
    if isinstance(error, apsw.NotADBError | apsw.CorruptError):
        return f"{path} is damaged or not a CoilClaw database"
    return f"{path}: {error}"
