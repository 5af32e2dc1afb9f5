"""`GET /api/events`: everything that happens, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.event_stream import StreamEvent, encoded_event, event_stream, resumed_from
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from starlette.responses import Response

    from coilclaw.evidence import Event, EventReader
    from coilclaw.gateway.gateway import Gateway

__all__ = ["EVENTS"]

_PAUSE_SECONDS: Final = 0.0005
"""How long news wait for more, for each reader: with a few nobody notices, with 500 they come four times a second."""
_KEPT_ENCODED: Final = 1024


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
        waiting: dict[str, asyncio.Task[bytes]] = {}
        try:
            yield encoded_event(StreamEvent("ready", {"cursor": reader.cursor}, reader.cursor))
            while True:
                for name, following in (("log", lambda: _logged(gateway, reader)), ("live", lambda: _live(live))):
                    if name not in waiting:
                        waiting[name] = asyncio.create_task(following())
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


async def _logged(gateway: Gateway, reader: EventReader) -> bytes:
    """The next events of the log, encoded; nothing at the end."""
    try:
        events = list(await reader.batch())
    except StopAsyncIteration:
        return b""
    # Many readers share one processor: what comes at the same time is sent to each of them at once.
    await asyncio.sleep(gateway.live.count * _PAUSE_SECONDS)
    return b"".join(map(_encoded, events))


async def _live(live: AsyncIterator[StreamEvent]) -> bytes:
    return encoded_event(await anext(live))


@lru_cache(_KEPT_ENCODED)
def _encoded(event: Event) -> bytes:
    """An event of the log, encoded once for all its readers."""
    return encoded_event(StreamEvent(event.kind, event.object(), event.cursor))


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
