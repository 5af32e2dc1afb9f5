"""Servers that end with the test that started them."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from coilclaw.bridge import Handlers
from coilclaw.bridge.invocation import invoke_async
from coilclaw.sandbox import Deadline
from coilclaw.sdk import Tool, ToolContext, ToolFailure
from coilclaw.workspace_tools import Loaded
from coilclaw.workspace_tools.mcp_servers import McpServers, ServerSpec

HERE = Path(__file__).parent
OPEN = {"type": "object", "additionalProperties": True}


def offered(name: str, schema: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema or OPEN, **more}


class World:
    """Servers in a folder of their own, and calls as the bridge makes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.changed = threading.Event()
        self.handlers = Handlers()
        self.opened: list[McpServers] = []
        self.learn_seconds = 60.0
        self.told: list[str] = []
        self.environment: Mapping[str, str] = {**os.environ, "OTHER_TOKEN": "do-not-leak"}

    def strange(
        self, *tools: dict[str, Any] | str, mode: str = "", seconds: float = 60, name: str = "odd"
    ) -> ServerSpec:
        place = self.folder / name
        place.mkdir(exist_ok=True)
        listed = [each if isinstance(each, dict) else offered(each) for each in tools]
        (place / "tools.json").write_text(json.dumps(listed))
        command = (sys.executable, "-I", "-S", str(HERE / "strange_server.py"), str(place), mode)
        return ServerSpec(name=name, command=command, seconds=seconds, env={"API_TOKEN": "COILCLAW-PLANTED-key"})

    def open(self, *specs: ServerSpec, on_change: Callable[[], None] | None = None) -> McpServers:
        servers = McpServers(
            specs,
            self.cache,
            on_change or self.changed.set,
            environment=self.environment,
            learn_seconds=self.learn_seconds,
            progress=self.told.append,
        )
        self.opened.append(servers)
        return servers

    def load(self, *specs: ServerSpec) -> Loaded:
        return self.open(*specs).load()

    def tools(self, *specs: ServerSpec) -> dict[str, Tool]:
        loaded = self.load(*specs)
        assert [str(each) for each in loaded.diagnostics] == []
        return {tool.id: tool for tool in loaded.tools}

    def call(self, tool: Tool, given: Mapping[str, Any] | None = None, seconds: float = 30) -> Any:
        context = ToolContext(workspace=self.folder, tool_id=tool.id)
        input = tool.input.model_validate(dict(given or {}))
        return self.handlers.run_async(lambda: invoke_async(tool, input, context), seconds, Deadline(seconds))

    def failure(self, tool: Tool, given: Mapping[str, Any] | None = None) -> ToolFailure:
        with pytest.raises(ToolFailure) as caught:
            self.call(tool, given)
        return caught.value

    def starts(self, name: str = "odd") -> list[int]:
        file = self.folder / name / "starts"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def calls(self, name: str = "odd") -> list[str]:
        file = self.folder / name / "calls"
        return file.read_text().split() if file.exists() else []

    def close(self) -> None:
        for servers in self.opened:
            servers.close()
        self.handlers.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()
