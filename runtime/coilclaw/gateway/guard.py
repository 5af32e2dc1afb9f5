"""The guard in front of every request: authenticates it before anything of it is parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.principal import Principal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from coilclaw.gateway.endpoint import Endpoint
    from coilclaw.gateway.gateway import Gateway

__all__ = ["Guard"]


class Guard:
    """Finds out who sends a request, and lets an endpoint ask whether that is enough."""

    def __init__(self, app: ASGIApp, gateway: Gateway) -> None:
        self._app = app
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["coilclaw.admit"] = self._admit
        await self._app(scope, receive, send)

    def _admit(self, endpoint: Endpoint) -> Principal | None:
        if endpoint.scope is None:
            return None
        raise ApiError(401, "unauthenticated", "this needs a session or an API token")
