"""Servers at an address instead of a program of ours, and those of the newer protocol."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
from tests.workspace_tools.mcp.conftest import HERE, World

from coilclaw.sdk import Risk
from coilclaw.workspace_tools.mcp_servers import ServerSpec


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
