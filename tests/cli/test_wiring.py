"""Every bound in the configuration is in force in a run of the command line.

Each case would end in another way with the default of that setting.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from tests.cli.conftest import Command
from tests.integrations.conftest import Answer, Loopback, serving

TOOLS = '''
import threading
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="demo.hang", risk="read")
def hang(ctx: ToolContext) -> None:
    """Do nothing until nobody waits any more."""
    for _ in range(100):
        if ctx.cancelled:
            return
        threading.Event().wait(0.1)

@define_tool(id="demo.text", risk="read")
def text(ctx: ToolContext, size: int) -> str:
    """So many letters."""
    return "x" * size
'''


CODE = "def code(result): return getattr(result, 'code', None)\n"
"""For snippets: why a call failed, or None."""


def value_of(command: Command, configuration: str, source: str, *options: str) -> object:
    (command.home / "config.toml").write_text(configuration)
    done = command("run", "-", "--json", *options, stdin=CODE + source)
    assert done.json["status"] == "completed", done
    return done.json["value"]


def end_of(command: Command, configuration: str, source: str) -> str:
    (command.home / "config.toml").write_text(configuration)
    status: str = command("run", "-", "--json", stdin=source).json["status"]
    return status


@pytest.fixture
def tooled(coilclaw: Command) -> Command:
    coilclaw.tool("demo/x.py", TOOLS)
    return coilclaw


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as made:
        made.answers["/"] = Answer(body=b"hello")
        yield made


# What calls may do ---------------------------------------------------------------------------------------


@pytest.mark.req("R273", "R274")
@pytest.mark.parametrize(("autonomy", "code"), [("readonly", "denied"), ("full", None)])
def test_the_autonomy_is_in_force(tooled: Command, autonomy: str, code: str | None) -> None:
    assert (tooled.environment["HOME"], tooled.home.name) == (str(tooled.home.parent), ".coilclaw")
    configuration = f'[security]\nautonomy = "{autonomy}"'
    source = "write = tools.files.write\ncode(write(path='a', text='b'))"
    assert value_of(tooled, configuration, source) == code


def test_rules_of_the_policy_are_in_force(tooled: Command) -> None:
    configuration = '[[policy.rules]]\ntool = "demo.text"\ndecision = "deny"\narguments.size = {above = 1}'
    source = "[code(tools.demo.text(size=1)), code(tools.demo.text(size=2))]"
    assert value_of(tooled, configuration, source) == [None, "denied"]


@pytest.mark.req("R345")
@pytest.mark.parametrize("autonomy", ["supervised", "full"])
def test_forbidden_paths_are_in_force_at_every_autonomy(tooled: Command, autonomy: str) -> None:
    place = tooled.workspace / "private"
    place.mkdir(parents=True)
    (place / "key").write_text("k")
    (tooled.workspace / "open").write_text("o")
    configuration = f'[security]\nautonomy = "{autonomy}"\nforbidden_paths = ["{place}"]'
    source = """
[code(tools.files.read(path="private/key")), code(tools.files.write(path="private/new", text="x")),
 code(tools.files.read(path="open"))]
