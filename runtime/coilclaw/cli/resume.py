"""`coilclaw resume` and `coilclaw cancel`: continue a suspended run where it was, or end it."""

from __future__ import annotations

import gc
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Literal, NoReturn, TypeAlias

import click

from coilclaw.app import CoilClaw, Report
from coilclaw.cli.approver import somebody_is_here
from coilclaw.cli.opening import settings_for, show_diagnostics, this_person
from coilclaw.cli.paging import chosen
from coilclaw.cli.remote.connecting import open_place, refuse_with_server, server_option
from coilclaw.cli.run_report import Display, show_end, tell_waiting, workspace_option
from coilclaw.cli.terminal import say, say_json
from coilclaw.cli.waiting import RunPlace, open_run_place
from coilclaw.cli.windows import tell_left_open
from coilclaw.config import Settings
from coilclaw.runs import NotResumable, RunRecord
from coilclaw.sandbox import Deadline
from coilclaw.sdk.legible import as_name

__all__ = ["cancel", "resume", "resume_run"]

Unknown: TypeAlias = Literal["retry", "failed"]


@click.command(epilog="Example: coilclaw resume run-1a1e265a6b2e813fd94")
@click.argument("run_id", metavar="RUN")
@click.option("--workspace", metavar="DIR", help="The workspace the run began in; need not be given.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Wall time from now on."
)
@click.option(
    "--unknown",
    type=click.Choice(["retry", "failed"]),
    help="What to do about calls that were under way when the process of the run ended.",
)
@click.option("--yes", is_flag=True, help="Approve every call that needs approval. A denial stays.")
@click.option("--wait", is_flag=True, help="Ask nobody here; stay until the decision is made elsewhere.")
@server_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, as `run` does.")
def resume(
    run_id: str,
    workspace: str | None,
    timeout: float | None,
    unknown: Unknown | None,
    yes: bool,
    wait: bool,
    server: str | None,
    as_json: bool,
) -> None:
    """Resume a suspended run, or one whose process ended.

    It is repeated from its journal up to where it was, and nothing is executed twice; then it continues. Output and
    exit codes are those of `run`; a run that would do something else than it did ends as diverged, with exit code 1.
    """
    refuse_with_server(server, workspace=workspace)
    settings = settings_for(workspace, limits__seconds=timeout)
    resume_run(
        settings,
        run_id,
        workspace=workspace,
        timeout=timeout,
        unknown=unknown,
        yes=yes,
        wait=wait,
        server=server,
        as_json=as_json,
    )


def resume_run(
    settings: Settings,
    run_id: str,
    *,
    workspace: str | None = None,
    timeout: float | None = None,
    unknown: Unknown | None = None,
    yes: bool = False,
    wait: bool = False,
    server: str | None = None,
    as_json: bool = False,
) -> NoReturn:
    """Resume a run, print how it ended, and end the command."""
    deadline = Deadline(timeout or settings.config.limits.seconds)
    options = workspace_option(workspace)
    with open_run_place(settings, deadline, yes=yes, wait=wait, server=server) as command:
        if isinstance(here := command.claw, CoilClaw):
            known = here.runs.find(run_id)
            if workspace is not None:
                _refuse_elsewhere(known, settings)
            deadline.seconds = timeout or known.header.run_limits().seconds
            show_diagnostics(here.registry_of(run_id))
        else:
            here.timeout = timeout
        gc.freeze()
        report = _resumed(command, run_id, deadline, unknown, as_json)
        if report.unknown and unknown is None and not yes and (choice := _ask_about(report, options)):
            report = _resumed(command, run_id, deadline, choice, as_json)
    show_end(report, options=options, as_json=as_json, elsewhere=command.elsewhere)


@click.command(epilog="Example: coilclaw cancel run-1a1e265a6b2e813fd94")
@click.argument("run_id", metavar="RUN")
@server_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def cancel(run_id: str, server: str | None, as_json: bool) -> None:
    """Cancel a suspended run, or one whose process ended. What it asked is void; it cannot be resumed.

    A run that is under way is cancelled with Ctrl-C where it runs.
    """
    with open_place(server, "run") as claw:
        workspace = claw.runs.find(run_id).header.workspace
        claw.runs.cancel(run_id, by=this_person())
        still_open = claw.approvals.windows.list() if isinstance(claw, CoilClaw) else ()
    if as_json:
        say_json({"run_id": run_id, "status": "cancelled"})
    say(f"Cancelled {as_name(run_id)}.", err=True)
    tell_left_open(still_open, workspace)


def _resumed(command: RunPlace, run_id: str, deadline: Deadline, unknown: Unknown | None, as_json: bool) -> Report:
    shown = Display(deadline, sys.stdout, quiet=as_json)
    caller = replace(command.caller, show=shown, display=shown.display)
    with redirect_stdout(sys.stderr):  # What tools print is not this command's output.
        return command.claw.resume(run_id, deadline=deadline, unknown=unknown, caller=caller)


def _refuse_elsewhere(known: RunRecord, settings: Settings) -> None:
    if known.header.workspace != str(settings.config.workspace_dir.resolve()):
        # Its calls were asked about where they were meant to happen.
        raise NotResumable(
            f"{known.run_id} began in the workspace {known.header.workspace}", hint="leave --workspace out"
        )


def _ask_about(report: Report, options: str) -> Unknown | None:
    """What the person at the terminal says about calls of unknown outcome; None to leave the run as it is."""
    if not somebody_is_here():
        return None
    tell_waiting(report, options)
    match chosen("Call them again, or count them as failed?", ("retry", "failed", "leave"), "leave"):
        case "retry":
            return "retry"
        case "failed":
            return "failed"
    return None
