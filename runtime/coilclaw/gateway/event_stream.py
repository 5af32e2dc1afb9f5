"""Server-sent events: how every stream of the API is sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Final, NamedTuple

from sse_starlette import EventSourceResponse, ServerSentEvent

__all__ = ["StreamEvent", "event_stream"]

_PING_SECONDS: Final = 15
_SEND_SECONDS: Final = 30.0
"""A reader that takes nothing for so long is let go; it continues from its last event."""


class StreamEvent(NamedTuple):
    """One event of a stream. Its id is what a reader continues from."""

    name: str
    data: Any
    id: str | None = None


def event_stream(events: AsyncIterator[StreamEvent]) -> EventSourceResponse:
    """A response that sends events as they come and ends with them."""

    async def encoded() -> AsyncIterator[ServerSentEvent]:
        async for event in events:
            data = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
            yield ServerSentEvent(data, event=event.name, id=event.id)

    return EventSourceResponse(
        encoded(), ping=_PING_SECONDS, send_timeout=_SEND_SECONDS, headers={"Cache-Control": "no-store"}
    )
