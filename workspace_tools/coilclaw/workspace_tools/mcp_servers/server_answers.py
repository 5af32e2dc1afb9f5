"""What a running MCP server answers: the tools it offers, and errors that make it unusable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coilclaw.sdk.legible import one_line, text_of
from coilclaw.workspace_tools.mcp_servers.listing import MOST_TOOLS, Listing, OfferedTool
from coilclaw.workspace_tools.mcp_servers.sieve import Sieve

if TYPE_CHECKING:
    from mcp import Client, MCPError

__all__ = ["ask_for_tools", "innermost", "is_lost", "refusal_in"]

_MOST_PAGES: Final = 50


async def ask_for_tools(client: Client, sieve: Sieve) -> Listing:
    """The tools that a running server offers, page by page, as many as we take."""
    from mcp.types import PaginatedRequestParams

    sieve.version, sieve.rejected = client.protocol_version, {}
    found: list[OfferedTool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        for tool in page.tools:
            hints = tool.annotations
            found.append(
                OfferedTool(
                    name=tool.name,
                    description=(tool.description or tool.title or "")[:8_000],
                    input_schema=tool.input_schema,
                    output_schema=tool.output_schema,
                    read_only=bool(hints and hints.read_only_hint),
                    destructive=bool(hints and hints.destructive_hint),
                    idempotent=bool(hints and hints.idempotent_hint),
                )
            )
        cursor = page.next_cursor
        if cursor is None or len(found) >= MOST_TOOLS:
            break
    found = found[:MOST_TOOLS] + [_rejected(name, reason) for name, reason in sieve.rejected.items()]
    return tuple(sorted(found[:MOST_TOOLS], key=lambda tool: tool.name))


def _rejected(name: str, reason: str) -> OfferedTool:
    return OfferedTool(
        name=name,
        description="",
        input_schema={},
        output_schema=None,
        read_only=False,
        destructive=False,
        idempotent=False,
        problem=reason,
    )


def innermost(error: BaseException) -> BaseException:
    """The first error inside groups of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def refusal_in(error: BaseException) -> str | None:
    """What a server answered that makes it unusable; None if it did not answer at all."""
    from mcp import MCPError
    from mcp.types import PARSE_ERROR
    from pydantic import ValidationError

    error = innermost(error)
    if isinstance(error, MCPError) and not is_lost(error):
        if error.code == PARSE_ERROR:
            return "it answered with something that is not MCP"
        return f"it answered with an error: {one_line(text_of(error.message), 300)} ({error.code})"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return one_line(f"it answered with something that is not MCP: {place}: {first['msg']}", 500)
    return None


def is_lost(error: MCPError) -> bool:
    """Servers use this code for errors of their own too; the library's message tells them apart."""
    from mcp.types import CONNECTION_CLOSED

    return error.code == CONNECTION_CLOSED and error.message == "Connection closed"
