"""`coilclaw mcp` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.workspace_tools.mcp.conftest import World, offered

from coilclaw.cli.mcp import mcp


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
    assert "odd  running  1 tools\n  odd.echo\n" in done.stdout
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
