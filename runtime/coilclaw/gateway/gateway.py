"""The gateway's own parts: the app it serves, and the threads on which it waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from anyio import CancelScope, CapacityLimiter
from anyio.to_thread import run_sync

from coilclaw.gateway.address import Address
from coilclaw.gateway.chat.chat import Chat
from coilclaw.gateway.live_events import LiveEvents

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw

__all__ = ["Gateway"]

P = ParamSpec("P")
R = TypeVar("R")

_THREADS: Final = 16
"""For short calls of the app. Runs have threads of their own."""
_TOOL_THREADS: Final = 16
"""For what takes as long as a tool takes: direct calls and replays."""


class Gateway:
    """One server over one app. Its methods belong to the server's event loop."""

    def __init__(
        self, claw: CoilClaw, address: Address | None = None, *, environment: Mapping[str, str] | None = None
    ) -> None:
        """`address` is where the server listens; by default, where the configuration says, on this machine alone.

        `environment` stands for the variables in which the keys of model services may be.
        """
        self.claw = claw
        self.address = address or Address(port=claw.settings.config.gateway.port)
        self.environment = environment or {}
        self.live = LiveEvents()
        self.chat = Chat(self)
        self._threads = CapacityLimiter(_THREADS)
        self._tool_threads = CapacityLimiter(_TOOL_THREADS)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """While this is entered, accepted runs are executed and resumed, also those that a killed server left."""
        served = self.claw.background.served()
        await self.blocking(served.__enter__)
        feed = self.claw.feed
        reader = await self.blocking(lambda: feed.follow(feed.end()))
        tasks = [asyncio.create_task(self.live.read(reader)), asyncio.create_task(self.live.wake())]
        try:
            await self.chat.take_up()
            yield
        finally:
            with CancelScope(shield=True):
                await self.chat.aclose()
                reader.close()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await self.blocking(served.__exit__, None, None, None)

    async def blocking(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call something that reads or writes the store, on a thread, so that the event loop stays free."""
        return await run_sync(partial(function, *args, **kwargs), limiter=self._threads)

    async def lengthy(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call something that lasts as long as a tool, on a thread, so that short calls need not wait for it."""
        return await run_sync(partial(function, *args, **kwargs), limiter=self._tool_threads)
