"""`coilclaw resume`: continue a suspended run where it was."""

from __future__ import annotations

import gc
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from typing import NoReturn

import click

from coilclaw.cli.composition import Parts, make_engine, settings_for, show_diagnostics
from coilclaw.cli.paging import chosen
from coilclaw.cli.run_report import Display, RunEnd, run_end, show_end, tell_waiting, workspace_option
from coilclaw.cli.waiting import open_waiting
from coilclaw.config import Settings
from coilclaw.runs import RunReport, find_run
from coilclaw.sandbox import Deadline, Engine

__all__ = ["resume", "resume_run"]


@click.command(epilog="Example: coilclaw resume run-1a1e265a6b2e813fd94")
@click.argument("run_id", metavar="RUN")
@click.option("--workspace", metavar="DIR", help="The workspace, if the run began with another one than the usual.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Wall time from now on."
)
@click.option(
    "--unknown",
    type=click.Choice(["retry", "failed"]),
    help="What to do about calls that were under way when the process of the run ended.",
)
@click.option("--yes", is_flag=True, help="Approve every call that asks. What policy or a person denied stays denied.")
@click.option("--wait", is_flag=True, help="Ask nobody here; stay until the decision is made elsewhere.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, as `run` does.")
def resume(
    run_id: str,
    workspace: str | None,
    timeout: float | None,
    unknown: str | None,
    yes: bool,
    wait: bool,
    as_json: bool,
) -> None:
    """Resume a suspended run, or one whose process ended.

    It is repeated from its journal up to where it was, and nothing is executed twice; then it continues. Output and
    exit codes are those of `run`; a run that would do something else than it did ends as diverged, with exit code 1.
    """
    settings = settings_for(workspace, limits__seconds=timeout)
    resume_run(
        settings, run_id, workspace=workspace, timeout=timeout, unknown=unknown, yes=yes, wait=wait, as_json=as_json
    )


def resume_run(
    settings: Settings,
    run_id: str,
    *,
    workspace: str | None = None,
    timeout: float | None = None,
    unknown: str | None = None,
    yes: bool = False,
    wait: bool = False,
    as_json: bool = False,
) -> NoReturn:
    """Go on with a run, print how it ended, and end the command."""
    deadline = Deadline(timeout or settings.config.limits.seconds)
    with open_waiting(settings, deadline, yes=yes, wait=wait, options=workspace_option(workspace)) as parts:
        limits = find_run(parts.evidence.database, run_id).header.run_limits()
        deadline.seconds = timeout or limits.seconds
        show_diagnostics(parts.registry)
        gc.freeze()
        end = run_end(parts, _resumed(parts, run_id, deadline, unknown, as_json), workspace=workspace)
        if end.unknown and unknown is None and not yes and (choice := _ask_about(end)):
            end = run_end(parts, _resumed(parts, run_id, deadline, choice, as_json), workspace=workspace)
    show_end(end, as_json=as_json)


def _resumed(parts: Parts, run_id: str, deadline: Deadline, unknown: str | None, as_json: bool) -> RunReport:
    def engine(name: str) -> Engine:
        made = make_engine(parts.settings, engine=name)
        deadline.restart()  # Compiling the sandbox is not the run's time.
        return made

    deadline.restart()
    caller = replace(parts.caller, show=Display(deadline, sys.stdout, quiet=as_json))
    with redirect_stdout(sys.stderr):  # What tools print is not this command's output.
        return parts.runtime.resume(run_id, engine, parts.registry, deadline=deadline, unknown=unknown, caller=caller)


def _ask_about(end: RunEnd) -> str | None:
    """What the person at the terminal says about calls of unknown outcome; None to leave the run as it is."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    tell_waiting(end)
    answer = chosen("Call them again, or count them as failed?", ("retry", "failed", "leave"), "leave")
    return None if answer == "leave" else answer
