"""`coilclaw mcp` as a person uses it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.workspace_tools.mcp.conftest import World, offered

from coilclaw.cli.mcp import mcp
from coilclaw.sdk import OperatorError


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def run(world: World, configuration: str, *args: str) -> Result:
    home = world.folder / "home"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(configuration)
    return CliRunner().invoke(mcp, args, env={"COILCLAW_HOME": str(home), "HOME": str(world.folder)})


def table(world: World, name: str = "odd", mode: str = "") -> str:
    command = list(world.strange(offered("echo"), mode=mode, name=name).command or ())
    return f"[integrations.mcp.{name}]\ncommand = {json.dumps(command)}\nseconds = 10\n"


def test_servers_are_listed_with_their_tools(world: World) -> None:
    configuration = table(world) + table(world, "bad", "dies")
    done = run(world, configuration, "list")
    assert "odd  running  1 tool\n  odd.echo\n" in done.stdout
    assert "bad  failed  0 tools\n" in done.stdout
    assert "[integrations.mcp.bad]: the server cannot be used" in done.stderr
    again = json.loads(run(world, configuration, "list", "--json").stdout)
    assert again[0] == {"name": "odd", "state": "known", "problem": None, "tools": ["odd.echo"]}
    assert again[1]["state"] == "failed"
    assert len(world.starts()) == 1


def test_no_servers_is_told(world: World) -> None:
    done = run(world, "", "list")
    assert done.stdout == ""
    assert "[integrations.mcp.NAME]" in done.stderr


def test_a_server_that_failed_is_left_alone_until_it_is_refreshed(world: World) -> None:
    configuration = table(world, mode="silent").replace("seconds = 10", "seconds = 1")
    assert json.loads(run(world, configuration, "list", "--json").stdout)[0]["state"] == "failed"
    tries = len(world.starts())
    done = run(world, configuration, "list")
    assert "odd  failed  0 tools" in done.stdout
    assert "coilclaw mcp refresh odd" in done.stderr
    assert len(world.starts()) == tries
    done = run(world, configuration, "refresh", "odd")
    assert done.exit_code == 1
    assert "odd  failed  0 tools" in done.stdout
    assert "did not answer within 1 s" in done.stderr
    assert len(world.starts()) > tries


def test_refreshing_learns_the_tools_anew(world: World) -> None:
    configuration = table(world) + table(world, "other")
    assert run(world, configuration, "list").exit_code == 0
    world.strange(offered("echo"), offered("more"))
    done = run(world, configuration, "refresh", "odd")
    assert (done.exit_code, done.stdout) == (0, "odd  running  2 tools\n")
    assert json.loads(run(world, configuration, "list", "--json").stdout)[0]["tools"] == ["odd.echo", "odd.more"]
    assert (len(world.starts("odd")), len(world.starts("other"))) == (2, 1)


def test_refreshing_a_server_that_is_not_there_names_those_that_are(world: World) -> None:
    done = run(world, table(world), "refresh", "od")
    assert isinstance(done.exception, OperatorError)
    assert done.exception.hint == "configured: odd"


def test_a_refresh_without_the_package_fails_and_says_how_to_get_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "mcp" else found(name))
    done = run(world, table(world), "refresh", "odd")
    assert done.exit_code == 1
    assert "odd  failed  0 tools" in done.stdout
    assert "coilclaw[mcp]" in done.stderr
