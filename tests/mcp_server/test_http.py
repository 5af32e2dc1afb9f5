"""The official client and the server over HTTP, behind a program that says who each client is."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2 as httpx
import pytest
import uvicorn
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult
from starlette.applications import Starlette
from starlette.routing import Route
from tests.conftest import cache_folder
from tests.mcp_server.conftest import text_of

from coilclaw.app import CoilClaw
from coilclaw.mcp_server import Client, McpEndpoint
from coilclaw.sdk import ToolContext, define_tool

PEOPLE = {"ada": Client(name="ada", may_approve=True), "bob": Client(name="bob", may_approve=False)}
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


@asynccontextmanager
async def served(sent: list[str]) -> AsyncIterator[str]:
    @define_tool(id="mail.send", risk="write")
    def send(ctx: ToolContext, to: str) -> str:
        """Send a mail."""
        sent.append(to)
        return to

    with CoilClaw.temporary(tools=[send], cache=cache_folder()) as claw:
        endpoint = McpEndpoint(claw)

        class Door:
            async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
                name = dict(scope["headers"])[b"x-person"].decode()
                await endpoint.serve(PEOPLE[name], scope, receive, send)

        app = Starlette(routes=[Route("/mcp", Door())], lifespan=lambda app: endpoint.running())
        listening = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            while not server.started:
                await anyio.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            server.should_exit = True
        listening.close()


@asynccontextmanager
async def client(url: str, person: str, mode: str, answer: str | None = None) -> AsyncIterator[McpClient]:
    async def elicit(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"call_1": answer})

    given: dict[str, Any] = {} if answer is None else {"elicitation_callback": elicit}
    async with (
        httpx.AsyncClient(headers={"x-person": person}, timeout=60) as http,
        McpClient(streamable_http_client(url, http_client=http), mode=mode, **given) as made,
    ):
        yield made


@ERAS
def test_a_person_who_may_decide_approves_over_http(mode: str) -> None:
    sent: list[str] = []

    async def talk() -> Any:
        async with served(sent) as url, client(url, "ada", mode, "approve") as ada:
            assert "run_python" in [each.name for each in (await ada.list_tools()).tools]
            return await ada.call_tool("run_python", {"code": "tools.mail.send(to='eve').unwrap()"})

    done = anyio.run(talk)
    assert (done.structured_content["value"], sent) == ("eve", ["eve"])
    assert done.structured_content["activity"][0]["decided_by"].endswith("(ada)")


@ERAS
def test_an_answer_of_a_client_that_may_not_decide_is_not_asked_for(mode: str) -> None:
    sent: list[str] = []

    async def talk() -> Any:
        async with served(sent) as url, client(url, "bob", mode, "approve") as bob:
            return await bob.call_tool("run_python", {"code": "tools.mail.send(to='eve').unwrap()"})

    assert anyio.run(talk).structured_content["status"] == "suspended"
    assert sent == []


@ERAS
def test_a_client_sees_nothing_of_another_client(mode: str) -> None:
    async def talk() -> None:
        async with served([]) as url, client(url, "bob", mode) as bob, client(url, "ada", mode) as ada:
            waits = await bob.call_tool("run_python", {"code": "tools.mail.send(to='eve')"})
            facts = waits.structured_content
            for name, arguments in (
                ("get_run", {"run_id": facts["run_id"]}),
                ("run_python", {"code": "1", "retry_of": facts["run_id"]}),
            ):
                foreign = await ada.call_tool(name, arguments)
                assert foreign.is_error
                assert "there is no run" in text_of(foreign)
            assert (await ada.call_tool("list_pending", {})).structured_content == {"approvals": []}
            receipt = facts["activity"][0]["receipt_ref"]
            assert (await bob.read_resource(f"coilclaw://receipts/{receipt}")).contents
            for place in (f"receipts/{receipt}", f"runs/{facts['run_id']}", "receipts/1", "runs/../keys"):
                with pytest.raises(MCPError):
                    await ada.read_resource(f"coilclaw://{place}")

    anyio.run(talk)
