"""Events that are in no receipt, for whoever listens right now: text of an answer as it comes, for example."""

from __future__ import annotations

from asyncio import Queue, QueueFull
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final

from coilclaw.gateway.event_stream import StreamEvent

__all__ = ["LiveEvents"]

_MOST_WAITING: Final = 1000


class LiveEvents:
    """Passes events on to every listener. Belongs to the server's event loop.

    Nothing is kept: a listener that comes later reads what it missed from the store. So does one that is too slow; it
    gets the event `missed` in place of what it had no room for.
    """

    def __init__(self) -> None:
        self._listeners: set[_Listener] = set()

    @property
    def count(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def publish(self, event: StreamEvent) -> None:
        """Pass an event on; nobody is waited for."""
        for listener in self._listeners:
            listener.put(event)

    @contextmanager
    def listening(self) -> Iterator[AsyncIterator[StreamEvent]]:
        """Events from now on, without end."""
        listener = _Listener()
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)


class _Listener(AsyncIterator[StreamEvent]):
    def __init__(self) -> None:
        self._waiting: Queue[StreamEvent] = Queue(_MOST_WAITING)

    def put(self, event: StreamEvent) -> None:
        try:
            self._waiting.put_nowait(event)
        except QueueFull:
            while not self._waiting.empty():
                self._waiting.get_nowait()
            self._waiting.put_nowait(StreamEvent("missed", {}))

    async def __anext__(self) -> StreamEvent:
        return await self._waiting.get()
