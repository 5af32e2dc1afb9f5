"""Rehearsing a snippet before it runs: what it would do, and a person's yes to that."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout, suppress
from typing import Any, NoReturn

import click

from coilclaw.cli.composition import Parts
from coilclaw.cli.disclosure import shortened, visible
from coilclaw.cli.person import this_person
from coilclaw.cli.run_report import Display
from coilclaw.runs import ApprovedPlan, PlannedCall, Rehearsal
from coilclaw.sandbox import Deadline, Engine, Limits, Snippet

__all__ = ["approved_plan", "show_rehearsal"]

_LONGEST_SHORT = 60
_LONGEST_ARGUMENTS = 2000
_COLOURS = {"allow": "green", "ask": "cyan", "deny": "red"}


def show_rehearsal(parts: Parts, snippet: Snippet, engine: Engine, limits: Limits, *, as_json: bool) -> NoReturn:
    """`--dry-run`: rehearse, print the plan, and end the command. What the snippet prints goes to stderr."""
    rehearsal = _rehearse(parts, snippet, engine, limits, quiet=as_json)
    if as_json:
        click.echo(json.dumps(_object(rehearsal)))
    else:
        _print_plan(rehearsal, err=False)
        _print_end(rehearsal)
    sys.exit(0 if rehearsal.report.status == "completed" else 1)


def approved_plan(parts: Parts, snippet: Snippet, engine: Engine, limits: Limits, *, yes: bool) -> ApprovedPlan:
    """`--approve-plan`: rehearse, show the plan and ask. Without a yes, the command ends here."""
    rehearsal = _rehearse(parts, snippet, engine, limits, quiet=True)
    _print_plan(rehearsal, err=True)
    _print_questions(rehearsal.plan.questions)
    _print_end(rehearsal)
    if rehearsal.report.status in ("rejected", "cancelled"):
        sys.exit(130 if rehearsal.report.status == "cancelled" else 1)
    if yes:
        return ApprovedPlan(rehearsal.plan, f"{this_person()} (--yes)")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        click.echo("Nobody is here to approve the plan: run it on a terminal, or with --yes.", err=True)
        sys.exit(3)
    if _says_yes():
        return ApprovedPlan(rehearsal.plan, this_person())
    click.echo("Nothing was run but the rehearsal.", err=True)
    sys.exit(1)


def _rehearse(parts: Parts, snippet: Snippet, engine: Engine, limits: Limits, *, quiet: bool) -> Rehearsal:
    deadline = Deadline(limits.seconds)
    display = Display(deadline, sys.stderr, quiet=quiet)
    with redirect_stdout(sys.stderr):  # What tools print is not this command's output.
        return parts.runtime.rehearse(snippet, engine, parts.registry, limits, deadline=deadline, show=display)


def _says_yes() -> bool:
    # An answer given before the question was asked is an answer to something else.
    with suppress(ImportError, OSError):
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    return click.confirm("Run it, and allow exactly these calls?", default=False, err=True)


def _object(rehearsal: Rehearsal) -> dict[str, Any]:
    report = rehearsal.report
    error = report.error
    return {
        "run_id": report.run_id,
        "status": report.status,
        "engine": report.engine,
        "value": report.value,
        "stdout": report.stdout,
        "error": None if error is None else {"type": error.type, "message": error.message, "line": error.line},
        "plan": [_row(call) for call in rehearsal.plan.calls],
        "duration_ms": report.duration_ms,
    }


def _row(call: PlannedCall) -> dict[str, Any]:
    return {
        "number": call.number,
        "line": call.line,
        "tool": call.tool,
        "tool_version": call.tool_version,
        "risk": call.risk.value if call.risk else None,
        "arguments": _json(call.arguments),
        "args_hash": call.args_hash,
        "verdict": call.verdict,
        "stubbed": call.stubbed,
        "outcome": call.outcome,
        "reason": call.reason,
    }


def _json(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:  # The call was refused because they are none.
        return None


def _print_plan(rehearsal: Rehearsal, *, err: bool) -> None:
    calls = rehearsal.plan.calls
    if not calls:
        click.echo("The snippet made no calls.", err=err)
        return
    # Whatever the snippet printed before must not colour or hide the plan.
    click.echo("\x1b[0m\x1b(B" if (sys.stderr if err else sys.stdout).isatty() else "", nl=False, err=err)
    heads = ("call", "line", "tool", "risk", "verdict", "rehearsal", "arguments")
    table = [_cells(call) for call in calls]
    widths = [max(len(row[at]) for row in (heads, *table)) for at in range(len(heads))]
    click.secho(_line(heads, widths), err=err, bold=True)
    for call, row in zip(calls, table, strict=True):
        padded = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        padded[4] = click.style(padded[4], fg=_COLOURS.get(call.verdict or "deny"))
        click.echo("  ".join(padded).rstrip(), err=err)


def _cells(call: PlannedCall) -> tuple[str, ...]:
    done = "executed" if call.outcome == "succeeded" else call.outcome
    risk = call.risk.value if call.risk else "-"
    return (
        str(call.number),
        str(call.line),
        shortened(call.tool, _LONGEST_SHORT),
        risk,
        call.verdict or "-",
        shortened(done, _LONGEST_SHORT),
        shortened(call.arguments, _LONGEST_SHORT),
    )


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _print_questions(questions: tuple[PlannedCall, ...]) -> None:
    """What the yes is for, with everything that will be sent."""
    for call in questions:
        click.secho(f"\nCall {call.number} (line {call.line}): {visible(call.tool)}", err=True, bold=True)
        click.echo(f"  Risk:   {call.risk.value} ({call.risk.level})" if call.risk else "  Risk:   -", err=True)
        click.echo(f"  Reason: {shortened(call.reason or '-', _LONGEST_ARGUMENTS)}", err=True)
        click.echo(f"  Args:   {shortened(call.arguments, _LONGEST_ARGUMENTS)}", err=True)
    if questions:
        click.echo(err=True)


def _print_end(rehearsal: Rehearsal) -> None:
    report = rehearsal.report
    error = report.error
    if error is not None:
        where = f" (line {error.line})" if error.line else ""
        click.secho(visible(f"{error.type}: {error.message}{where}"), err=True, fg="red")
    stubbed = sum(call.stubbed for call in rehearsal.plan.calls)
    made_up = f", {stubbed} with made-up answers" if stubbed else ""
    click.echo(f"Rehearsal {report.status}, {len(rehearsal.plan.calls)} calls{made_up}, {report.run_id}", err=True)
    if report.status not in ("completed", "rejected") and stubbed:
        click.echo("A made-up answer may be the reason; what comes after it is not in the plan.", err=True)
