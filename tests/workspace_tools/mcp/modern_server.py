"""A server written with the `mcp` package: modern_server.py stdio | http PORT [json]."""

from __future__ import annotations

import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("modern")


class Sum(BaseModel):
    total: int


@server.tool(annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True))
def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return Sum(total=a + b)


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
async def grow(ctx: Context[Any, Any]) -> str:
    """Offer one more tool from now on."""
    server.add_tool(lambda: "grown", name="grown", description="New.")
    await ctx.notify_tools_changed()
    return "done"


@server.tool()
async def question(ctx: Context[Any, Any]) -> str:
    """Ask the person for something."""
    answer = await ctx.elicit("your password?", schema=Sum)
    return str(answer)


@server.tool()
def huge(size: int) -> str:
    """A lot of text."""
    return "x" * size


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]), json_response="json" in sys.argv)
