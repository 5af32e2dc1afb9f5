"""Events for everybody who listens right now: those of the log, and those that are in no receipt.

One task reads the log for all listeners and encodes each event once. Listeners are woken a few at a time, so that
however many there are, other requests are answered in between; what happens meanwhile is sent to each in one piece.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Queue, QueueFull
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Final

from coilclaw.gateway.event_stream import StreamEvent, encoded_event

if TYPE_CHECKING:
    from coilclaw.evidence import Event, EventReader

__all__ = ["Listener", "LiveEvents", "encoded"]

_logger = logging.getLogger(__name__)

_MOST_WAITING: Final = 1000
_KEPT: Final = 1024
"""Encoded events that are kept at least; up to twice as many. A listener that is behind them reads the log."""
_AT_ONCE: Final = 256
"""Events that are sent in one piece at most."""
_GROUP: Final = 10
"""Listeners that are woken together."""
_PAUSE_SECONDS: Final = 0.01
"""Between two groups: 500 listeners are woken within half a second, and ten or fewer at once."""


class LiveEvents:
    """Passes events on to every listener. Belongs to the server's event loop.

    Of events that are in no receipt nothing is kept: a listener that comes later reads what it missed from the store.
    So does one that is too slow; it gets the event `missed` in place of what it had no room for.
    """

    def __init__(self) -> None:
        self._listeners: dict[Listener, None] = {}
        self._due = asyncio.Event()
        self._kept: list[tuple[str, bytes]] = []
        self._first = 0
        self._places: dict[str, int] = {}
        self._joined: tuple[int, int, bytes] = (0, 0, b"")
        self.is_over = False
        """Whether the log will have no more events, because the app was closed."""

    def publish(self, event: StreamEvent) -> None:
        """Pass on an event that is in no receipt; nobody is waited for."""
        if not self._listeners:
            return
        data = encoded_event(event)
        for listener in self._listeners:
            listener.put(data)
        self._due.set()

    @contextmanager
    def listening(self) -> Iterator[Listener]:
        """A listener that is woken from now on."""
        listener = Listener()
        self._listeners[listener] = None
        try:
            yield listener
        finally:
            del self._listeners[listener]

    def behind(self, cursor: str) -> tuple[bytes, str] | None:
        """Return the next events of the log after a cursor, encoded, and the cursor to continue from.

        None if the cursor is not known here: it is too old, or further than what was read so far.
        """
        start = self._places.get(cursor)
        if start is None:
            return None
        stop = min(start + _AT_ONCE, self._first + len(self._kept))
        if start == stop:
            return b"", cursor
        if self._joined[:2] != (start, stop):  # Most listeners are at the same place: joined once for all of them.
            some = self._kept[start - self._first : stop - self._first]
            self._joined = start, stop, b"".join(data for _, data in some)
        return self._joined[2], self._kept[stop - self._first - 1][0]

    async def read(self, reader: EventReader) -> None:
        """Read the log for all listeners, until the reader ends."""
        self._places = {reader.cursor: self._first}
        try:
            while True:
                try:
                    events = await reader.batch()
                except StopAsyncIteration:
                    return
                self._keep(events)
                self._due.set()
                await asyncio.sleep(_PAUSE_SECONDS)  # What comes now is read in one piece.
        except Exception:
            _logger.exception("the events of the log are no longer passed on")
        finally:
            self.is_over = True
            for listener in self._listeners:
                listener.wake()

    async def wake(self) -> None:
        """Wake listeners whenever there is something for them, without end."""
        while True:
            await self._due.wait()
            self._due.clear()
            listeners = iter(tuple(self._listeners))
            while group := tuple(islice(listeners, _GROUP)):
                for listener in group:
                    listener.wake()
                await asyncio.sleep(_PAUSE_SECONDS)

    def _keep(self, events: Sequence[Event]) -> None:
        if not self._listeners:  # Nobody needs them encoded.
            self._first, self._kept, self._places = self._first + len(self._kept), [], {}
            self._places[events[-1].cursor] = self._first
            return
        for event in events:
            self._kept.append((event.cursor, encoded(event)))
            self._places[event.cursor] = self._first + len(self._kept)
        if len(self._kept) > 2 * _KEPT:
            self._first += len(self._kept) - _KEPT
            self._kept = self._kept[-_KEPT:]
            self._places = {cursor: place for cursor, place in self._places.items() if place >= self._first}


class Listener:
    """Somebody who follows the events."""

    def __init__(self) -> None:
        self._woken = asyncio.Event()
        self._waiting: Queue[bytes] = Queue(_MOST_WAITING)

    def put(self, data: bytes) -> None:
        """Keep an event that is in no receipt until it is taken."""
        try:
            self._waiting.put_nowait(data)
        except QueueFull:
            self.take()
            self._waiting.put_nowait(encoded_event(StreamEvent("missed", {})))

    def take(self) -> bytes:
        """Everything that was put since the last time."""
        return b"".join(self._waiting.get_nowait() for _ in range(self._waiting.qsize()))

    def wake(self) -> None:
        self._woken.set()

    async def woken(self) -> None:
        """Wait until there may be something, since the last time that this returned."""
        await self._woken.wait()
        self._woken.clear()


def encoded(event: Event) -> bytes:
    """An event of the log as it is sent."""
    return encoded_event(StreamEvent(event.kind, event.object(), event.cursor))
