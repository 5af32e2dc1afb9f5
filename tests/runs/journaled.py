"""A world whose runs have journals, and tools whose every execution shows."""

from __future__ import annotations

from tests.conftest import World

from coilclaw.policy import ApprovalStore
from coilclaw.runs import Runtime
from coilclaw.sdk import Tool, ToolContext, define_tool
from coilclaw.store import Database

__all__ = ["TOOLS", "JournaledWorld", "add", "look"]


@define_tool(id="ledger.add", risk="write")
def add(ctx: ToolContext, line: str) -> int:
    """Append a line to a file; every execution shows."""
    file = ctx.workspace / "ledger"
    with file.open("a") as handle:
        handle.write(f"{ctx.call_id.rsplit('-', 1)[1]} {line}\n")
    return len(file.read_text().splitlines())


@define_tool(id="ledger.look", risk="read")
def look(ctx: ToolContext, of: str = "x") -> str:
    """What is read may change from one look to the next."""
    file = ctx.workspace / "looks"
    with file.open("a") as handle:
        handle.write(f"{of}\n")
    return f"{of} {len(file.read_text().splitlines())}"


@define_tool(id="ledger.peek", risk="read")
def peek(ctx: ToolContext) -> None:
    """Leaves no trace: for calls that may still be under way when their run is over."""


TOOLS: tuple[Tool, ...] = (add, look, peek)


class JournaledWorld:
    """Nobody is at the terminal: questions are written down."""

    def __init__(self, world: World, database: Database) -> None:
        self.world = world
        self.database = database
        self.book = ApprovalStore(database, world.log)
        world.options |= {"database": database, "approvals": self.book}

    @property
    def runtime(self) -> Runtime:
        return self.world.runtime()

    def lines(self, name: str = "ledger") -> list[str]:
        """What the tools have written into a file."""
        file = self.world.workspace / name
        return file.read_text().splitlines() if file.exists() else []
