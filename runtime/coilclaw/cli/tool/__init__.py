"""`coilclaw tool`: what can be called, and calling it. Each command is imported only when it is used."""

from __future__ import annotations

from typing import Final

import click

from coilclaw.cli.lazy import LazyGroup

__all__ = ["tool"]

_COMMANDS: Final = {
    "list": ("coilclaw.cli.tool.listing:list_tools", "List all tools, or those that fit some words."),
    "show": ("coilclaw.cli.tool.showing:show", "Show one tool: its stub, its schemas and its policy."),
    "run": ("coilclaw.cli.tool.calling:run_tool", "Call one tool, with the same checks and receipts as a snippet."),
    "stubs": ("coilclaw.cli.tool.listing:stubs", "Print typed Python stubs of all tools, for a model's prompt."),
    "new": ("coilclaw.cli.authoring:new", "Start a tool in the workspace."),
    "check": ("coilclaw.cli.authoring:check", "Check the tools of the workspace for mistakes."),
    "test": ("coilclaw.cli.authoring:test", "Call tools with their own examples."),
    "trust": ("coilclaw.cli.trust:trust", "Trust a quarantined tool file, after reading it."),
    "reload": ("coilclaw.cli.authoring:reload", "Load the workspace's tools again."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def tool() -> None:
    """List, show, call, check, test and trust tools; start a new one.

    \b
    Example:
      coilclaw tool list read file
      coilclaw tool run files.read path=notes.txt
    """
