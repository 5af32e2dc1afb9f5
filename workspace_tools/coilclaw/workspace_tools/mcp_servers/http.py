"""Talking to a server at an address, with bounds on what it may send."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

__all__ = ["http_transport"]

_MOST_BYTES: Final = 8 * 1024 * 1024
_CONNECT_SECONDS: Final = 10.0
_SILENCE_SECONDS: Final = 300.0


@asynccontextmanager
async def http_transport(url: str) -> AsyncIterator[Any]:
    """The two streams that an MCP session speaks through. Proxies of the environment are not used."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    class Bounded(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await super().handle_async_request(request)
            # Streams of events are endless by nature; the length of each event is bounded instead.
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                response.stream = BoundedBody(response.stream)
            return response

    class BoundedBody(httpx2.AsyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = _MOST_BYTES
            async for part in self._stream:
                left -= len(part)
                if left < 0:
                    raise httpx2.ReadError(f"the server sent more than {_MOST_BYTES} bytes")
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_SILENCE_SECONDS)
    # Compressed answers could be small on the wire and huge here.
    headers = {"accept-encoding": "identity"}
    async with (
        httpx2.AsyncClient(transport=Bounded(), timeout=timeout, trust_env=False, headers=headers) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=_MOST_BYTES) as streams,
    ):
        yield streams
