"""Commits of the log: what callers append at the same time is written in one transaction.

The first thread to arrive leads: it commits whatever is queued. Those who arrive meanwhile sleep; when the leader is
done, the first of them leads the next commit for all of them.

A commit that fails is not retried: after a failed sync nobody knows what is on disk. The process stops giving evidence,
and so stops running tools.
"""

from __future__ import annotations

import _thread
import threading
import time
from typing import TYPE_CHECKING, Final

from coilclaw.receipts.cursor import Place
from coilclaw.receipts.errors import DamagedReceipt, LogUnwritable
from coilclaw.store import StoreUnwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coilclaw.receipts.chain import CheckedDraft
    from coilclaw.receipts.rows import Row

__all__ = ["RELAXED_SECONDS", "Commits", "Entry"]

RELAXED_SECONDS: Final = 0.02

_LARGE_BATCH_BYTES: Final = 1024 * 1024
"""Commit at once when queued contents exceed this: the write-ahead log grows as large as one commit."""


class Entry:
    """What one caller appends, and the lock it sleeps on until that is on disk."""

    __slots__ = ("committed", "contents", "drafts", "leads", "place", "refused", "rows", "woken")

    def __init__(
        self, drafts: Sequence[CheckedDraft] = (), contents: Mapping[str, bytes] | None = None, rows: Sequence[Row] = ()
    ) -> None:
        self.drafts = drafts
        self.contents = contents
        self.rows = rows
        self.place = Place()
        """The place behind it."""
        self.committed = False
        self.refused = False
        self.leads = False
        self.woken: threading.Lock | None = None


class Commits:
    """The queue of one log. `write` commits a batch, and gives each of its entries its place."""

    def __init__(self, write: Callable[[Sequence[Entry]], None]) -> None:
        self._write = write
        self._queue: list[Entry] = []
        self._lock = threading.Lock()
        self._leading = False
        self._flush_due = False
        self._oldest = 0.0
        self._queued_bytes = 0
        self._wanted = threading.Condition(self._lock)
        self._flusher: threading.Thread | None = None
        self._failure: str | None = None
        self._closed = False
        self._listeners: tuple[Callable[[], None], ...] = ()
        self.place = Place(0)
        """The place behind everything that was queued so far."""

    @property
    def is_usable(self) -> bool:
        return self._failure is None and not self._closed

    def commit(self, entry: Entry) -> None:
        """Queue the entry and return once it is on disk, written by this thread or by another."""
        uninterrupted(lambda: self._commit(entry))

    def queue(self, entry: Entry) -> None:
        """Queue the entry and return; it is on disk within `RELAXED_SECONDS`."""
        moment = time.monotonic()
        with self._lock:
            self._refuse_if_unusable()
            self._queue.append(entry)
            self.place = entry.place
            if entry.contents:
                self._queued_bytes += sum(map(len, entry.contents.values()))
            large = self._queued_bytes > _LARGE_BATCH_BYTES
            if not large and not self._flush_due:
                self._have_flushed(moment)
                return
            if not large and (moment - self._oldest < RELAXED_SECONDS * 0.75 or self._leading):
                return
            self._flush_due = False
        # A caller that keeps appending commits by itself: handing the work to the flusher would make the two
        # threads take turns at the interpreter, which costs more than the commit.
        self.commit(Entry())

    def flush(self) -> None:
        """Wait until everything that was queued so far is on disk."""
        with self._lock:
            idle = not self._queue and not self._leading
            self._refuse_if_unusable()
        if not idle:
            self.commit(Entry())

    def listen(self, notify: Callable[[], None]) -> Callable[[], None]:
        """Call a function after each commit, until the function that this returns is called."""
        with self._lock:
            self._listeners = (*self._listeners, notify)

        def stop() -> None:
            with self._lock:
                self._listeners = tuple(each for each in self._listeners if each is not notify)

        return stop

    def close(self) -> None:
        """Write what is queued, and refuse everything after it."""
        uninterrupted(self._close)

    def _close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True  # First, so that nothing can be queued behind the last commit.
            self._wanted.notify_all()
            pending = (bool(self._queue) or self._leading) and self._failure is None
        if pending:
            self._commit(Entry(), closing=True)
        if self._flusher is not None:
            self._flusher.join(timeout=5)

    def _refuse_if_unusable(self) -> None:
        if self._failure is not None:
            raise LogUnwritable(self._failure)
        if self._closed:
            raise LogUnwritable("the log is closed")

    def _commit(self, entry: Entry, *, closing: bool = False) -> None:
        with self._lock:
            if not closing:
                self._refuse_if_unusable()
            self._queue.append(entry)
            self.place = entry.place
            if self._leading:
                entry.woken = threading.Lock()
                entry.woken.acquire()
            self._leading = True
        if entry.woken is not None:
            entry.woken.acquire()
        if entry.woken is None or entry.leads:
            self._lead(entry)
        elif not entry.committed:
            raise LogUnwritable(self._failure or "the log is closed")

    def _lead(self, leader: Entry) -> None:
        with self._lock:
            batch, self._queue = self._queue, []
            self._queued_bytes = 0
        try:
            self._write_or_fail(batch)
        finally:
            self._hand_over(batch, leader)

    def _write_or_fail(self, batch: Sequence[Entry]) -> None:
        if self._failure is not None:
            raise LogUnwritable(self._failure)
        try:
            self._write(batch)
        except BaseException as error:
            reason = error.message if isinstance(error, StoreUnwritable | DamagedReceipt) else repr(error)
            with self._lock:
                self._failure = reason
                self.place = Place(0)
            raise LogUnwritable(reason) from error
        for entry in batch:
            entry.committed = True
        for notify in self._listeners:
            notify()

    def _hand_over(self, batch: Sequence[Entry], leader: Entry) -> None:
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

    # The flusher -------------------------------------------------------------------------------------------

    def _have_flushed(self, moment: float) -> None:
        """Let the flusher commit what is queued. Called with the lock."""
        if self._flusher is None:
            flusher = threading.Thread(target=self._flush_relaxed, name="coilclaw-receipts", daemon=True)
            flusher.start()
            self._flusher = flusher
        self._flush_due, self._oldest = True, moment
        self._wanted.notify()

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
                    self._commit(Entry())
                except LogUnwritable:
                    return  # Remembered; the next append is refused.


def uninterrupted(job: Callable[[], None]) -> None:
    """Do a job where no interrupt reaches it: Python raises them on the main thread alone.

    One that comes meanwhile is raised when the job has ended.
    """
    if threading.get_ident() != threading.main_thread().ident:  # Asking for the thread itself would make one up.
        job()
        return
    ends: list[BaseException | None] = []
    ended = threading.Lock()
    ended.acquire()

    def work() -> None:
        try:
            job()
            ends.append(None)
        except BaseException as error:
            ends.append(error)
        ended.release()

    # Started from a thread of its own, because an interrupt within Thread.start leaves its books in disorder.
    _thread.start_new_thread(threading.Thread(target=work, name="coilclaw-commit", daemon=True).start, ())
    interrupt: BaseException | None = None
    while not ends:  # That the lock was acquired says less: an interrupt may come right behind.
        try:
            ended.acquire()
        except BaseException as error:
            interrupt = error
    problem = interrupt or ends[0]
    if problem is not None:
        raise problem
