"""From what a server offers to tools of the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from coilclaw.sdk import Diagnostic, Handler, Risk, Tool, ToolDefinitionError
from coilclaw.workspace_tools.mcp_servers.listing import Listing, OfferedTool
from coilclaw.workspace_tools.mcp_servers.spec import ServerSpec
from coilclaw.workspace_tools.names import action_name, shown_text
from coilclaw.workspace_tools.schema_tool import schema_tool

__all__ = ["risk_of", "tools_of"]

_LONGEST_NAME: Final = 128


def tools_of(
    spec: ServerSpec, listing: Listing, handler: Callable[[OfferedTool], Handler]
) -> tuple[list[Tool], list[Diagnostic]]:
    """The tools that can be called, and why the others cannot."""
    tools: list[Tool] = []
    problems: list[Diagnostic] = []
    taken: dict[str, str] = {}

    def wrong(offered: OfferedTool, problem: str) -> None:
        name = shown_text(offered.name, 80)
        problems.append(Diagnostic(file=spec.place, line=None, message=f"the tool {name!r} cannot be used: {problem}"))

    # Of names that become the same, the one that needs no change wins, then the first in order.
    for offered in sorted(listing, key=lambda each: (action_name(each.name) != each.name, each.name)):
        action = action_name(offered.name)
        if offered.problem is not None:
            wrong(offered, offered.problem)
        elif len(offered.name) > _LONGEST_NAME:
            wrong(offered, "its name is too long")
        elif not action:
            wrong(offered, "nothing in its name can be written in Python")
        elif action in taken:
            wrong(offered, f"another tool is called {action!r} here already")
        else:
            try:
                tools.append(_tool(spec, action, offered, handler(offered)))
                taken[action] = offered.name
            except ToolDefinitionError as error:
                wrong(offered, error.problem)
    return tools, problems


def _tool(spec: ServerSpec, action: str, offered: OfferedTool, handler: Any) -> Tool:
    return schema_tool(
        id=f"{action_name(spec.name)}.{action}",
        handler=handler,
        input_schema=offered.input_schema,
        output_schema=offered.output_schema,
        risk=risk_of(offered),
        description=offered.description or offered.name,
        # The connection gives up first, and says why.
        timeout=spec.seconds + 2,
        idempotent=offered.idempotent,
        file=spec.place,
        source_digest=f"{spec.key}-{offered.digest}",
    )


def risk_of(offered: OfferedTool) -> Risk:
    """By the server's own hints, which are all there is; of two that contradict each other the graver one counts."""
    if offered.destructive:
        return Risk.DESTRUCTIVE
    return Risk.READ if offered.read_only else Risk.WRITE