"""
    assert value_of(tooled, configuration, source, "--yes") == ["denied", "denied", None]
    assert [each.name for each in place.iterdir()] == ["key"]


def test_the_history_of_a_forbidden_path_is_forbidden_too(tooled: Command) -> None:
    """Git keeps every version of it beside the others."""
    (tooled.workspace / "inner" / ".git").mkdir(parents=True)
    (tooled.workspace / "inner" / ".git" / "packed").write_text("k")
    source = "code(tools.shell.run(command='grep -r k inner'))"
    security = '[security]\nshell_allow = ["grep"]\n'
    assert value_of(tooled, security, source, "--yes") is None
    forbidding = f'{security}forbidden_paths = ["{tooled.workspace}/inner/private/key"]'
    assert value_of(tooled, forbidding, source, "--yes") == "denied"


@pytest.mark.req("R345")
@pytest.mark.parametrize("autonomy", ["supervised", "full"])
def test_forbidden_commands_are_in_force_at_every_autonomy(tooled: Command, autonomy: str) -> None:
    (tooled.workspace / "a").write_text("b")
    configuration = f'[security]\nautonomy = "{autonomy}"\nshell_allow = ["cat", "wc"]\nforbidden_commands = ["wc"]'
    source = "[code(tools.shell.run(command='cat a')), code(tools.shell.run(command='wc a'))]"
    assert value_of(tooled, configuration, source, "--yes") == [None, "denied"]


def test_programs_on_the_list_may_be_started_and_others_not(tooled: Command) -> None:
    (tooled.workspace / "a").write_text("b")
    source = "[code(tools.shell.run(command='cat a')), code(tools.shell.run(command='wc a'))]"
    assert value_of(tooled, '[security]\nshell_allow = ["wc"]', source, "--yes") == ["denied", None]


def test_a_listed_domain_is_read_without_asking(tooled: Command, server: Loopback) -> None:
    listed = f'[security]\nhttp_private = ["{server.authority}"]\nhttp_domains = ["{server.authority}"]'
    source = f"tools.http.get(url='{server.url}/').unwrap()['text']"
    assert value_of(tooled, listed, source) == "hello"
    assert end_of(tooled, f'[security]\nhttp_private = ["{server.authority}"]', source) == "suspended"


def test_a_private_server_is_reached_only_if_it_is_listed(tooled: Command, server: Loopback) -> None:
    source = f"code(tools.http.get(url='{server.url}/'))"
    assert value_of(tooled, f'[security]\nhttp_private = ["{server.authority}"]', source, "--yes") is None
    assert value_of(tooled, "", source, "--yes") == "denied"


# How much and how long -----------------------------------------------------------------------------------


@pytest.mark.req("R413")
def test_a_tool_has_the_time_that_is_configured(tooled: Command) -> None:
    assert value_of(tooled, "[limits]\ntool_seconds = 0.3", "code(tools.demo.hang())") == "timeout"


@pytest.mark.req("R412")
def test_a_result_has_the_size_that_is_configured(tooled: Command) -> None:
    source = "[code(tools.demo.text(size=1000)), code(tools.demo.text(size=3000))]"
    assert value_of(tooled, "[limits]\nresponse_bytes = 2000", source) == [None, "output_too_large"]


def test_a_command_has_the_time_that_is_configured(tooled: Command) -> None:
    configuration = '[security]\nshell_allow = ["sleep"]\n[limits]\nshell_seconds = 0.3\ntool_seconds = 10'
    source = "tools.shell.run(command='sleep 30').unwrap()['timed_out']"
    assert value_of(tooled, configuration, source, "--yes") is True


def test_a_request_has_the_time_that_is_configured(tooled: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # It takes connections, and says nothing.
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        configuration = f'[security]\nhttp_private = ["{place}"]\n[limits]\nhttp_seconds = 0.3\ntool_seconds = 10'
        source = f"code(tools.http.get(url='http://{place}/'))"
        assert value_of(tooled, configuration, source, "--yes") == "http_timeout"


MUCH = "assert tools.files.read(path='x' * 900_000).error.code != 'evidence_budget'  # " + "x" * 1_040_000
"""The source is kept too: with it and these arguments, there is no room for a result of two million bytes."""


@pytest.mark.parametrize(
    ("setting", "source", "status"),
    [
        # It ends by itself, so that a setting that is ignored shows soon.
        ("seconds = 0.3", "import time\nend = time.monotonic() + 10\nwhile time.monotonic() < end: pass", "timed_out"),
        ("memory_mib = 64", "len(bytearray(128 * 2**20))", "out_of_memory"),
        ("output_bytes = 1024", "print('x' * 2000)", "output_exceeded"),
        ("source_bytes = 1024", "'" + "x" * 2000 + "'", "rejected"),
        ("calls = 2", "[tools.time.now() for _ in range(3)]", "failed"),
        pytest.param("kept_bytes = 4194304\nresponse_bytes = 2097152", MUCH, "failed", id="kept_bytes"),
    ],
)
def test_a_run_has_the_limits_that_are_configured(coilclaw: Command, setting: str, source: str, status: str) -> None:
    assert end_of(coilclaw, f"[limits]\n{setting}", source) == status
    assert end_of(coilclaw, "", source) == "completed"
