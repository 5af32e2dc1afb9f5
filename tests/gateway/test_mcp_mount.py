"""`/mcp` of the gateway, behind its guard."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult
from tests.gateway.conftest import Serve, Served

from coilclaw.access import Scope
from coilclaw.sdk import ToolContext, define_tool


@define_tool(id="mail.send", risk="write")
def send(ctx: ToolContext, to: str) -> str:
    """Send a mail."""
    return to


async def approve(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"call_1": "approve"})


def called(served: Served, token: str, mode: str, code: str) -> Any:
    async def talk() -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(
                streamable_http_client(f"{served.base}/mcp", http_client=http), mode=mode, elicitation_callback=approve
            ) as client,
        ):
            assert "run_python" in [each.name for each in (await client.list_tools()).tools]
            return (await client.call_tool("run_python", {"code": code})).structured_content

    return anyio.run(talk)


def test_the_official_client_runs_snippets_with_a_token(serve: Serve) -> None:
    served = serve(tools=[send])
    token = served.claw.access.tokens.create(Scope.RUN).text
    for mode in ("legacy", "auto"):
        assert called(served, token, mode, "6 * 7")["value"] == 42


def test_only_a_token_of_an_operator_approves_through_its_client(serve: Serve) -> None:
    served = serve(tools=[send])
    code = "tools.mail.send(to='eve').unwrap()"
    for mode in ("legacy", "auto"):
        assert called(served, served.token, mode, code)["value"] == "eve"
        assert called(served, served.claw.access.tokens.create(Scope.RUN).text, mode, code)["status"] == "suspended"


def test_mcp_wants_a_token_that_may_run(served: Served) -> None:
    for method in ("POST", "GET", "DELETE"):
        with served.client() as nobody:
            assert nobody.request(method, "/mcp").status_code == 401
        with served.client("wrong") as somebody:
            assert somebody.request(method, "/mcp").status_code == 401
        with served.client_with(Scope.READ) as reader:
            assert reader.request(method, "/mcp").status_code == 403
    with served.client_with(Scope.RUN) as runner:
        assert runner.post("/mcp", headers={"Host": "evil.example"}, json={}).status_code == 421
        assert runner.post("/mcp", headers={"Origin": "http://evil.example"}, json={}).status_code == 403
        assert runner.post("/mcp", content=b"x" * (5 * 1024 * 1024)).status_code == 413
        assert runner.post("/mcp", content=b"x" * (3 * 1024 * 1024)).status_code != 413


def test_the_sdk_is_not_imported_before_it_is_needed() -> None:
    source = "import sys, coilclaw.gateway.application\nprint('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout == "False\n"
