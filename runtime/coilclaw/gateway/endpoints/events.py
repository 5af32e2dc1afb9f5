"""`GET /api/events`: everything that happens, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.event_stream import StreamEvent, event_stream, resumed_from
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from starlette.responses import Response

    from coilclaw.evidence import EventReader
    from coilclaw.gateway.gateway import Gateway

__all__ = ["EVENTS"]


async def _events(call: ApiCall[NoBody, NoQuery]) -> Response:
    feed, after = call.gateway.claw.feed, resumed_from(call.request)
    if after is None:
        after = await call.gateway.blocking(feed.end)
    # Opened here, so that a cursor of another log is answered as an error and not as a stream that ends.
    reader = await call.gateway.blocking(feed.follow, after)
    return event_stream(_merged(call.gateway, reader))


async def _merged(gateway: Gateway, reader: EventReader) -> AsyncIterator[StreamEvent]:
    """Events of the log, and those that are in no receipt, as they come.

    The first one has no news: its id lets a reader that loses the connection before anything happens continue here.
    """
    with gateway.live.listening() as live:
        pending: dict[asyncio.Task[StreamEvent], AsyncIterator[StreamEvent]] = {}
        try:
            yield StreamEvent("ready", {"cursor": reader.cursor}, reader.cursor)
            logged = _logged(reader)
            for source in (logged, live):
                pending[asyncio.ensure_future(anext(source))] = source
            while pending:
                done, _ = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    source = pending.pop(task)
                    try:
                        event = task.result()
                    except StopAsyncIteration:
                        return  # The app was closed.
                    yield event
                    pending[asyncio.ensure_future(anext(source))] = source
        finally:
            reader.close()
            for task in pending:
                task.cancel()
            for task in pending:
                with suppress(asyncio.CancelledError, StopAsyncIteration):
                    await task


async def _logged(reader: EventReader) -> AsyncIterator[StreamEvent]:
    async for event in reader:
        yield StreamEvent(event.kind, event.object(), event.cursor)


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
