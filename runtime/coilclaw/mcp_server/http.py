"""MCP over HTTP: an ASGI application for `/mcp`, behind whoever authenticates its requests."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware, get_access_token
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from coilclaw.mcp_server.client import Client
from coilclaw.mcp_server.server import MOST_SESSIONS, make_server

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw

__all__ = ["McpEndpoint"]

_APPROVES: Final = "approve"
_IDLE_SECONDS: Final = 1800.0
_LARGEST_BODY: Final = 4 * 1024 * 1024


class McpEndpoint:
    """Serves authenticated requests while it is `running`.

    It checks neither Host nor Origin nor a token: whoever mounts it has done that, and says who the client is. A
    session and a sealed state belong to that client alone.
    """

    def __init__(self, claw: CoilClaw) -> None:
        server = make_server(claw, _current_client)
        self._sessions = StreamableHTTPSessionManager(
            server,
            max_sessions=MOST_SESSIONS,
            session_idle_timeout=_IDLE_SECONDS,
            max_request_body_size=_LARGEST_BODY,
        )
        self._application = AuthContextMiddleware(self._sessions.asgi_app)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Serve while this is entered, once."""
        return self._sessions.run()

    async def serve(self, client: Client, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request of a client."""
        scopes = [_APPROVES] if client.may_approve else []
        user = AuthenticatedUser(AccessToken(token="", client_id=client.name, scopes=scopes))
        await self._application({**scope, "user": user}, receive, send)


def _current_client() -> Client:
    """The client of the request that is handled now."""
    known = get_access_token()
    if known is None:
        raise PermissionError("a request that nobody has authenticated")
    return Client(name=known.client_id, may_approve=_APPROVES in known.scopes)
