"""The code of `registry.search` and `registry.describe`, with which a snippet looks into its own registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from coilclaw.bridge.catalogue import LONGEST_QUERY, search_tools, tools_below
from coilclaw.bridge.registry import Registry
from coilclaw.bridge.stubs import brief_line, example_calls, first_sentence, tool_stub
from coilclaw.policy import Policy
from coilclaw.sdk import Tool, ToolContext, ToolFailure, define_tool

__all__ = ["make_registry_tools"]


@dataclass(frozen=True)
class FoundTool:
    id: str
    call: str
    does: str
    risk: str


@dataclass(frozen=True)
class FoundTools:
    tools: list[FoundTool]
    more: int


@dataclass(frozen=True)
class ToolDescription:
    id: str
    stub: str
    examples: list[str]


def make_registry_tools(lookup: Callable[[], Registry], policy: Policy | None) -> tuple[Tool, Tool]:
    """`registry.search` and `registry.describe`, over the one snapshot that `lookup` gives."""

    @define_tool(id="registry.search", risk="read", idempotent=True, examples=[{"query": "read a file"}])
    def search(
        ctx: ToolContext,
        query: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY)],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> FoundTools:
        """The tools that fit some words, best first. In `call`, `?` marks arguments that may be left out."""
        matches = search_tools(lookup(), query)
        return FoundTools(
            tools=[
                FoundTool(
                    id=match.tool.id,
                    call=brief_line(match.tool, with_description=False),
                    does=first_sentence(match.tool.description, 160),
                    risk=match.tool.risk.value,
                )
                for match in matches[:limit]
            ],
            more=max(0, len(matches) - limit),
        )

    @define_tool(id="registry.describe", risk="read", idempotent=True, examples=[{"id": "files.read"}])
    def describe(
        ctx: ToolContext, id: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY)]
    ) -> ToolDescription:
        """One tool in full, by id or alias. `stub` is its typed Python signature, with all types and what it does."""
        registry = lookup()
        name = id.removeprefix("tools.")
        tool = registry.resolve(name)
        if tool is None and (below := tools_below(registry, name)):
            stub = "\n".join(f"# {brief_line(each)}" for each in below)
            calls = [brief_line(each, with_description=False) for each in below]
            return ToolDescription(id=name, stub=stub, examples=calls)
        if tool is None:
            raise ToolFailure(f"tools.{name} does not exist", code="no_such_tool", hint=registry.suggestion(name))
        return ToolDescription(id=tool.id, stub=tool_stub(tool, policy=policy), examples=example_calls(tool))

    return (search, describe)
