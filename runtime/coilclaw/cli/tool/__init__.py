"""`coilclaw tool`: what can be called, and calling it. Each command is imported only when it is used."""

from __future__ import annotations

from typing import Final

import click

from coilclaw.cli.lazy import LazyGroup

__all__ = ["tool"]

_COMMANDS: Final = {
    "list": ("coilclaw.cli.tool.listing:list_tools", "Every tool, or those that fit some words."),
    "show": ("coilclaw.cli.tool.showing:show", "One tool: its stub, its schemas and its policy."),
    "run": ("coilclaw.cli.tool.calling:run_tool", "Call one tool, with the same checks and receipts as a snippet."),
    "stubs": ("coilclaw.cli.tool.listing:stubs", "Typed Python stubs of all tools, for a model's prompt."),
    "new": ("coilclaw.cli.authoring:new", "Start a tool in the workspace."),
    "check": ("coilclaw.cli.authoring:check", "Say what is wrong with the tools of the workspace."),
    "test": ("coilclaw.cli.authoring:test", "Try a tool's own examples."),
    "trust": ("coilclaw.cli.trust:trust", "Let a tool file be loaded, after reading it."),
    "reload": ("coilclaw.cli.reload:reload", "Read the workspace's tools again."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def tool() -> None:
    """List, show and call tools.

    \b
    Example:
      coilclaw tool list read file
      coilclaw tool run files.read path=notes.txt
    """
