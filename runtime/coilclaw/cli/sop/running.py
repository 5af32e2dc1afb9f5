"""`coilclaw sop run` and `coilclaw sop resume`: a SOP, step by step."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

import click

from coilclaw.agent import open_agent
from coilclaw.agent.sop import AgentAnswers, SopRunner, read_sop, read_sop_file
from coilclaw.cli.opening import settings_for, show_diagnostics
from coilclaw.cli.pending_calls import tell_pending
from coilclaw.cli.run_report import tell_unknown, workspace_option
from coilclaw.cli.terminal import counted, say, say_json, say_text, say_wrapped, styled
from coilclaw.cli.waiting import CommandApp, open_for_run
from coilclaw.sandbox import Deadline
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.agent.sop import SopReport, StepReport, Unknown
    from coilclaw.config import Settings

__all__ = ["resume_sop", "run_sop"]

_EXIT_CODES: Final = {"completed": 0, "suspended": 3, "cancelled": 130}
_COLOURS: Final = {"succeeded": "green", "completed": "green", "failed": "red", "denied": "yellow"}


@click.command("run", epilog="Example: coilclaw sop run daily-check")
@click.argument("name")
@click.option("--workspace", metavar="DIR", help="The workspace whose SOPs, tools and files are used.")
@click.option("--provider", metavar="NAME", help="The provider that answers agent steps.")
@click.option(
    "--yes", is_flag=True, help="Approve every call and every approval step. What policy denies stays denied."
)
@click.option("--wait", is_flag=True, help="Ask nobody here; stay until the decision is made elsewhere.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def run_sop(name: str, workspace: str | None, provider: str | None, yes: bool, wait: bool, as_json: bool) -> None:
    """Run the SOP called NAME, step by step.

    A step that needs approval while nobody is at the terminal suspends the run: approve it, then `coilclaw sop resume`.
    Exit codes: 0 completed; 1 failed or denied; 2 wrong usage; 3 approval needed; 130 interrupted.
    """
    settings = settings_for(workspace)
    with _opened(settings, provider, yes=yes, wait=wait, as_json=as_json) as (command, runner):
        text = read_sop_file(settings.config.workspace_dir.resolve(), name)
        definition = read_sop(name, text, command.claw.tools.registry)
        with redirect_stdout(sys.stderr):  # What tools print is not this command's output.
            report = runner.start(definition, command.caller)
    _show_end(report, workspace_option(workspace), as_json)


@click.command("resume", epilog="Example: coilclaw sop resume sop-1a1e265a6b2e813fd94")
@click.argument("run_id", metavar="RUN")
@click.option("--workspace", metavar="DIR", help="The workspace the run began in, if it is not the configured one.")
@click.option("--provider", metavar="NAME", help="The provider that answers agent steps.")
@click.option(
    "--unknown",
    type=click.Choice(["retry", "failed"]),
    help="What to do about calls that were under way when the process of the run ended.",
)
@click.option("--yes", is_flag=True, help="Approve every call and every approval step. A denial stays.")
@click.option("--wait", is_flag=True, help="Ask nobody here; stay until the decision is made elsewhere.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, as `run` does.")
def resume_sop(
    run_id: str,
    workspace: str | None,
    provider: str | None,
    unknown: Unknown | None,
    yes: bool,
    wait: bool,
    as_json: bool,
) -> None:
    """Resume a suspended run, or one whose process ended.

    Steps that succeeded are not repeated. The SOP is carried out as it was when the run began. Output and exit codes
    are those of `run`.
    """
    settings = settings_for(workspace)
    with (
        _opened(settings, provider, yes=yes, wait=wait, as_json=as_json) as (command, runner),
        redirect_stdout(sys.stderr),
    ):
        report = runner.resume(run_id, command.caller, unknown=unknown)
    _show_end(report, workspace_option(workspace), as_json)


@contextmanager
def _opened(
    settings: Settings, provider: str | None, *, yes: bool, wait: bool, as_json: bool
) -> Iterator[tuple[CommandApp, SopRunner]]:
    deadline = Deadline(settings.config.limits.seconds)
    with open_for_run(settings, deadline, yes=yes, wait=wait) as command:
        claw = command.claw
        show_diagnostics(claw.tools.registry)
        listen = (lambda step: None) if as_json else _show_step
        with AgentAnswers(claw, partial(open_agent, claw, provider=provider, environment=os.environ)) as answers:
            yield command, SopRunner(claw, claw.runs.sops, answers, listen=listen, deadline=deadline)


def _show_step(step: StepReport) -> None:
    mark = styled(f"{step.status:<9}", fg=_COLOURS.get(step.status))
    say("  ", mark, f" {as_name(step.id):<24} {step.kind:<8}  {as_name(step.started or '')}".rstrip(), err=True)
    if step.error is not None:
        say_wrapped("            ", one_line(f"{step.error['code']}: {step.error['message']}"), err=True)


def _show_end(report: SopReport, options: str, as_json: bool) -> NoReturn:
    """Print how a run stands, and end the command with the code that says the same."""
    last = report.steps[-1] if report.steps else None
    if as_json:
        say_json(report.facts())
    elif report.status == "completed" and last is not None and last.output is not None:
        say_text(last.output if isinstance(last.output, str) else json.dumps(last.output, indent=2, ensure_ascii=False))
    status = styled(report.status, fg=_COLOURS.get(report.status, "cyan"))
    say(status, f", {counted(len(report.steps), 'step')}, {report.run_id}", err=True)
    if report.unknown:
        tell_unknown(report.unknown, f"coilclaw sop resume {report.run_id}{options}")
    elif report.status == "suspended":
        tell_pending(report.approvals, report.run_id, options, resume="sop resume")
    sys.exit(_EXIT_CODES.get(report.status, 1))
