"""`GET /api/events`: everything that happens, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Final

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.event_stream import StreamEvent, encoded_event, event_stream, resumed_from
from coilclaw.gateway.live_events import encoded
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from starlette.responses import Response

    from coilclaw.evidence import EventFeed
    from coilclaw.gateway.gateway import Gateway

__all__ = ["EVENTS"]

_PAGE: Final = 256


async def _events(call: ApiCall[NoBody, NoQuery]) -> Response:
    feed, after = call.gateway.claw.feed, resumed_from(call.request)
    # Checked here, so that a cursor of another log is answered as an error and not as a stream that ends.
    after = await call.gateway.blocking(feed.end if after is None else partial(feed.checked, after))
    return event_stream(_followed(call.gateway, after))


async def _followed(gateway: Gateway, cursor: str) -> AsyncIterator[bytes]:
    """Events of the log, and those that are in no receipt, as they come.

    The first one has no news: its id lets a reader that loses the connection before anything happens continue here.
    """
    live = gateway.live
    with live.listening() as listener:
        yield encoded_event(StreamEvent("ready", {"cursor": cursor}, cursor))
        while True:
            is_over = live.is_over
            found = live.behind(cursor)
            if found is None:  # Too far back, or further than the others: it reads for itself until it is with them.
                found = await gateway.blocking(_read, gateway.claw.feed, cursor)
            logged, cursor = found
            if data := listener.take() + logged:
                yield data
            elif is_over:
                return
            else:
                await listener.woken()


def _read(feed: EventFeed, cursor: str) -> tuple[bytes, str]:
    """The next events on disk, encoded, and the cursor to continue from."""
    events = feed.read(cursor, _PAGE)
    return b"".join(map(encoded, events)), events[-1].cursor if events else cursor


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
