"""The protocol server over one app: its handlers, the seal of what clients keep for it, and changes of its tools."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from coilclaw.app import CoilClaw
from coilclaw.mcp_server.catalogue import Catalogue
from coilclaw.mcp_server.client import Client
from coilclaw.mcp_server.executions import Executions, TooBusy
from coilclaw.mcp_server.resources import TEMPLATES, NoSuchResource, Resources
from coilclaw.mcp_server.state_key import load_state_key
from coilclaw.mcp_server.tool_calls import ToolCalls
from coilclaw.sdk.version import VERSION

__all__ = ["CHANGES", "make_server"]

CHANGES: Final = NotificationOptions(tools_changed=True)
MOST_SESSIONS: Final = 100
_NAME: Final = "coilclaw"
_STATE_SECONDS: Final = 900.0
"""For how long a person may think about a form. The question itself stays, and can be decided elsewhere."""
_INSTRUCTIONS: Final = (
    "Act by writing Python for run_python; every tool call leaves a receipt. Calls that need approval wait for a "
    "person: say so, and never claim that something was done unless a result shows that its call succeeded."
)
_Context = ServerRequestContext[Any, Any]


def make_server(claw: CoilClaw, client_of: Callable[[], Client]) -> Server[Any]:
    """A server whose requests come from whoever `client_of` says, in the context of each request."""
    catalogue, executions = Catalogue(claw), Executions()
    calls, resources = ToolCalls(claw, catalogue, executions), Resources(claw, catalogue)
    changes = _Changes(claw)

    async def list_tools(ctx: _Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        offer = await executions.look(lambda: catalogue.offer)
        return ListToolsResult(tools=list(offer.listing))

    async def call_tool(ctx: _Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        return await calls.call(ctx, client_of(), params)

    async def list_resources(ctx: _Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        client = client_of()
        return ListResourcesResult(resources=await executions.look(lambda: resources.list(client)))

    async def list_templates(ctx: _Context, params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=list(TEMPLATES))

    async def read_resource(ctx: _Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        client = client_of()
        try:
            return await executions.look(lambda: resources.read(client, params.uri))
        except NoSuchResource:
            raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": params.uri[:200]}) from None

    server: Server[Any] = Server(
        _NAME,
        version=VERSION,
        title="CoilClaw",
        instructions=_INSTRUCTIONS,
        lifespan=changes.announced,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscriptions_listen=changes.listen,
    )
    seal = RequestStateSecurity(
        keys=[load_state_key(claw.settings.home)],
        ttl=_STATE_SECONDS,
        bind_principal=lambda ctx: client_of().name,
    )
    server.middleware += [_refuse_when_busy, changes.noted, RequestStateBoundary(seal, default_audience=_NAME)]
    return server


async def _refuse_when_busy(ctx: _Context, call_next: CallNext) -> HandlerResult:
    try:
        return await call_next(ctx)
    except TooBusy:
        raise MCPError(-32000, "Too many requests are under way") from None


class _Changes:
    """Tells clients that the tools have changed: on their stream of subscriptions, or as older clients expect it."""

    def __init__(self, claw: CoilClaw) -> None:
        self._claw = claw
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=MOST_SESSIONS)
        self._sessions: OrderedDict[object, ServerSession] = OrderedDict()
        """Of older clients, by session; those of the latest sessions, because nobody says when one has ended."""

    async def noted(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Remember a client that has opened a session."""
        if ctx.method == "notifications/initialized":
            headers = getattr(ctx.request, "headers", {})
            self._sessions[headers.get("mcp-session-id")] = ctx.session
            while len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
        return await call_next(ctx)

    @asynccontextmanager
    async def announced(self, server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """Watch the tools while the server runs."""
        loop, changed = asyncio.get_running_loop(), anyio.Event()

        def note(change: object, registry: object) -> None:
            loop.call_soon_threadsafe(lambda: changed.set())

        async def announce() -> None:
            nonlocal changed
            while True:
                await changed.wait()
                changed = anyio.Event()
                await self._tell()

        watch = self._claw.tools.watch(note)
        await anyio.to_thread.run_sync(watch.start)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(announce)
                try:
                    yield {}
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(watch.close)

    async def _tell(self) -> None:
        await self._bus.publish(ToolsListChanged())
        for key, session in list(self._sessions.items()):
            try:
                await session.send_tool_list_changed()
            except Exception:  # Whatever a connection raises that has ended.
                self._sessions.pop(key, None)
