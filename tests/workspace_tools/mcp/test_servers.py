"""Servers as they come, go and break."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.processes import gone, is_alive
from tests.workspace_tools.mcp.conftest import World, offered

from coilclaw.sandbox import Abandoned
from coilclaw.sdk import Risk
from coilclaw.workspace_tools.mcp_servers import McpServers, ServerSpec, stdio


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
    assert "PLANTED" not in str(problem)
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


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no supervisor")
def test_nothing_is_left_of_a_server_whose_end_takes_long(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "_ENDING_SECONDS", 0.5)
    world.tools(world.strange("echo"))
    (server,) = world.starts()
    supervisor = int(Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(supervisor, signal.SIGSTOP)
    world.opened[0].close()
    assert gone(supervisor)
    assert gone(server)
    gc.collect()  # An object of a process that was not waited for would complain, which fails a test.


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
