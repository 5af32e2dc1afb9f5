"""The gateway's own parts: the app it serves, and the threads on which it waits for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from coilclaw.gateway.address import Address
from coilclaw.gateway.live_events import LiveEvents

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw

__all__ = ["Gateway"]

P = ParamSpec("P")
R = TypeVar("R")

_THREADS: Final = 16
"""For short calls of the app. Runs have threads of their own."""


class Gateway:
    """One server over one app. Its methods belong to the server's event loop."""

    def __init__(self, claw: CoilClaw, address: Address | None = None) -> None:
        """`address` is where the server listens; by default, where the configuration says, on this machine alone."""
        self.claw = claw
        self.address = address or Address(port=claw.settings.config.gateway.port)
        self.live = LiveEvents()
        self._threads = CapacityLimiter(_THREADS)

    async def blocking(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call something that reads or writes the store, on a thread, so that the event loop stays free."""
        return await run_sync(partial(function, *args, **kwargs), limiter=self._threads)
