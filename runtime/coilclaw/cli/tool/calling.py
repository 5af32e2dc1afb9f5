"""`coilclaw tool run`: one call, without a snippet."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Final

import click

from coilclaw.cli.arguments import GivenArguments
from coilclaw.cli.opening import settings_for, show_diagnostics
from coilclaw.cli.run_report import exit_code, tell_waiting, workspace_option
from coilclaw.cli.terminal import say_text, show_error
from coilclaw.cli.waiting import open_for_run
from coilclaw.sandbox import Deadline

__all__ = ["run_tool"]

_EXIT_CODES: Final = {"approval_required": 3, "missing_secret": 4, "unknown_tool": 2, "invalid_input": 2}


@click.command("run", epilog="Example: coilclaw tool run files.read path=notes.txt")
@click.argument("name")
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--json", "arguments", metavar="ARGS", help="The arguments as a JSON object, or @FILE, or - for stdin.")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools are used.")
@click.option("--yes", is_flag=True, help="Approve the call if it needs approval.")
@click.option("--wait", is_flag=True, help="Ask nobody here; stay until the decision is made elsewhere.")
def run_tool(
    name: str, pairs: tuple[str, ...], arguments: str | None, workspace: str | None, yes: bool, wait: bool
) -> None:
    """Call one tool by NAME, an id or an alias: the same checks, the same receipts, no snippet.

    Arguments are given as KEY=VALUE, or together as JSON. A VALUE is text where the tool takes text, and JSON
    otherwise (limit=3, recursive=true). What the tool returns is printed as JSON.
    A call that needs approval while nobody is at the terminal is left pending, with exit code 3; `coilclaw resume`
    makes it once it is approved.
    """
    given = GivenArguments(arguments, pairs)
    settings, options = settings_for(workspace), workspace_option(workspace)
    deadline = Deadline(settings.config.limits.seconds)
    with open_for_run(settings, deadline, yes=yes, wait=wait) as command:
        registry = command.claw.tools.registry
        show_diagnostics(registry)
        name = name.removeprefix("tools.")
        with redirect_stdout(sys.stderr):  # What the tool prints is not its value.
            done = command.claw.call(
                name, given.of(registry.resolve(name)) or {}, caller=command.caller, deadline=deadline
            )
    if done.error is None:
        say_text(json.dumps(done.value, indent=2))
        return
    if done.status == "suspended":
        tell_waiting(done.report, options)
        sys.exit(exit_code(done.report))
    show_error(f"{done.error.code}: {done.error.message}", done.error.hint)
    if done.status == "cancelled":
        sys.exit(130)
    sys.exit(_EXIT_CODES.get(done.error.code, 1))
