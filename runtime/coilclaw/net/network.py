"""How one call reaches servers: the `network` of a `ToolContext`.

Nothing is imported or made before a handler asks for it: most calls reach no server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from coilclaw.sdk import ToolContext, ToolFailure

if TYPE_CHECKING:
    import httpx

    from coilclaw.net.fake_server import FakeServer
    from coilclaw.net.hosts import Destination, Reach

__all__ = ["GuardedNetwork", "RoutedNetwork"]


class GuardedNetwork:
    """Reaches only the hosts that a tool's contract declares, or the server that the operator put in their place."""

    def __init__(self, context: ToolContext, resolve: Callable[[str, int], Sequence[str]] | None = None) -> None:
        self._context = context
        self._resolve = resolve

    def client(self) -> httpx.Client:
        """Return a new client for a plain handler."""
        from coilclaw.net.transport import sync_client

        return sync_client(self._reach, self._request_seconds, self._resolve)

    def async_client(self) -> httpx.AsyncClient:
        """Return a new client for an async handler."""
        from coilclaw.net.transport import async_client

        return async_client(self._reach, self._request_seconds, self._resolve)

    def destination(self, url: str) -> Destination:
        """Return where a URL leads, if the tool may go there. Raises ToolFailure otherwise."""
        import httpx

        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise ToolFailure(f"not a URL: {error}", code="bad_url") from None
        return self._reach.destination(parsed)

    @cached_property
    def _reach(self) -> Reach:
        from coilclaw.net.hosts import make_reach

        return make_reach(self._context.hosts, self._context.bounds, self._context.settings)

    def _request_seconds(self) -> float:
        """How long a request that begins now may take."""
        most, remaining = self._context.bounds.http_seconds, self._context.remaining_seconds
        return most if remaining is None else min(most, remaining)


class RoutedNetwork(GuardedNetwork):
    """Checks the host that is asked for, then asks a test's server instead."""

    def __init__(self, context: ToolContext, server: FakeServer) -> None:
        super().__init__(context)
        self._server = server

    def client(self) -> httpx.Client:
        return self._server.client(self._reach)

    def async_client(self) -> httpx.AsyncClient:
        return self._server.async_client(self._reach)
