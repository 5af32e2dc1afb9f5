"""What a handler learns about its call from its context."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.conftest import World

from coilclaw.bridge import Bridge
from coilclaw.sdk import ToolContext, define_tool


@define_tool(id="test.who", risk="read")
def who(ctx: ToolContext) -> list[str | None]:
    return [ctx.session_id, ctx.agent, ctx.project, ctx.view]


def test_a_tool_sees_the_agent_the_project_and_the_view_of_its_caller(world: World) -> None:
    spec = world.spec(who)
    caller = replace(spec.caller, agent="reviewer", project="p-1", view="/projects/p-1/files")
    answer = json.loads(Bridge(world.services(), replace(spec, caller=caller)).call("test.who", b"{}", 1))
    assert answer["value"] == ["talk-1", "reviewer", "p-1", "/projects/p-1/files"]


def test_a_caller_need_not_have_any_of_them(world: World) -> None:
    assert json.loads(world.bridge(who).call("test.who", b"{}", 1))["value"] == ["talk-1", None, None, None]
