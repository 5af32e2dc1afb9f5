"""`coilclaw tool reload`: load every tool file again, here and wherever the workspace is being watched."""

from __future__ import annotations

import sys

import click

from coilclaw.cli.opening import open_app, settings_for, show_diagnostics
from coilclaw.cli.terminal import counted, say, say_json, warn
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name
from coilclaw.workspace_tools import ask_to_reload

__all__ = ["reload"]


@click.command(epilog="Example: coilclaw tool reload --json")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools are loaded again.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def reload(workspace: str | None, as_json: bool) -> None:
    """Load every tool file again and report the outcome.

    Saving a file is enough for processes that watch the workspace; this is for the times when
    something outside the files changed, such as a package that a tool imports.
    """
    settings = settings_for(workspace)
    root = settings.config.workspace_dir / "tools"
    if not root.is_dir():
        raise OperatorError(f"{root} does not exist", hint="coilclaw tool new example.hello.say makes a first tool")
    with open_app(settings) as claw:
        change = claw.tools.loaded
        try:
            ask_to_reload(root)
        except OSError as error:
            warn(f"other processes were not told, {root}: {error.strerror}")
        registry, own = claw.tools.registry, [tool.id for tool in claw.tools.own]
    if as_json:
        facts = {
            "generation": registry.generation,
            "tools": own,
            "failed": [f"tools/{name}" for name in change.failed],
            "quarantined": [held.name for held in registry.quarantined],
            "milliseconds": round(change.seconds * 1000, 3),
        }
        say_json(facts)
    else:
        show_diagnostics(registry)
        count = counted(len(own), "tool")
        say(f"Loaded {count} of {as_name(str(root))} in {change.seconds * 1000:.0f} ms.")
    sys.exit(1 if change.failed else 0)
