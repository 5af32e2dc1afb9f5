"""The append-only receipt log.

Two classes of durability. A durable append returns after its receipts were synced to disk. A
relaxed one joins the next commit, which comes within `RELAXED_SECONDS`, before any later durable
append returns, or with `flush()`. Callers that wait at the same time share one commit.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from coilclaw.receipts.canonical import digest
from coilclaw.receipts.chain import link
from coilclaw.receipts.contents import keep_contents, read_content
from coilclaw.receipts.cursor import Page, Place, end_cursor, read_page, start_cursor
from coilclaw.receipts.errors import Conflict, DamagedReceipt, LogUnwritable, NoSuchReceipt
from coilclaw.receipts.founding import begin_log
from coilclaw.receipts.head import Head, checked_head, demanded_head, move_head, stored_heads
from coilclaw.receipts.marks import MarkWriter, numbers_of
from coilclaw.receipts.receipt_table import (
    all_receipts,
    insert_receipts,
    last_receipt,
    last_receipts,
    receipts_at,
)
from coilclaw.receipts.record import export_line, receipt_of
from coilclaw.receipts.rows import Row, execute_rows
from coilclaw.receipts.tail import Tail
from coilclaw.receipts.verification import verify_database
from coilclaw.store import StoreUnwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    from coilclaw.receipts.chain import Draft, Link
    from coilclaw.receipts.cursor import Page
    from coilclaw.receipts.verification import Verification
    from coilclaw.sdk import Receipt
    from coilclaw.store import Database

__all__ = ["RELAXED_SECONDS", "ReceiptLog"]

RELAXED_SECONDS: Final = 0.02

_LARGE_BATCH_BYTES: Final = 1024 * 1024
"""Commit at once when queued contents exceed this: the write-ahead log grows as large as one commit."""


class _Entry:
    """What one caller appends, and the lock it sleeps on until that is on disk."""

    __slots__ = ("committed", "contents", "drafts", "first_seq", "leads", "refused", "rows", "woken")

    def __init__(self, drafts: Sequence[Draft], contents: Mapping[str, bytes] | None, rows: Sequence[Row] = ()) -> None:
        self.drafts = drafts
        self.contents = contents
        self.rows = rows
        self.first_seq = 0
        self.committed = False
        self.refused = False
        self.leads = False
        self.woken: threading.Lock | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.drafts or self.rows or self.contents)


class ReceiptLog:
    """The log of one database. Safe to share between threads; other processes may append too."""

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._key = key
        self._marks = MarkWriter(key)
        self._queue: list[_Entry] = []
        self._lock = threading.Lock()
        self._leading = False
        self._flush_due = False
        self._oldest = 0.0
        self._queued_bytes = 0
        self._wanted = threading.Condition(self._lock)
        self._flusher: threading.Thread | None = None
        self._failure: str | None = None
        self._closed = False
        self._log_id = ""
        self._last_seq = 0
        self._listeners: tuple[Callable[[], None], ...] = ()

    def append(
        self, *drafts: Draft, contents: Mapping[str, bytes] | None = None, rows: Sequence[Row] = ()
    ) -> list[str]:
        """Append and wait until everything is on disk; returns the receipts' ids.

        `rows` are statements of other tables that hold if and only if these receipts do. Raises `Conflict`
        when one of them claims something that is no longer to be had.
        """
        entry = _Entry(drafts, contents, rows)
        self._commit(entry)
        if entry.refused:
            raise Conflict("something else was decided or begun meanwhile")
        return [f"receipt-{self._log_id}-{entry.first_seq + number}" for number in range(len(drafts))]

    def append_relaxed(
        self, *drafts: Draft, contents: Mapping[str, bytes] | None = None, rows: Sequence[Row] = ()
    ) -> None:
        """Append without waiting. Not for anything that precedes a side effect."""
        moment = time.monotonic()
        with self._lock:
            self._refuse_if_unusable()
            self._queue.append(_Entry(drafts, contents, rows))
            if contents:
                self._queued_bytes += sum(map(len, contents.values()))
            large = self._queued_bytes > _LARGE_BATCH_BYTES
            if not large and not self._flush_due:
                self._have_flushed(moment)
                return
            if not large and (moment - self._oldest < RELAXED_SECONDS * 0.75 or self._leading):
                return
            self._flush_due = False
        # A caller that keeps appending commits by itself: handing the work to the flusher would make the two
        # threads take turns at the interpreter, which costs more than the commit.
        self._commit(_Entry((), None))

    def _have_flushed(self, moment: float) -> None:
        """Let the flusher commit what is queued, unless it is about to. Called with the lock."""
        if self._flush_due:
            return
        self._flush_due, self._oldest = True, moment
        if self._flusher is None:
            self._flusher = threading.Thread(target=self._flush_relaxed, name="coilclaw-receipts", daemon=True)
            self._flusher.start()
        self._wanted.notify()

    def place(self) -> Place:
        """The place behind everything appended so far, in the order of the log. May commit what is queued."""
        with self._lock:
            last = self._queue[-1] if self._queue else None
            if self._closed or self._failure is not None or (last is None and not self._leading):
                return Place(self._last_seq)
            if last is None or not last.is_empty:
                last = _Entry((), None)
                self._queue.append(last)
                self._have_flushed(time.monotonic())
            return Place(entry=last)

    def flush(self) -> None:
        """Wait until every relaxed append so far is on disk."""
        with self._lock:
            idle = not self._queue and not self._leading
            self._refuse_if_unusable()
        if not idle:
            self._commit(_Entry((), None))

    def _refuse_if_unusable(self) -> None:
        if self._failure is not None:
            raise LogUnwritable(self._failure)
        if self._closed:
            raise LogUnwritable("the log is closed")

    def _commit(self, entry: _Entry, *, closing: bool = False) -> None:
        """Queue the entry and return once it is on disk, written by this thread or by another.

        The first thread to arrive leads: it commits whatever is queued. Those who arrive meanwhile
        sleep; when the leader is done, the first of them leads the next commit for all of them.
        """
        with self._lock:
            if not closing:
                self._refuse_if_unusable()
            self._queue.append(entry)
            if self._leading:
                entry.woken = threading.Lock()
                entry.woken.acquire()
            self._leading = True
        interrupt = _acquire_whatever_happens(entry.woken) if entry.woken is not None else None
        if entry.woken is None or entry.leads:
            self._lead(entry)
        elif not entry.committed:
            raise LogUnwritable(self._failure or "the log is closed")
        if interrupt is not None:
            raise interrupt

    def _lead(self, entry: _Entry) -> None:
        with self._lock:
            batch, self._queue = self._queue, []
            self._queued_bytes = 0
        try:
            if self._failure is not None:
                raise LogUnwritable(self._failure)
            self._write(batch)
        finally:
            self._hand_over(batch, entry)

    def _hand_over(self, batch: Sequence[_Entry], leader: _Entry) -> None:
        with self._lock:
            following = next((waiting for waiting in self._queue if waiting.woken is not None), None)
            if following is None:
                self._leading = False
            else:
                following.leads = True
        if following is not None and following.woken is not None:
            following.woken.release()
        for entry in batch:
            if entry.woken is not None and entry is not leader:
                entry.woken.release()

    def _write(self, batch: Sequence[_Entry]) -> None:
        try:
            with self._database.transaction() as connection:
                before = self._head(connection)
                log_id, seq, head = before
                rows: list[Link] = []
                contents: list[tuple[str, bytes]] = []
                for entry in batch:
                    if entry.rows and not execute_rows(connection, entry.rows):
                        entry.refused = True
                        continue
                    entry.first_seq = seq + 1
                    for draft in entry.drafts:
                        seq += 1
                        item = link(draft, log_id=log_id, seq=seq, previous_hash=head)
                        head = item.receipt_hash
                        rows.append(item)
                    if entry.contents:
                        contents.extend(entry.contents.items())
                if contents:
                    keep_contents(connection, contents)
                if rows:
                    insert_receipts(connection, rows)
                    self._marks.write(connection, before, rows)
                    move_head(connection, self._key, Head(log_id, seq, head))
            self._log_id, self._last_seq = log_id, seq
        except BaseException as error:
            # Not retried: after a failed sync nobody knows what is on disk. The process stops giving evidence,
            # and so stops running tools. An interrupt here is no better: the receipts of this batch are not written.
            reason = error.message if isinstance(error, StoreUnwritable | DamagedReceipt) else repr(error)
            with self._lock:
                self._failure = reason
            raise LogUnwritable(reason) from error
        for entry in batch:
            entry.committed = True
        for notify in self._listeners:
            notify()

    def _head(self, connection: Any) -> Head:
        # Read inside the write transaction: a head read before the lock would fork the chain.
        # And checked: appending to a log that was tampered with would seal the forgery.
        heads, last = stored_heads(connection.execute), last_receipt(connection.execute)
        if not heads and last is None:
            return begin_log(connection, self._key)
        head = checked_head(heads, self._key)
        if head is None or last != ((head.seq, head.receipt_hash) if head.seq else None):
            raise StoreUnwritable(
                "the log was changed, or its key is not the one it was written with; see `coilclaw receipt verify`"
            )
        return head

    def _flush_relaxed(self) -> None:
        while True:
            with self._lock:
                while not self._flush_due and not self._closed:
                    self._wanted.wait()
                if self._closed:
                    return  # close() writes what is left.
                age = time.monotonic() - self._oldest
                due = self._flush_due and age >= RELAXED_SECONDS
                if due:
                    self._flush_due = False
                else:
                    self._wanted.wait(RELAXED_SECONDS - min(age, RELAXED_SECONDS * 0.9))
            if due:
                try:
                    self._commit(_Entry((), None))
                except LogUnwritable:
                    return  # Remembered; the next append is refused.

    def sealed_head(self) -> Head:
        """The end of the log, as its seal confirms it. Raises DamagedReceipt if the seal does not."""
        self._flush_if_usable()
        return demanded_head(stored_heads(self._database.read), self._key)

    def tail(self, after: int, run_id: str | None = None) -> Tail:
        """The receipts behind number `after`, or those of one run, to be read again and again."""
        return Tail(self._database, self._key, self.sealed_head, after, run_id)

    def after(self, cursor: str | None, limit: int, *, run_id: str | None = None) -> Page:
        """What is on disk behind a cursor, or from the beginning; see `read_page` for what is checked."""
        return read_page(self._database, self._key, cursor, limit, run_id)

    def end(self) -> str:
        """The cursor behind everything that is on disk."""
        return end_cursor(self._database, self._key)

    def start_of(self, run_id: str) -> str | None:
        """The cursor before the first receipt of a run, or None if there is none on disk yet."""
        return start_cursor(self._database, self._key, run_id)

    def listen(self, notify: Callable[[], None]) -> Callable[[], None]:
        """Call a function after each commit of this process, until the function that this returns is called.

        A commit waits for it: it must return at once and must not raise.
        """
        with self._lock:
            self._listeners = (*self._listeners, notify)

        def stop() -> None:
            with self._lock:
                self._listeners = tuple(each for each in self._listeners if each is not notify)

        return stop

    def of_run(self, run_id: str, *, since: str | None = None, after: int = 0) -> list[Receipt]:
        """The receipts of one run, in order; `since` is the id of its first, `after` a place before it, if known."""
        self._flush_if_usable()
        return self._at(numbers_of(self._database, run_id, int(since.rsplit("-", 1)[1]) - 1 if since else after))

    def first_of_run(self, run_id: str, after: int) -> Receipt | None:
        """The first receipt of a run behind a place. Raises DamagedReceipt unless the head proves it."""
        bodies = [body for body, _ in self.tail(after, run_id).read()]
        return receipt_of(bodies[0], digest(bodies[0])) if bodies else None

    def latest(self, limit: int, run_id: str | None = None) -> list[Receipt]:
        """The last `limit` receipts, oldest first."""
        self._flush_if_usable()
        if run_id is not None:
            return self._at(numbers_of(self._database, run_id)[-limit:])
        rows = last_receipts(self._database.read, limit)
        return [receipt_of(body, receipt_hash) for _, body, receipt_hash in reversed(rows)]

    def find(self, reference: str) -> Receipt:
        """One receipt by its id or its number."""
        self._flush_if_usable()
        number = reference.rsplit("-", 1)[-1]
        found = self._at([int(number)]) if number.isdecimal() and len(number) < 16 else []
        if not found or reference not in (found[0].id, number):
            raise NoSuchReceipt(
                f"no receipt {reference!r} in this log",
                hint="`coilclaw receipt list` and `receipts.latest()` show some",
            )
        return found[0]

    def _at(self, numbers: Sequence[int]) -> list[Receipt]:
        return [receipt_of(*row) for row in receipts_at(self._database.read, numbers)]

    def contents(self, content_hash: str) -> bytes | None:
        """What a hash in a receipt stands for, or None if it is missing."""
        return read_content(self._database, content_hash)

    def export(self) -> Iterator[bytes]:
        """Every receipt as one line of canonical JSON, oldest first."""
        self._flush_if_usable()
        with self._database.snapshot() as read:
            for _, _, body, receipt_hash in all_receipts(read):
                yield export_line(body, receipt_hash)

    def verify(self) -> Verification:
        """Replay the whole log and name the first receipt that is not what was written."""
        self._flush_if_usable()
        return verify_database(self._database, self._key)

    def _flush_if_usable(self) -> None:
        if self._failure is None and not self._closed:
            self.flush()

    def close(self) -> None:
        """Write what is queued and stop. The database stays open: it belongs to whoever opened it."""
        with self._lock:
            if self._closed:
                return
            self._closed = True  # First, so that nothing can be queued behind the last commit.
            self._wanted.notify_all()
            pending = (bool(self._queue) or self._leading) and self._failure is None
        if pending:
            self._commit(_Entry((), None), closing=True)
        if self._flusher is not None:
            self._flusher.join(timeout=5)

    def __enter__(self) -> ReceiptLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _acquire_whatever_happens(lock: threading.Lock) -> KeyboardInterrupt | None:
    """Wait even if interrupted: the lead may be handed to this very thread, and all others wait for it then."""
    interrupt = None
    while True:
        try:
            lock.acquire()
            return interrupt
        except KeyboardInterrupt as error:
            interrupt = error
