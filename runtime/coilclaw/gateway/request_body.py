"""The body of a request, within a bound of size and time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from coilclaw.gateway.errors import ApiError

if TYPE_CHECKING:
    from starlette.types import Message, Receive

    from coilclaw.gateway.authentication import RequestHeaders

__all__ = ["RequestBody"]

_SECONDS: Final = 30.0
"""For the whole of a body; a slow sender is not waited for longer."""


class RequestBody:
    """Receives a body and refuses one that is too large or too slow. Nothing is read before a limit is set."""

    def __init__(self, receive: Receive, headers: RequestHeaders) -> None:
        self._receive = receive
        self._headers = headers
        self._limit = 0
        self._count = 0
        self._deadline: float | None = None
        self.is_complete = not (headers.all("content-length") or headers.all("transfer-encoding"))

    def allow(self, limit: int) -> None:
        """Let so many bytes through. Raises ApiError if the request says that there are more."""
        self._limit = limit
        length = self._headers.one("content-length")
        if length is not None and (not length.isdecimal() or len(length) > 18 or int(length) > limit):
            raise self._too_large()

    async def receive(self) -> Message:
        """The next message from the client."""
        if self.is_complete:
            return await self._receive()
        now = asyncio.get_running_loop().time()
        self._deadline = self._deadline or now + _SECONDS
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise ApiError(408, "request_timeout", "the body did not arrive in time") from None
        if message["type"] == "http.request":
            self._count += len(message.get("body", b""))
            if self._count > self._limit:
                raise self._too_large()
            self.is_complete = not message.get("more_body", False)
        return message

    def _too_large(self) -> ApiError:
        return ApiError(413, "too_large", f"the body has more than {self._limit} bytes")
