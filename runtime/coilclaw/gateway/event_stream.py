"""Server-sent events: how every stream of the API is sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from random import random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sse_starlette import EventSourceResponse, ServerSentEvent

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["StreamEvent", "encoded_event", "event_stream", "resumed_from"]

_PING_SECONDS: Final = 15
"""At most; each stream has an interval of its own, so that those that began together are not all due at once."""
_SEND_SECONDS: Final = 30.0
"""A reader that takes nothing for so long is let go; it continues from its last event."""


class StreamEvent(NamedTuple):
    """One event of a stream. Its id is what a reader continues from."""

    name: str
    data: Any
    id: str | None = None


def resumed_from(request: Request) -> str | None:
    """The id of the last event that a reader got before its connection ended; None for a new reader."""
    return request.headers.get("last-event-id") or None


def encoded_event(event: StreamEvent) -> bytes:
    """An event as it is sent."""
    data = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(data, event=event.name, id=event.id).encode()


def event_stream(events: AsyncIterator[StreamEvent | bytes]) -> EventSourceResponse:
    """A response that sends events as they come and ends with them; several at once are given encoded."""

    async def encoded() -> AsyncIterator[bytes]:
        async for event in events:
            yield event if isinstance(event, bytes) else encoded_event(event)

    return EventSourceResponse(
        encoded(),
        ping=_PING_SECONDS * (0.6 + 0.4 * random()),  # noqa: S311
        send_timeout=_SEND_SECONDS,
        headers={"Cache-Control": "no-store"},
    )
