"""One HTTP connection, which is closed if the head of a request does not arrive in time."""

from __future__ import annotations

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Connection"]

_HEAD_SECONDS: Final = 15.0


class Connection(H11Protocol):
    """uvicorn's connection with a bound on how long a client may take to send a request's first lines.

    Without it, whoever opens connections and sends nothing, or a byte now and then, would keep them all. h11 is used
    everywhere, whatever else is installed: it refuses messages whose length two readers might understand differently.
    """

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._expect_head()  # A later request on this connection has begun, or is about to.
        else:
            self._forget_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_head()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(_HEAD_SECONDS, self._give_up)

    def _forget_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
