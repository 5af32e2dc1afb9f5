"""`coilclaw cancel`: end a suspended run."""

from __future__ import annotations

import click

from coilclaw.cli.opening import open_app, settings_for, this_person
from coilclaw.cli.terminal import say, say_json
from coilclaw.cli.windows import tell_left_open
from coilclaw.sdk.legible import as_name

__all__ = ["cancel"]


@click.command(epilog="Example: coilclaw cancel run-1a1e265a6b2e813fd94")
@click.argument("run_id", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def cancel(run_id: str, as_json: bool) -> None:
    """Cancel a suspended run, or one whose process ended. What it asked is void; it cannot be resumed.

    A run that is under way is cancelled with Ctrl-C where it runs.
    """
    with open_app(settings_for()) as claw:
        workspace = claw.runs.find(run_id).header.workspace
        claw.runs.cancel(run_id, by=this_person())
        still_open = claw.approvals.windows.list()
    if as_json:
        say_json({"run_id": run_id, "status": "cancelled"})
    say(f"Cancelled {as_name(run_id)}.", err=True)
    tell_left_open(still_open, workspace)
