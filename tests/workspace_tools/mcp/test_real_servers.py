"""Servers that others wrote and many people use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.workspace_tools.mcp.conftest import World

from coilclaw.sdk import Risk
from coilclaw.workspace_tools.mcp_servers import ServerSpec

NODE_SERVERS = Path(sys.prefix) / "mcp-servers/node_modules/.bin"


def from_npm(program: str, *arguments: str) -> tuple[str, ...]:
    place = NODE_SERVERS / program
    if not place.exists():
        pytest.skip(f"{program} is not installed: npm ci in {NODE_SERVERS.parents[1]} (make does it when npm exists)")
    return (str(place), *arguments)


def from_pypi(module: str, *arguments: str) -> tuple[str, ...]:
    pytest.importorskip(module, reason=f"{module} is not installed")
    return (sys.executable, "-m", module, *arguments)


def test_the_time_server(world: World) -> None:
    tools = world.tools(ServerSpec(name="clock", command=from_pypi("mcp_server_time")))
    assert set(tools) == {"clock.convert_time", "clock.get_current_time"}
    assert tools["clock.get_current_time"].risk is Risk.READ
    value = world.call(
        tools["clock.convert_time"],
        {"source_timezone": "Europe/Zurich", "time": "12:00", "target_timezone": "Asia/Tokyo"},
    )
    assert value["time_difference"] in ("+7.0h", "+8.0h")
    assert "Nowhere" in world.failure(tools["clock.get_current_time"], {"timezone": "Europe/Nowhere"}).message


def test_the_git_server(world: World, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", repository], check=True)
    (repository / "note.txt").write_text("hello")
    tools = world.tools(ServerSpec(name="repository", command=from_pypi("mcp_server_git", "-r", str(repository))))
    assert tools["repository.git_status"].risk is Risk.READ
    assert tools["repository.git_reset"].risk is Risk.DESTRUCTIVE
    assert tools["repository.git_commit"].risk is Risk.WRITE
    assert "note.txt" in world.call(tools["repository.git_status"], {"repo_path": str(repository)})
    world.failure(tools["repository.git_status"], {"repo_path": "/"})


def test_the_filesystem_server(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    (tmp_path / "secret").write_text("no")
    tools = world.tools(ServerSpec(name="disk", command=from_npm("mcp-server-filesystem", str(folder))))
    assert tools["disk.read_text_file"].risk is Risk.READ
    assert tools["disk.write_file"].risk is Risk.DESTRUCTIVE
    world.call(tools["disk.write_file"], {"path": str(folder / "a.txt"), "content": "hello"})
    assert (folder / "a.txt").read_text() == "hello"
    assert world.call(tools["disk.read_text_file"], {"path": str(folder / "a.txt")}) == {"content": "hello"}
    assert "denied" in world.failure(tools["disk.read_text_file"], {"path": str(tmp_path / "secret")}).message


def test_the_everything_server(world: World) -> None:
    tools = world.tools(
        ServerSpec(name="every", command=from_npm("mcp-server-everything"), env={"API_TOKEN": "COILCLAW-PLANTED-key"})
    )
    assert "hi" in world.call(tools["every.echo"], {"message": "hi"})
    assert "5" in world.call(tools["every.get_sum"], {"a": 2, "b": 3})
    assert world.call(tools["every.get_structured_content"], {"location": "Chicago"})["temperature"]
    picture = world.call(tools["every.get_tiny_image"])
    assert picture["attachments"][0]["mimeType"] == "image/png"
    assert picture["attachments"][0]["size"] > 1_000
    assert len(str(picture)) < 1_000
    seen = world.call(tools["every.get_env"])
    assert "PLANTED" not in seen
    assert "do-not-leak" not in seen
