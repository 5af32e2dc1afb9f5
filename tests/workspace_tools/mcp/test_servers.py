"""Servers as they come, go, break and change."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.processes import gone, is_alive
from tests.workspace_tools.mcp.conftest import HERE, World, offered

from coilclaw.bridge.invocation import invoke_async
from coilclaw.sandbox import Abandoned, Deadline
from coilclaw.sdk import Risk, ToolContext, ToolFailure
from coilclaw.workspace_tools.mcp_servers import McpServers, ServerSpec
from coilclaw.workspace_tools.mcp_servers.failure import Failure
from coilclaw.workspace_tools.mcp_servers.listing import OfferedTool, write_listing


def test_a_servers_tools_are_called_like_any_other(world: World) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = world.tools(world.strange(offered("echo", schema)))["odd.echo"]
    assert tool.description == "The tool echo."
    assert tool.parameters == ("n",)
    assert tool.input_schema == schema
    assert tool.file == "[integrations.mcp.odd]"
    assert world.call(tool, {"n": 1}) == '{"n": 1}'


@pytest.mark.parametrize(
    ("hints", "risk", "idempotent"),
    [
        ({}, Risk.WRITE, False),
        ({"readOnlyHint": True}, Risk.READ, False),
        ({"readOnlyHint": False}, Risk.WRITE, False),
        ({"destructiveHint": True}, Risk.DESTRUCTIVE, False),
        ({"destructiveHint": False, "idempotentHint": True}, Risk.WRITE, True),
        ({"readOnlyHint": True, "destructiveHint": True}, Risk.DESTRUCTIVE, False),
        ({"openWorldHint": False}, Risk.WRITE, False),
    ],
    ids=["none", "read", "not read", "destructive", "idempotent", "both", "world"],
)
def test_hints_choose_the_risk(world: World, hints: dict[str, bool], risk: Risk, idempotent: bool) -> None:
    tool = world.tools(world.strange(offered("echo", annotations=hints)))["odd.echo"]
    assert (tool.risk, tool.idempotent) == (risk, idempotent)


def test_results_are_values(world: World) -> None:
    tools = world.tools(world.strange("structured", "error", "rpc_error", "nonsense", "deep", "input", "echo"))
    assert world.call(tools["odd.structured"], {"value": {"deep": [1]}}) == {"deep": [1]}
    assert world.failure(tools["odd.error"]).message == "it went wrong"
    assert world.failure(tools["odd.rpc_error"]).message == "no such thing"
    assert world.failure(tools["odd.nonsense"]).code == "mcp_answer"
    assert world.call(tools["odd.deep"]) == "after it"
    assert world.failure(tools["odd.input"]).code in ("mcp_input_required", "mcp_answer")
    assert world.call(tools["odd.echo"]) == "{}"


@pytest.mark.parametrize("tool", ["raw", "raw_before"])
@pytest.mark.parametrize(
    "result",
    [
        '{"content": [{"type": "text", "text": "\\ud800"}]}',
        '{"content": [], "structuredContent": {"a": ' + "[" * 500 + "]" * 500 + "}}",
        '{"content": [], "structuredContent": {"a": ' + "[" * 100_000 + "]" * 100_000 + "}}",
        "[]",
        '"text"',
        "5",
        "null",
    ],
    ids=["surrogate", "deep", "very deep", "list", "text", "number", "nothing"],
)
def test_an_answer_that_cannot_be_read_fails_its_call_at_once(world: World, tool: str, result: str) -> None:
    tools = world.tools(world.strange(tool, "echo", seconds=120))
    assert world.failure(tools[f"odd.{tool}"], {"result": result}).code == "mcp_answer"
    assert world.call(tools["odd.echo"]) == "{}"
    assert len(world.starts()) == 1


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
    assert all(b"hunter2" not in file.read_bytes() for file in world.cache.rglob("*.json"))
    assert "hunter2" not in repr(spec)
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


def test_a_server_that_breaks_is_started_again_for_the_next_call(world: World) -> None:
    tools = world.tools(world.strange("crash", "echo"))
    error = world.failure(tools["odd.crash"])
    assert error.code == "mcp_broken"
    assert "what it did is unknown" in error.message
    assert world.calls() == ["crash"]  # It may have done something: not again without being asked.
    assert world.call(tools["odd.echo"]) == "{}"
    assert len(world.starts()) == 2


def test_a_call_that_only_reads_is_tried_twice(world: World) -> None:
    reads = {"annotations": {"readOnlyHint": True}}
    tools = world.tools(world.strange(offered("crash_once", **reads), offered("read_crash", **reads)))
    assert world.call(tools["odd.crash_once"]) == "second try"
    assert world.failure(tools["odd.read_crash"]).code == "mcp_broken"
    assert world.calls() == ["crash_once", "crash_once", "read_crash", "read_crash"]


def test_a_server_that_always_breaks_is_left_alone_for_a_while(world: World) -> None:
    tool = world.tools(world.strange("crash"))["odd.crash"]
    codes = [world.failure(tool).code for _ in range(8)]
    assert codes[0] == "mcp_broken"
    assert codes[-1] == "mcp_unreachable"
    assert len(world.starts()) < 8
    assert "tried again in" in world.failure(tool).message


def test_a_call_that_is_not_answered_ends_and_is_called_off(world: World) -> None:
    tools = world.tools(world.strange("hang", "echo", seconds=1))
    error = world.failure(tools["odd.hang"])
    assert error.code == "mcp_timeout"
    assert "seconds" in str(error.hint)
    assert world.call(tools["odd.echo"]) == "{}"  # By now it has read what was sent before.
    assert (world.folder / "odd/cancelled").exists()
    assert len(world.starts()) == 1


def test_a_call_that_is_given_up_is_called_off(world: World) -> None:
    tools = world.tools(world.strange("hang", "echo"))
    with pytest.raises(Abandoned):
        world.call(tools["odd.hang"], seconds=0.3)
    assert world.call(tools["odd.echo"]) == "{}"
    assert (world.folder / "odd/cancelled").exists()


def test_a_server_that_never_answers_is_replaced(world: World) -> None:
    tools = world.tools(world.strange("hang", "echo", seconds=3))
    assert [world.failure(tools["odd.hang"]).code for _ in range(2)] == ["mcp_timeout", "mcp_timeout"]
    assert world.call(tools["odd.echo"]) == "{}"
    assert len(world.starts()) == 2


def test_calls_run_beside_each_other(world: World) -> None:
    tools = world.tools(world.strange("hang", "echo"))

    def hang() -> None:
        with pytest.raises(Abandoned):
            world.call(tools["odd.hang"], seconds=1)

    hung = threading.Thread(target=hang)
    hung.start()
    while "hang" not in world.calls():
        time.sleep(0.01)
    assert world.call(tools["odd.echo"]) == "{}"
    hung.join()


def test_calls_under_way_when_a_server_breaks_all_end_and_it_is_started_once(world: World) -> None:
    reads = {"annotations": {"readOnlyHint": True}}
    tools = world.tools(world.strange(offered("hang", **reads), "crash", offered("echo", **reads)))
    codes: list[str] = []
    hung = [threading.Thread(target=lambda: codes.append(world.failure(tools["odd.hang"]).code)) for _ in range(3)]
    for thread in hung:
        thread.start()
    while world.calls().count("hang") < 3:
        time.sleep(0.01)
    assert world.failure(tools["odd.crash"]).code == "mcp_broken"
    while world.calls().count("hang") < 6:
        time.sleep(0.01)
    assert len(world.starts()) == 2
    world.opened[0].close()
    for thread in hung:
        thread.join(60)
    assert len(codes) == 3


@pytest.mark.parametrize(
    ("mode", "said"),
    [("dies", "it said: no configuration"), ("silent", "did not answer within"), ("babble", "no messages")],
)
def test_a_server_that_cannot_be_used_is_told_and_the_others_work(world: World, mode: str, said: str) -> None:
    bad = world.strange("echo", mode=mode, seconds=1 if mode == "silent" else 60, name="bad")
    loaded = world.load(bad, world.strange("echo"))
    assert [tool.id for tool in loaded.tools] == ["odd.echo"]
    (problem,) = loaded.diagnostics
    assert problem.file == "[integrations.mcp.bad]"
    assert said in problem.message
    assert "hunter2" not in str(problem)
    assert problem.hint


def test_a_server_that_knows_only_the_older_protocol_is_asked_again_in_its_way(world: World) -> None:
    tools = world.tools(world.strange("echo", "crash", mode="old"))
    assert world.call(tools["odd.echo"]) == "{}"
    assert len(world.starts()) == 2
    world.failure(tools["odd.crash"])
    assert world.call(tools["odd.echo"]) == "{}"
    assert len(world.starts()) == 3  # From then on it is known.


def test_a_server_that_failed_is_not_tried_at_every_load(world: World) -> None:
    servers = world.open(world.strange("echo", mode="dies"))
    for _ in range(3):
        assert servers.load().diagnostics
    assert len(world.starts()) == 2  # Once for each form of the protocol.
    assert [each.state for each in servers.states()] == ["failed"]


@pytest.mark.parametrize(
    ("command", "said"),
    [(("no-such-program",), "on PATH"), (("/no/such/program",), "no program"), (("./server",), "whole path")],
)
def test_a_command_that_does_not_exist_is_told(world: World, command: tuple[str, ...], said: str) -> None:
    (problem,) = world.load(ServerSpec(name="x", command=command)).diagnostics
    assert said in problem.message


@pytest.mark.parametrize("name", ["files", "---", ""])
def test_a_name_that_is_taken_or_unusable_is_told(world: World, name: str) -> None:
    loaded = world.load(ServerSpec(name=name, command=("true",)))
    assert loaded.tools == []
    assert loaded.diagnostics[0].hint == "give the server another name"


def test_two_servers_with_one_name_are_told(world: World) -> None:
    loaded = world.load(world.strange("echo", name="a-b"), world.strange("echo", name="a_b"))
    assert [tool.id for tool in loaded.tools] == ["a_b.echo"]
    assert len(loaded.diagnostics) == 1


def test_without_the_package_a_person_is_told_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'mcp' else real(name, *rest)\n"
        "from coilclaw.workspace_tools.mcp_servers import McpServers, ServerSpec\n"
        "servers = McpServers([ServerSpec(name='x', command=('true',))], Path(sys.argv[1]), print)\n"
        "print(*servers.load().diagnostics)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert "pip install 'coilclaw[mcp]'" in done.stdout


def test_loading_what_is_remembered_is_cheap(world: World) -> None:
    spec = world.strange("echo")
    world.tools(spec)
    code = (
        "import sys; from pathlib import Path\n"
        "from coilclaw.workspace_tools.mcp_servers import McpServers, ServerSpec\n"
        "spec = ServerSpec(name='odd', command=tuple(sys.argv[2:]), env={'API_TOKEN': ''})\n"
        "servers = McpServers([spec], Path(sys.argv[1]), print)\n"
        "assert len(servers.load().tools) == 1\n"
        "assert not {'mcp', 'asyncio', 'jsonschema', 'anyio'} & set(sys.modules), sys.modules.keys()\n"
        "servers.close()"
    )
    subprocess.run([sys.executable, "-c", code, world.cache, *(spec.command or ())], check=True)


def test_closing_ends_servers_and_their_children(world: World) -> None:
    tools = world.tools(world.strange("spawn"))
    pids = json.loads(world.call(tools["odd.spawn"]))
    assert all(is_alive(pid) for pid in pids)
    world.opened[0].close()
    assert all(gone(pid) for pid in pids)
    assert world.failure(tools["odd.spawn"]).code == "mcp_unreachable"


def test_a_server_that_does_not_want_to_end_is_ended(world: World) -> None:
    world.tools(world.strange("echo", mode="stubborn"))
    world.opened[0].close()
    assert all(gone(pid) for pid in world.starts())


def test_a_server_ends_when_we_are_killed(world: World) -> None:
    spec = world.strange("echo", mode="stubborn")
    code = (
        "import os, sys; from pathlib import Path\n"
        "from coilclaw.workspace_tools.mcp_servers import McpServers, ServerSpec\n"
        "servers = McpServers([ServerSpec(name='odd', command=tuple(sys.argv[2:]))], Path(sys.argv[1]), print,\n"
        "                     environment=os.environ)\n"
        "assert servers.load().tools\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, world.cache, *(spec.command or ())])
    assert done.returncode == -signal.SIGKILL
    assert all(gone(pid) for pid in world.starts())


def test_closing_while_a_server_is_starting_waits_for_nobody(world: World) -> None:
    servers = world.open(world.strange("echo", mode="silent", seconds=60))
    loading = threading.Thread(target=servers.load)
    loading.start()
    while not world.starts():
        time.sleep(0.01)
    servers.close()
    loading.join(60)
    assert not loading.is_alive()
    assert all(gone(pid) for pid in world.starts())


def test_nothing_starts_without_servers(tmp_path: Path) -> None:
    before = threading.active_count()
    servers = McpServers([], tmp_path / "cache", print)
    assert servers.load().tools == []
    servers.close()
    assert threading.active_count() == before
    assert not (tmp_path / "cache").exists()


class HttpServer:
    """The modern server on loopback."""

    def __init__(self, *more: str) -> None:
        import socket

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._more = more
        self.start()

    def start(self) -> None:
        import socket

        self.process = subprocess.Popen(
            [sys.executable, HERE / "modern_server.py", "http", str(self.port), *self._more],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)

    @property
    def spec(self) -> ServerSpec:
        return ServerSpec(name="far", url=f"http://127.0.0.1:{self.port}/mcp", seconds=20)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.mark.parametrize("how", ["events", "json"])
def test_a_server_at_an_address_is_used_the_same_way(world: World, how: str) -> None:
    server = HttpServer(how)
    try:
        tools = world.tools(server.spec)
        assert tools["far.add"].risk is Risk.READ
        assert tools["far.grow"].risk is Risk.DESTRUCTIVE
        assert world.call(tools["far.add"], {"a": 2, "b": 3}) == {"total": 5}
        assert world.failure(tools["far.question"]).code == "mcp_error"
        assert world.failure(tools["far.huge"], {"size": 20_000_000}).code == "mcp_broken"
        world.call(tools["far.grow"])
        assert world.changed.wait(60)
        assert "far.grown" in [tool.id for tool in world.opened[-1].load().tools]
        server.stop()
        assert world.failure(tools["far.add"], {"a": 2, "b": 3}).code == "mcp_unreachable"
        server.start()
        assert world.call(tools["far.add"], {"a": 2, "b": 3}) == {"total": 5}
    finally:
        server.stop()


def test_an_address_where_nobody_listens_is_told(world: World) -> None:
    (problem,) = world.load(ServerSpec(name="far", url="http://127.0.0.1:9/mcp", seconds=5)).diagnostics
    assert "the server cannot be used" in problem.message


def test_a_modern_server_on_pipes_tells_of_changes(world: World) -> None:
    spec = ServerSpec(name="new", command=(sys.executable, str(HERE / "modern_server.py"), "stdio"))
    tools: dict[str, Any] = world.tools(spec)
    assert world.call(tools["new.add"], {"a": 1, "b": 1}) == {"total": 2}
    assert world.call(tools["new.grow"])
    assert world.changed.wait(60)
    assert "new.grown" in [tool.id for tool in world.opened[-1].load().tools]
