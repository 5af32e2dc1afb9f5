"""One exchange that is being answered: its events so far, for whoever attaches, and those to come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from coilclaw.gateway.event_stream import StreamEvent

__all__ = ["LiveExchange"]


class LiveExchange:
    """The events of one answer, from `tool` and `delta` to `done` or `error`. Belongs to the server's event loop."""

    def __init__(self, conversation: str, message: str, publish: Callable[[StreamEvent], None]) -> None:
        self.conversation = conversation
        self.message = message
        self.is_stopped = False
        """Whether a person has stopped it."""
        self.task: asyncio.Task[None] | None = None
        self._publish = publish
        self._events: list[StreamEvent] = []
        self._changed = asyncio.Event()
        self._rested = asyncio.Event()
        self._over = False

    def put(self, name: str, data: dict[str, Any]) -> None:
        """Add an event, and pass it on to every browser of the server.

        Its number there counts from 0, so that a browser notices what it has missed and what it knows already.
        """
        ids = {"conversation_id": self.conversation, "message_id": self.message, "number": len(self._events)}
        self._events.append(StreamEvent(name, data))
        self._publish(StreamEvent(f"chat.{name}", {**data, **ids}))
        self._wake()

    def rest(self) -> None:
        """Note that it waits for a person."""
        self._rested.set()

    def end(self) -> None:
        """No more events come."""
        self._over = True
        self._rested.set()
        self._wake()

    async def rested(self) -> None:
        """Wait until it is over or waits for a person."""
        await self._rested.wait()

    def last(self, name: str) -> dict[str, Any] | None:
        """The data of the last event, if it has this name."""
        data: dict[str, Any] | None = self._events[-1].data if self._events and self._events[-1].name == name else None
        return data

    def pending(self) -> list[dict[str, Any]]:
        """The calls that were told to wait for a person."""
        return [each.data for each in self._events if each.name == "tool" and each.data["status"] == "pending"]

    def so_far(self) -> list[StreamEvent]:
        """The events that have come until now."""
        return list(self._events)

    async def events(self) -> AsyncIterator[StreamEvent]:
        """Every event from the first one on. Whoever stops reading stops nothing else."""
        place = 0
        while True:
            while place < len(self._events):
                yield self._events[place]
                place += 1
            if self._over:
                return
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
