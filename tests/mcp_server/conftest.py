"""A home with tools of its own, and real MCP clients for the real server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult
from tests.cli.conftest import Command

NOTES = '''
from pathlib import Path
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="notes.add", risk="write")
def add(ctx: ToolContext, text: str) -> str:
    """Add a note."""
    with (ctx.workspace / "notes.txt").open("a") as file:
        file.write(text + "\\n")
    return "added " + text

@define_tool(id="notes.key", risk="read", secrets=["NOTES_KEY"])
def key(ctx: ToolContext) -> dict[str, str]:
    """Show what the tool knows."""
    return {"key": ctx.secrets["NOTES_KEY"]}

@define_tool(id="notes.slow", risk="read")
async def slow(ctx: ToolContext) -> str:
    """Take a very long time."""
    import asyncio
    ctx.progress("half way")
    (ctx.workspace / "slow-began").touch()
    await asyncio.sleep(25)
    return "done"
'''
Answer = Callable[[str], ElicitResult]


class Home(Command):
    """A home whose server is started by clients."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked: list[str] = []
        self.tool("notes/notes.py", NOTES)
        self.environment["NOTES_KEY"] = "s3cr3t-value-of-the-key"

    def configure(self, text: str) -> None:
        (self.home / "config.toml").write_text(text)

    @property
    def parameters(self) -> StdioServerParameters:
        return StdioServerParameters(command=self.line[0], args=["mcp", "serve"], env=self.environment, cwd=self.folder)

    def client(self, answer: Answer | None = None, mode: str = "auto", **options: Any) -> Client:
        """A client whose person answers like this; without an answer, one that cannot ask."""

        async def elicit(context: Any, params: Any) -> ElicitResult:
            self.asked.append(params.message)
            assert answer is not None
            return answer(params.message)

        given: dict[str, Any] = {} if answer is None else {"elicitation_callback": elicit}
        return Client(self.parameters, mode=mode, read_timeout_seconds=120, **given, **options)

    @property
    def notes(self) -> str:
        file = self.workspace / "notes.txt"
        return file.read_text() if file.exists() else ""


@pytest.fixture
def home(tmp_path: Path, engine: object) -> Home:
    return Home(tmp_path)


def approve(message: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"call_1": "approve"})


def text_of(result: Any) -> str:
    return str(result.content[0].text)
