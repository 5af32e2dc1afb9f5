"""`coilclaw run list` and `coilclaw run show`: finding runs again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from coilclaw.app import RunRecord
from coilclaw.cli.output_text import output_lines
from coilclaw.cli.remote.connecting import open_place, server_option
from coilclaw.cli.run_report import print_report, tell_waiting
from coilclaw.cli.terminal import pass_through, say, say_json, styled
from coilclaw.sdk.legible import as_name, visible_block

if TYPE_CHECKING:
    from coilclaw.cli.remote.answers import RemoteRun

__all__ = ["list_runs", "show_run"]

_STATES: Final = (
    "queued", "running", "orphaned", "suspended", "completed", "failed", "rejected", "timed_out", "out_of_memory",
    "output_exceeded", "diverged", "cancelled", "crashed",
)  # fmt: skip
_COLOURS: Final = {"completed": "green", "suspended": "cyan", "running": "cyan", "queued": "cyan", "orphaned": "yellow"}


@click.command("list", epilog="Example: coilclaw run list --status suspended")
@click.option("--status", type=click.Choice(_STATES), help="Only runs in this state.")
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="How many to show.")
@server_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_runs(status: str | None, limit: int, server: str | None, as_json: bool) -> None:
    """List runs, newest first.

    An orphaned run is one whose process ended before the run did; like a suspended one, it can be resumed.
    """
    with open_place(server, "read") as claw:
        page = claw.runs.list(status=status, limit=limit)
    if as_json:
        say_json([_facts(each) for each in page.runs])
        return
    for each in page.runs:
        state = styled(f"{each.state:<10}", fg=_COLOURS.get(each.state, "red"))
        started = f"{each.started_at:%Y-%m-%d %H:%M:%S}Z"
        say(as_name(each.run_id), "  ", state, f"  {started}  {as_name(each.header.name)}")
    if page.cursor is not None:
        only = f" --status {status}" if status else ""
        say(f"More: coilclaw run list{only} --limit {limit * 10}", err=True)
    elif not page.runs:
        say("There are no such runs." if status else "There are no runs yet.", err=True)


@click.command("show", epilog="Example: coilclaw run show run-1a1e265a6b2e813fd94 --json")
@click.argument("run_id", metavar="RUN")
@server_option
@click.option("--json", "as_json", is_flag=True, help="Print the JSON object that `run --json` printed at its end.")
def show_run(run_id: str, server: str | None, as_json: bool) -> None:
    """Show a run again as it ended: what it printed, its value, its calls.

    Its output and value go to stdout, everything else to stderr. What it printed comes out of a pipe or in a file
    unchanged, control characters included; a terminal gets them written out.
    """
    with open_place(server, "read") as claw:
        report, known = claw.runs.show(run_id), claw.runs.find(run_id)
    if as_json:
        say_json(report.facts())
        return
    sys.stdout.write(pass_through(report.stdout, sys.stdout))
    sys.stdout.flush()
    sys.stderr.write(visible_block(report.stderr))
    for output in report.outputs:
        for line in output_lines(output):
            say(line)
    print_report(report, is_orphaned=known.state == "orphaned")
    for part in sorted(report.unkept):
        say(f"Its {part} was not kept.", err=True)
    if known.state == "orphaned":
        say(f"The process of this run ended first. To continue: coilclaw resume {as_name(run_id)}", err=True)
    tell_waiting(report, "", "" if server is None else f" --server {as_name(server)}")


def _facts(known: RunRecord | RemoteRun) -> dict[str, Any]:
    header = known.header
    return {
        "run_id": known.run_id,
        "status": known.state,
        "started": known.started_at.isoformat(timespec="milliseconds"),
        "name": header.name,
        "kind": header.kind,
        "engine": header.engine,
        "workspace": header.workspace,
        "conversation_id": header.conversation_id,
        "resumable": known.is_waiting,
    }
