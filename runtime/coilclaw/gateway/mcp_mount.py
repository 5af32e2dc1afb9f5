"""`/mcp`: the MCP server behind the guard. Its SDK is imported with the first request, because that takes seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.abc import TaskGroup, TaskStatus

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.errors import ApiError, error_response
from coilclaw.gateway.principal import Principal, Scope

if TYPE_CHECKING:
    from coilclaw.gateway.gateway import Gateway
    from coilclaw.mcp_server import Client, McpEndpoint

__all__ = ["MCP_PATH", "McpMount", "has_mcp"]

MCP_PATH: Final = "/mcp"
_LARGEST_BODY: Final = 4 * 1024 * 1024


def has_mcp() -> bool:
    """Whether the extra `mcp` is installed."""
    return find_spec("mcp") is not None


async def _elsewhere(call: ApiCall[NoBody, NoQuery]) -> dict[str, Any]:
    raise AssertionError("the mount answers by itself")


_ADMITTED: Final = Endpoint(
    method="POST",
    path=MCP_PATH,
    handler=_elsewhere,
    summary="The MCP server",
    scope=Scope.RUN,
    body_bytes=_LARGEST_BODY,
)


class McpMount:
    """An ASGI application that serves MCP to programs with an API token, while it is `running`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._tasks: TaskGroup | None = None
        self._making = anyio.Lock()
        self._made: McpEndpoint | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self._tasks:
            try:
                yield
            finally:
                self._tasks.cancel_scope.cancel()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            client = self._client(scope)
        except ApiError as error:
            await error_response(error)(scope, receive, send)
            return
        await (await self._endpoint()).serve(client, scope, receive, send)

    def _client(self, scope: Any) -> Client:
        from coilclaw.mcp_server import Client

        principal = scope["coilclaw.admit"](_ADMITTED)
        if not isinstance(principal, Principal) or principal.kind != "token":
            # A browser's cookie is sent by itself; a token is sent on purpose.
            raise ApiError(403, "token_needed", "this needs an API token", hint="coilclaw token create --scope run")
        # Whoever may not decide approvals may not do it by answering a question either.
        return Client(name=f"{principal.name} {principal.id}", may_approve=principal.scope.includes(Scope.OPERATOR))

    async def _endpoint(self) -> McpEndpoint:
        async with self._making:
            if self._made is None:
                assert self._tasks is not None
                self._made = await self._gateway.blocking(self._make)
                await self._tasks.start(self._run, self._made)
            return self._made

    def _make(self) -> McpEndpoint:
        from coilclaw.mcp_server import McpEndpoint

        return McpEndpoint(self._gateway.claw)

    async def _run(self, endpoint: McpEndpoint, *, task_status: TaskStatus[None]) -> None:
        async with endpoint.running():
            task_status.started()
            await anyio.sleep_forever()
