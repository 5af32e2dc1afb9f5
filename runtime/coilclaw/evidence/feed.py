"""The event feed: one reading of the log for all readers of this process, whoever writes to it.

A single thread watches the log while anybody reads. It is woken by commits of this process, and looks for those of
others 20 times a second. What it finds is checked and decoded once, and kept for all readers in a buffer of bounded
size. A reader that is behind the buffer reads the log by itself until it has caught up: it loses nothing, takes no
memory, and holds nobody up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final
from weakref import WeakSet, WeakValueDictionary

from coilclaw.evidence.events import Event
from coilclaw.evidence.live import OutputBuffer
from coilclaw.evidence.reader import EventReader
from coilclaw.evidence.receipt_events import event_of
from coilclaw.receipts import ReceiptLog

__all__ = ["EventFeed"]

_POLL_SECONDS: Final = 0.05
_LINGER_SECONDS: Final = 1.0
"""How long the thread waits for another reader before it ends; runs that come one after the other share it."""
_PAGE: Final = 512
_KEPT: Final = 4096
"""Events that the buffer has at least; up to twice as many."""


class EventFeed:
    """Events of one log: from the past, and as they come. Safe to share between threads.

    Only what is on disk is an event; of calls that only read, that is up to `RELAXED_SECONDS` after they happened.
    Every receipt is checked against its hash and the one before it, and against the sealed head where a reading
    reaches it, as `ReceiptLog.after` says. The contents that receipts stand for are not looked at.
    """

    def __init__(self, log: ReceiptLog, *, before_waiting: Callable[[], None] = lambda: None) -> None:
        """`before_waiting` is called on a thread that is about to wait for events, and may refuse by raising."""
        self._log = log
        self.before_waiting = before_waiting
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._due = threading.Event()
        self._readers: dict[str | None, WeakSet[EventReader]] = {}
        self._outputs: WeakValueDictionary[str, OutputBuffer] = WeakValueDictionary()
        self._thread: threading.Thread | None = None
        self._position: str | None = None
        self._buffer: list[Event] = []
        self._first = 0
        self._places: dict[str, int] = {}
        self._closed = False

    # Reading -----------------------------------------------------------------------------------------------

    def end(self) -> str:
        """The cursor behind everything so far: what is read from there on is new."""
        return self._log.end()

    def read(self, after: str | None = None, limit: int = 1000) -> Sequence[Event]:
        """Up to `limit` events behind a cursor, or from the beginning, as they are on disk."""
        return [event_of(receipt) for receipt in self._log.after(after, limit).receipts]

    def recent(self, limit: int) -> Sequence[Event]:
        """The last events so far, oldest first. Their receipts are not checked against each other."""
        return [event_of(receipt) for receipt in self._log.latest(limit)]

    def follow(self, after: str | None = None, *, wake: Callable[[], None] | None = None) -> EventReader:
        """Every event behind a cursor, or from the beginning, and then those to come. Output is not among them.

        With `wake`, that is called whenever there may be more to `take`; it must return at once.
        """
        return EventReader(self, after, wake=wake)

    def of_run(
        self,
        run_id: str,
        after: str | None = None,
        *,
        past_suspension: bool = False,
        wake: Callable[[], None] | None = None,
    ) -> EventReader:
        """The events of one run until it ends or is suspended, or only until it ends.

        Without a cursor, from its beginning, which has to be looked for: a cursor taken before the run saves that. With
        what it prints, if it runs in this process. A run that nobody resumes after its process died has no end.
        """
        if after is None:
            end = self.end()  # First: a run that begins meanwhile begins behind this.
            after = self._log.start_of(run_id) or end
        return EventReader(self, after, run_id=run_id, past_suspension=past_suspension, wake=wake)

    def output(self, run_id: str) -> OutputBuffer:
        """A new buffer for what a run prints, to be its `Caller.show` and to be closed when it has ended here.

        One that was made before is left to the readers that have it: a resumed run prints everything again.
        """
        made = OutputBuffer(run_id, self._log.place, self._wake_readers_of)
        with self._lock:
            self._outputs[run_id] = made
        return made

    # For readers -------------------------------------------------------------------------------------------

    def output_of(self, run_id: str) -> OutputBuffer | None:
        """The buffer of a run that runs in this process, or did so and is still held by someone."""
        with self._lock:
            return self._outputs.get(run_id)

    @property
    def closed(self) -> bool:
        return self._closed

    def add(self, reader: EventReader) -> None:
        """Wake this reader from now on, until it is dropped."""
        with self._lock:
            if self._closed:
                return
            if not any(self._readers.values()):
                self._forget()  # Nothing was read meanwhile.
            self._readers.setdefault(reader.run_id, WeakSet()).add(reader)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="coilclaw-events", daemon=True)
                self._thread.start()
        self._due.set()

    def remove(self, reader: EventReader) -> None:
        with self._lock:
            self._readers.get(reader.run_id, WeakSet()).discard(reader)

    def checked(self, cursor: str | None) -> str:
        """The same cursor, or that of the beginning. Raises BadCursor for a text that is none of this log."""
        return self._log.after(cursor, 0).cursor

    def has(self, cursor: str) -> bool:
        """Whether what is behind a cursor is in the buffer."""
        return cursor in self._places

    def behind(self, cursor: str, limit: int, run_id: str | None) -> tuple[Sequence[Event], str]:
        """Return the next events after a cursor, and the cursor to continue from.

        From the buffer, with those of all runs; or from the log, if the buffer does not reach back so far.
        """
        with self._lock:
            number = self._places.get(cursor)
            if number is not None:
                events = self._buffer[number - self._first : number - self._first + limit]
                return events, events[-1].cursor if events else cursor
        page = self._log.after(cursor, limit, run_id=run_id)
        return [event_of(receipt) for receipt in page.receipts], page.cursor

    def catch_up(self) -> None:
        """Put everything that is on disk now into the buffer."""
        with self._reading:
            while self._position is not None:
                page = self._log.after(self._position, _PAGE)
                if page.cursor == self._position:
                    return
                self._publish([event_of(receipt) for receipt in page.receipts], page.cursor)

    # The thread --------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        stop_listening = self._log.listen(self._due.set)
        needed = time.monotonic()
        try:
            while True:
                self._due.wait(_POLL_SECONDS)
                self._due.clear()
                moment = time.monotonic()
                with self._lock:
                    is_read = any(self._readers.values())
                    needed = moment if is_read else needed
                    if self._closed or moment - needed > _LINGER_SECONDS:
                        self._thread = None
                        return
                if is_read:
                    self._look()
        finally:
            stop_listening()

    def _look(self) -> None:
        try:
            if self._position is None:
                with self._reading:
                    self._begin_at(self._log.end())
            self.catch_up()
            self._wake_readers_of_output()
        except BaseException:
            # Whatever it is, every reader finds out for itself when it reads the log; without this thread it would not.
            with self._lock:
                self._forget()
            self._wake(None)

    def _begin_at(self, cursor: str) -> None:
        with self._lock:
            self._position = cursor
            self._places = {cursor: self._first}
        self._wake(None)  # Whoever has come as far by itself may have missed what came since.

    def _forget(self) -> None:
        # In one step: an interrupt comes before it or after it.
        self._position, self._first, self._buffer, self._places = None, 0, [], {}

    def _publish(self, events: Sequence[Event], cursor: str) -> None:
        with self._lock:
            if self._position is None:
                return  # Forgotten meanwhile.
            try:
                for event in events:
                    self._buffer.append(event)
                    self._places[event.cursor] = self._first + len(self._buffer)
                self._position = cursor
            except BaseException:  # An interrupt: nothing is left half done.
                self._forget()
                raise
            trimmed = len(self._buffer) > 2 * _KEPT
            if trimmed:
                self._first += len(self._buffer) - _KEPT
                self._buffer = self._buffer[-_KEPT:]
                self._places = {cursor: number for cursor, number in self._places.items() if number >= self._first}
        # Readers of quiet runs look before their place leaves the buffer, so that they need not read the log.
        self._wake(None if trimmed else {event.run_id for event in events})

    def _wake_readers_of(self, run_id: str) -> None:
        with self._lock:
            readers = list(self._readers.get(run_id, ()))
        for reader in readers:
            reader.wake()

    def _wake_readers_of_output(self) -> None:
        """Wake readers whose output was waiting for earlier receipts to reach the disk."""
        with self._lock:
            readers = [reader for some in self._readers.values() for reader in some if reader.awaits_commits]
        for reader in readers:
            reader.wake()

    def _wake(self, run_ids: Iterable[str | None] | None) -> None:
        """Wake the readers of these runs and of everything, or all there are."""
        with self._lock:
            if run_ids is None:
                self._readers = {run_id: readers for run_id, readers in self._readers.items() if readers}
                run_ids = tuple(self._readers)
            readers = [reader for run_id in {None, *run_ids} for reader in self._readers.get(run_id, ())]
        for reader in readers:
            reader.wake()

    # The end -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End every reader and the thread. The log stays open: it belongs to whoever opened it."""
        with self._lock:
            self._closed = True
            thread = self._thread
        self._due.set()
        self._wake(None)
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=5)

    def __enter__(self) -> EventFeed:
        return self

    def __exit__(self, *ending: object) -> None:
        self.close()
