"""The ASGI application: the guard in front, and behind it the table of endpoints."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from coilclaw.gateway.errors import ApiError, error_response
from coilclaw.gateway.guard import Guard
from coilclaw.gateway.mcp_mount import MCP_PATH, McpMount, has_mcp
from coilclaw.gateway.served import SERVED
from coilclaw.sdk import CoilClawError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from coilclaw.gateway.endpoint import Endpoint
    from coilclaw.gateway.gateway import Gateway

__all__ = ["make_application"]

_logger = logging.getLogger(__name__)


def make_application(gateway: Gateway, endpoints: Iterable[Endpoint] = SERVED) -> ASGIApp:
    """The application of a gateway."""
    endpoints = tuple(endpoints)
    mount = McpMount(gateway) if has_mcp() else None
    routes = [
        Route(each.path, _handler(gateway, each), methods=[each.method], name=f"{each.method} {each.path}")
        for each in endpoints
    ]
    routed = Starlette(
        routes=routes if mount is None else [*routes, Route(MCP_PATH, mount)],
        lifespan=lambda application: _serving(gateway, mount),
        exception_handlers={HTTPException: _not_routed, CoilClawError: _refused, Exception: _crashed},
    )
    # A redirection names the scheme that the server sees: behind a proxy, a token would be sent again without TLS.
    routed.router.redirect_slashes = False
    # Outside of everything, so that the answer to a crash passes it too.
    return Guard(routed, gateway, endpoints)


@asynccontextmanager
async def _serving(gateway: Gateway, mount: McpMount | None) -> AsyncIterator[None]:
    async with gateway.serving(), nullcontext() if mount is None else mount.running():
        yield


def _handler(gateway: Gateway, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        principal = request.scope["coilclaw.admit"](endpoint)
        return await endpoint.answer_request(gateway, principal, request)

    return handle


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return error_response(ApiError(405, "method_not_allowed", "this path does not take this method"))
    return error_response(ApiError(404, "not_found", "there is nothing at this path"))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, CoilClawError)
    return error_response(error)


async def _crashed(request: Request, error: Exception) -> Response:
    _logger.error("a request failed", exc_info=error)
    return error_response(ApiError(500, "internal", "the server failed; its log says why"))
