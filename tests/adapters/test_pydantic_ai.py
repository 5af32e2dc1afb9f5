"""The toolset, in agents of the real pydantic-ai with a scripted model."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from tests.conftest import cache_folder
from tests.gateway.endpoints.conftest import ApiServer, server

from coilclaw.adapters.pydantic_ai import CoilClawToolset
from coilclaw.app import CoilClaw
from coilclaw.client import Client

__all__ = ["server"]

WRITE = "tools.files.write(path='n.txt', text='hi').unwrap()\n7"


def agent_of(claw: CoilClaw | Client, code: str) -> Agent[None, Any]:
    """An agent whose model runs one snippet and then says what came back."""

    def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        returned = [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
        if returned:
            content: Any = returned[-1].content
            return ModelResponse(parts=[TextPart(str(content.get("value") if isinstance(content, dict) else content))])
        assert [tool.name for tool in info.function_tools] == ["run_python"]
        assert "files.write" in (info.function_tools[0].description or "") or "files" in str(info.function_tools[0])
        return ModelResponse(parts=[ToolCallPart("run_python", {"code": code}, tool_call_id="call-1")])

    return Agent(
        FunctionModel(scripted), toolsets=[CoilClawToolset(claw, by="ada")], output_type=[str, DeferredToolRequests]
    )


@pytest.mark.parametrize("remote", [False, True])
def test_an_approval_is_pydantic_ais_own_and_binds_what_was_shown(
    remote: bool, tmp_path: Path, server: ApiServer
) -> None:
    claw: CoilClaw | Client
    if remote:
        claw, workspace = Client(server.url, token=server.token), server.workspace
    else:
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        claw = CoilClaw.open(tmp_path / "home", workspace=workspace, cache=cache_folder())
    with claw:
        assert asyncio.run(agent_of(claw, "6 * 7").run("go")).output == "42"
        agent = agent_of(claw, WRITE)
        asked = asyncio.run(agent.run("go"))
        assert isinstance(asked.output, DeferredToolRequests)
        (shown,) = asked.output.metadata["call-1"]["coilclaw"]["approvals"]
        assert (shown["tool"], shown["arguments"]["path"]) == ("files.write", "n.txt")
        assert not (workspace / "n.txt").exists()
        approved = DeferredToolResults(approvals={"call-1": True})
        done = asyncio.run(agent.run(message_history=asked.all_messages(), deferred_tool_results=approved))
        assert done.output == "7"
        assert (workspace / "n.txt").read_text() == "hi"


def test_a_denied_call_is_not_made(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with CoilClaw.open(tmp_path / "home", workspace=workspace, cache=cache_folder()) as claw:
        agent = agent_of(claw, WRITE)
        asked = asyncio.run(agent.run("go"))
        denied = DeferredToolResults(approvals={"call-1": False})
        asyncio.run(agent.run(message_history=asked.all_messages(), deferred_tool_results=denied))
        assert not (workspace / "n.txt").exists()
