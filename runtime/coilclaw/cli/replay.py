"""`coilclaw replay`: repeat a run from its journal, and say whether it is the same."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import Any

import click

from coilclaw.app import Caller
from coilclaw.cli.opening import open_app, settings_for
from coilclaw.cli.run_report import Display
from coilclaw.cli.terminal import counted, say, say_json, styled
from coilclaw.runs import Breakpoint, Comparison
from coilclaw.sandbox import Deadline
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["replay"]


@click.command(epilog="Example: coilclaw replay run-0198f3a1b2c3d4e5f6a7 --until 3")
@click.argument("run_id", metavar="RUN")
@click.option("--until", type=click.IntRange(min=1), metavar="N", help="Stop at call N and show the variables.")
@click.option("--workspace", metavar="DIR", help="A workspace whose tools to compare with; by default that of the run.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def replay(run_id: str, until: int | None, workspace: str | None, as_json: bool) -> None:
    """Execute RUN again from its journal and compare: its calls, how it ends, what it prints, its value.

    No tool is called and no receipt is written: every answer is the one that was recorded. Exit codes: 0 identical;
    1 different; 2 there is nothing to repeat.
    """
    settings = settings_for(workspace)
    shown = until is not None and not as_json
    display = Display(Deadline(0), sys.stdout, quiet=False)
    # Not even the tools that it loads leave a receipt.
    with open_app(settings, record=False) as claw, redirect_stdout(sys.stderr):
        comparison = claw.replay(
            run_id,
            until=until,
            workspace=None if workspace is None else settings.config.workspace_dir,
            caller=Caller(show=display, display=display.display) if shown else None,
        )
    if as_json:
        say_json(_object(comparison))
    else:
        _print(comparison)
    sys.exit(0 if comparison.identical else 1)


def _object(comparison: Comparison) -> dict[str, Any]:
    return {
        "run_id": comparison.run_id,
        "identical": comparison.identical,
        "status": comparison.status,
        "replayed_status": None if comparison.stop else comparison.outcome.status,
        "calls": comparison.calls,
        "compared": list(comparison.compared),
        "difference": asdict(comparison.difference) if comparison.difference else None,
        "note": comparison.note,
        "stdout": comparison.outcome.stdout,
        "stopped": asdict(comparison.stop) if comparison.stop else None,
    }


def _print(comparison: Comparison) -> None:
    if comparison.stop is not None:
        _print_stop(comparison.stop)
    if comparison.difference is not None:
        say(styled("different", fg="red"), f": {one_line(comparison.difference.message)}")
    elif comparison.stop is not None:
        before = comparison.stop.call - 1
        say("Until here it is the same." if before else "It is the first call.", err=True)
    else:
        found = (
            f": {comparison.status}, {counted(comparison.calls, 'call')}; compared: {', '.join(comparison.compared)}"
        )
        say(styled("identical", fg="green"), found)
    if comparison.note:
        say(f"Note: {one_line(comparison.note)}", err=True)


def _print_stop(stop: Breakpoint) -> None:
    where = f", line {stop.line}: {as_name(stop.tool)} {one_line(stop.arguments)}"
    say(styled(f"Stopped at call {stop.call}", bold=True), where)
    if stop.frames is None:
        say("The variables could not be shown in the time of the run.", err=True)
    for frame in stop.frames or ():
        where = "the snippet" if frame.function == "<module>" else as_name(frame.function)
        say()
        say(f"In {where}, line {frame.line}:")
        if not frame.variables:
            say("  no variables")
        width = max((len(as_name(each.name)) for each in frame.variables), default=0)
        kind = max((len(as_name(each.type)) for each in frame.variables), default=0)
        for each in frame.variables:
            say(f"  {as_name(each.name):<{width}}  {as_name(each.type):<{kind}}  {one_line(each.value)}")
