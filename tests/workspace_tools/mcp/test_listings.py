"""What a server offers: learned, remembered, and noticed when it changes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.workspace_tools.mcp.conftest import World, offered

from coilclaw.bridge.invocation import invoke_async
from coilclaw.sandbox import Deadline
from coilclaw.sdk import ToolContext, ToolFailure
from coilclaw.workspace_tools.mcp_servers import ServerSpec
from coilclaw.workspace_tools.mcp_servers.failure import Failure
from coilclaw.workspace_tools.mcp_servers.listing import OfferedTool, write_listing


def test_a_tool_that_the_protocol_does_not_allow_is_told_and_the_others_are_used(world: World) -> None:
    spec = world.strange(
        "echo", offered("bad", {"properties": {"n": {"type": "integer"}}}), offered("worse", {"type": 5})
    )
    for _ in range(2):  # Learned, and then remembered.
        loaded = world.load(spec)
        assert [tool.id for tool in loaded.tools] == ["odd.echo"]
        assert world.call(loaded.tools[0]) == "{}"
        bad, worse = loaded.diagnostics
        assert "the tool 'bad' cannot be used: inputSchema.type: Field required" in bad.message
        assert "the tool 'worse' cannot be used: inputSchema.type" in worse.message
        world.opened.pop().close()


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("no list", "it answered with an error: the list is closed\\u001b[2J (-32000)"),
        ("odd list", "it answered with something that is not MCP: tools: Input should be a valid list"),
    ],
)
def test_a_server_that_cannot_list_its_tools_is_told_with_its_own_reason(world: World, mode: str, said: str) -> None:
    (problem,) = world.load(world.strange("echo", mode=mode)).diagnostics
    assert said in problem.message
    assert "it ended" not in problem.message
    assert len(world.starts()) == 1


def test_texts_that_change_at_every_start_do_not_make_another_tool(world: World) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "description": "x"}}}
    spec = world.strange(offered("echo", schema), mode="restless")
    for _ in range(3):
        (tool,) = world.load(spec).tools
        assert world.call(tool, {"n": 1}) == '{"n": 1}'
        world.opened.pop().close()
    assert len(world.starts()) == 3


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"n": {"type": "string"}}},
        {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}},
        {"type": "object", "properties": {"n": {"type": "integer"}, "description": {"type": "string"}}},
        {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    ],
)
def test_a_schema_that_changed_is_another_tool(world: World, schema: dict[str, Any]) -> None:
    spec = world.strange(offered("echo", {"type": "object", "properties": {"n": {"type": "integer"}}}))
    (old,) = world.load(spec).tools
    world.opened.pop().close()
    (old,) = world.load(spec).tools
    world.strange(offered("echo", schema))
    error = world.failure(old, {"n": 1})
    assert error.code == "tool_changed"
    assert "every time" in str(error.hint)
    assert world.changed.wait(60)
    assert world.opened[-1].load().tools[0].version != old.version


def test_a_server_that_hangs_is_waited_for_once_and_told_each_time(world: World) -> None:
    world.learn_seconds = 1.5
    spec = world.strange("echo", mode="silent", seconds=600)
    (problem,) = world.load(spec).diagnostics
    assert "did not answer within 1.5 s" in problem.message
    assert world.told == ["Starting the MCP server odd, which has 1.5 s for it …"]
    started = len(world.starts())
    world.opened.pop().close()
    for _ in range(3):  # Other processes.
        (problem,) = world.load(spec).diagnostics
        assert "did not answer within 1.5 s" in problem.message
        assert "coilclaw mcp refresh odd" in str(problem.hint)
        assert "tried again in" in str(problem.hint)
    assert len(world.starts()) == started
    assert len(world.told) == 1


def test_a_server_that_failed_is_tried_again_when_asked_for_and_then_known(world: World) -> None:
    spec = world.strange("echo", mode="silent", seconds=1)
    assert world.load(spec).diagnostics
    mended = ServerSpec(name=spec.name, command=(*(spec.command or ())[:-1], ""), env=spec.env)
    failed, fresh = (world.cache / f"{each.key}.failed" for each in (spec, mended))
    failed.rename(fresh)
    servers = world.open(mended)
    assert servers.load().tools == []
    servers.refresh("other")
    assert servers.load().tools == []
    servers.refresh("odd")
    assert [tool.id for tool in servers.load().tools] == ["odd.echo"]
    assert not fresh.exists()


def test_the_pause_after_a_failure_grows_and_ends(world: World) -> None:
    first = Failure.now("x")
    assert 50 < first.seconds_left <= 60
    assert 110 < first.again("x").seconds_left <= 120
    assert Failure(problem="x", at=time.time() - 61).seconds_left < 0
    assert Failure(problem="x", at=time.time() - 500, count=100).seconds_left > 0
    assert Failure(problem="x", at=time.time() + 10_000, count=9).seconds_left == 0, "the clock was set back"
    spec = world.strange("echo", mode="dies")
    world.load(spec)
    (file,) = world.cache.glob("*.failed")
    old = json.loads(file.read_text())
    file.write_text(json.dumps({**old, "at": old["at"] - 3_600}))
    before = len(world.starts())
    world.load(spec)
    assert len(world.starts()) > before
    assert json.loads(file.read_text())["count"] == 2
    file.write_text('{"problem": 5, "at": "x", "count": true}')
    world.load(spec)
    assert json.loads(file.read_text())["count"] == 1


def test_a_program_that_is_missing_costs_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from coilclaw.workspace_tools.mcp_servers import McpServers, ServerSpec\n"
        "servers = McpServers([ServerSpec(name='x', command=('no-such-program',))], Path(sys.argv[1]), print)\n"
        "assert 'no-such-program' in servers.load().diagnostics[0].message\n"
        "assert not {'mcp', 'anyio'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)


def test_whoever_calls_is_told_that_a_server_takes_long_to_start(world: World) -> None:
    spec = world.strange("echo", mode="silent", seconds=3)
    listing = OfferedTool(
        name="echo",
        description="",
        input_schema={"type": "object"},
        output_schema=None,
        read_only=True,
        destructive=False,
        idempotent=False,
    )
    world.cache.mkdir(mode=0o700)
    write_listing(world.cache / f"{spec.key}.json", (listing,))
    (tool,) = world.load(spec).tools
    told: list[str] = []
    context = ToolContext(workspace=world.folder, tool_id=tool.id, report_progress=told.append)
    with pytest.raises(ToolFailure):
        world.handlers.run_async(lambda: invoke_async(tool, tool.input.model_validate({}), context), 30, Deadline(30))
    assert told == ["starting the MCP server odd"]


def test_a_server_that_was_seen_before_is_started_by_the_first_call(world: World) -> None:
    spec = world.strange("echo")
    world.tools(spec)
    world.opened.pop().close()
    assert len(world.starts()) == 1
    servers = world.open(spec)
    (tool,) = servers.load().tools
    assert len(world.starts()) == 1
    assert [each.state for each in servers.states()] == ["known"]
    assert world.call(tool) == "{}"
    assert len(world.starts()) == 2
    assert [each.state for each in servers.states()] == ["running"]
    assert not world.changed.is_set()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": 1}',
        '{"format": 1, "tools": [{"name": 1}]}',
        '{"format": 9, "tools": []}',
        "[" * 100_000,
    ],
    ids=["empty", "cut", "list", "none", "wrong", "other", "deep"],
)
def test_a_spoilt_memory_is_ignored(world: World, text: str) -> None:
    spec = world.strange("echo")
    world.tools(spec)
    world.opened.pop().close()
    (file,) = world.cache.glob("*.json")
    file.write_text(text)
    assert list(world.tools(spec)) == ["odd.echo"]
    assert json.loads(file.read_text())["tools"][0]["name"] == "echo"


def test_another_command_is_another_memory_and_secrets_are_not_in_it(world: World) -> None:
    spec = world.strange("echo")
    world.tools(spec)
    other = ServerSpec(name="odd", command=(*(spec.command or ()), "more"), env=spec.env)
    assert other.key != spec.key
    assert all(b"PLANTED" not in file.read_bytes() for file in world.cache.rglob("*.json"))
    assert "PLANTED" not in repr(spec)
    assert (world.cache.stat().st_mode & 0o077) == 0


def test_a_change_between_two_starts_is_noticed(world: World) -> None:
    spec = world.strange("echo")
    world.tools(spec)
    world.opened.pop().close()
    world.strange(offered("echo"), offered("crash"))
    servers = world.open(spec)
    loaded = servers.load()
    assert [tool.id for tool in loaded.tools] == ["odd.echo"]
    assert world.call(loaded.tools[0]) == "{}"
    assert world.changed.wait(60)
    assert [tool.id for tool in servers.load().tools] == ["odd.crash", "odd.echo"]


def test_a_change_while_it_runs_is_noticed(world: World) -> None:
    servers = world.open(world.strange("change"))
    (tool,) = servers.load().tools
    assert world.call(tool) == "changed"
    assert world.changed.wait(60)
    assert [each.id for each in servers.load().tools] == ["odd.added", "odd.change"]
    assert len(world.starts()) == 1


def test_whoever_is_told_of_a_change_may_load_at_once(world: World) -> None:
    done = threading.Event()
    seen: list[str] = []

    def rebuild() -> None:
        seen.extend(tool.id for tool in servers.load().tools)
        done.set()

    servers = world.open(world.strange("change"), on_change=rebuild)
    (tool,) = servers.load().tools
    world.call(tool)
    assert done.wait(60)
    assert seen == ["odd.added", "odd.change"]


def test_a_tool_that_is_not_what_it_was_is_not_called(world: World) -> None:
    spec = world.strange(offered("echo", annotations={"readOnlyHint": True}))
    before = world.tools(spec)["odd.echo"]
    world.opened.pop().close()
    old = world.tools(spec)["odd.echo"]
    world.strange(offered("echo"))  # It says no more that it only reads.
    assert world.failure(old).code == "tool_changed"
    assert world.calls() == []
    assert world.changed.wait(60)
    new = world.opened[-1].load().tools[0]
    assert old.version == before.version != new.version
    assert world.call(new) == "{}"
