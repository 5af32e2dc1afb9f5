"""`GET /api/events`: everything that happens, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import random
from typing import TYPE_CHECKING, Final

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.event_stream import StreamEvent, encoded_event, event_stream, resumed_from
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from starlette.responses import Response

    from coilclaw.evidence import Event, EventReader
    from coilclaw.gateway.gateway import Gateway

__all__ = ["EVENTS"]

_PAUSE_SECONDS: Final = 0.001
"""How long news wait for more, at most, for each reader there is: few do not notice, and 500 take turns."""
_MOST_KEPT: Final = 1024
_kept: dict[str, bytes] = {}
"""Encoded events by their cursors, which name the log and the receipt."""


async def _events(call: ApiCall[NoBody, NoQuery]) -> Response:
    feed, after = call.gateway.claw.feed, resumed_from(call.request)
    if after is None:
        after = await call.gateway.blocking(feed.end)
    # Opened here, so that a cursor of another log is answered as an error and not as a stream that ends.
    reader = await call.gateway.blocking(feed.follow, after)
    return event_stream(_merged(call.gateway, reader))


async def _merged(gateway: Gateway, reader: EventReader) -> AsyncIterator[bytes]:
    """Events of the log, and those that are in no receipt, as they come.

    The first one has no news: its id lets a reader that loses the connection before anything happens continue here.
    """
    with gateway.live.listening() as live:
        reader.delay = lambda: gateway.live.count * _PAUSE_SECONDS * random()  # noqa: S311
        waiting: dict[str, asyncio.Task[bytes]] = {}
        try:
            yield encoded_event(StreamEvent("ready", {"cursor": reader.cursor}, reader.cursor))
            while True:
                if "log" not in waiting:
                    waiting["log"] = asyncio.create_task(_logged(reader))
                if "live" not in waiting:
                    waiting["live"] = asyncio.create_task(_live(live))
                done, _ = await asyncio.wait(waiting.values(), return_when=asyncio.FIRST_COMPLETED)
                for name in [name for name, task in waiting.items() if task in done]:
                    found = waiting.pop(name).result()
                    if not found:
                        return  # The app was closed.
                    yield found
        finally:
            reader.close()
            for task in waiting.values():
                task.cancel()
            await asyncio.gather(*waiting.values(), return_exceptions=True)


async def _logged(reader: EventReader) -> bytes:
    """The next events of the log, encoded; nothing at the end."""
    try:
        events = list(await reader.batch())
    except StopAsyncIteration:
        return b""
    return b"".join(map(_encoded, events))


async def _live(live: AsyncIterator[StreamEvent]) -> bytes:
    return encoded_event(await anext(live))


def _encoded(event: Event) -> bytes:
    """An event of the log, encoded once for all its readers. On the event loop alone."""
    found = _kept.get(event.cursor)
    if found is None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        found = _kept[event.cursor] = encoded_event(StreamEvent(event.kind, event.object(), event.cursor))
    return found


EVENTS: Final = (
    Endpoint(
        method="GET",
        path="/api/events",
        handler=_events,
        summary="Follow everything that happens, from Last-Event-ID or from now on",
        scope=Scope.READ,
        media_type="text/event-stream",
    ),
)
