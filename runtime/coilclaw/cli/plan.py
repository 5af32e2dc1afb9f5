"""Rehearsing a snippet before it runs: what it would do, and a person's yes to that."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn

from coilclaw.app import call_rows
from coilclaw.cli.approver import somebody_is_here
from coilclaw.cli.opening import this_person
from coilclaw.cli.paging import Row, confirmed, say_rows
from coilclaw.cli.run_report import Display
from coilclaw.cli.terminal import counted, say, say_json
from coilclaw.cli.waiting import CommandApp
from coilclaw.runs import ApprovedPlan, Plan, PlannedCall, Rehearsal
from coilclaw.sandbox import Deadline, Snippet
from coilclaw.sdk.legible import as_name, cells, one_line

__all__ = ["approved_plan", "show_rehearsal"]

_LONGEST_SHORT = 60
_COLOURS = {"allow": "green", "ask": "cyan", "deny": "red"}


def show_rehearsal(command: CommandApp, snippet: Snippet, *, as_json: bool) -> NoReturn:
    """`--dry-run`: rehearse, print the plan, and end the command. What the snippet prints goes to stderr."""
    rehearsal = _rehearse(command, snippet, quiet=as_json)
    if as_json:
        say_json(_object(rehearsal))
    else:
        say_rows(_plan_rows(rehearsal))
        say_rows(_end_rows(rehearsal), err=True)
    sys.exit(0 if rehearsal.report.status == "completed" else 1)


def approved_plan(command: CommandApp, snippet: Snippet, *, yes: bool) -> ApprovedPlan:
    """`--approve-plan`: rehearse, show the plan and ask. Without a yes, the command ends here."""
    rehearsal = _rehearse(command, snippet, quiet=True)
    workspace = command.claw.settings.config.workspace_dir
    rows = [*_plan_rows(rehearsal), *_whole_rows(rehearsal.plan, workspace), *_end_rows(rehearsal)]
    ended = rehearsal.report.status in ("rejected", "cancelled")
    if ended or yes or not somebody_is_here():
        say_rows(rows, err=True)
    if ended:
        sys.exit(130 if rehearsal.report.status == "cancelled" else 1)
    if yes:
        return ApprovedPlan(rehearsal.plan, f"{this_person()} (--yes)")
    if not somebody_is_here():
        say("Nobody is here to approve the plan: run it on a terminal, or with --yes.", err=True)
        sys.exit(3)
    if confirmed("Run it, and allow exactly these calls?", rows):
        return ApprovedPlan(rehearsal.plan, this_person())
    say("Nothing was run but the rehearsal.", err=True)
    sys.exit(1)


def _rehearse(command: CommandApp, snippet: Snippet, *, quiet: bool) -> Rehearsal:
    deadline = Deadline(command.claw.settings.config.limits.seconds)
    shown = Display(deadline, sys.stderr, quiet=quiet)
    caller = replace(command.caller, show=shown, display=shown.display)
    with redirect_stdout(sys.stderr):  # What tools print is not this command's output.
        return command.claw.rehearse(
            snippet.source, inputs=snippet.inputs, name=snippet.name, deadline=deadline, caller=caller
        )


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
    return {**asdict(call), "risk": call.risk.value if call.risk else None, "arguments": _json(call.arguments)}


def _json(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:  # The call was refused because they are none.
        return None


def _plan_rows(rehearsal: Rehearsal) -> Iterator[Row]:
    """Yield one row for each call. Arguments that do not fit are counted."""
    calls = rehearsal.plan.calls
    if not calls:
        yield Row("", "The snippet made no calls.")
        return
    heads = ("call", "line", "tool", "risk", "verdict", "rehearsal", "arguments")
    table = [_cells(call) for call in calls]
    widths = [max(cells(row[at]) for row in (heads, *table)) for at in range(len(heads))]
    yield Row("", _line(heads, widths), bold=True)
    for call, row in zip(calls, table, strict=True):
        yield Row("", _line(row, widths), _COLOURS.get(call.verdict or "deny"))


def _cells(call: PlannedCall) -> tuple[str, ...]:
    done = "executed" if call.outcome == "succeeded" else call.outcome
    risk = call.risk.value if call.risk else "-"
    return (
        str(call.number),
        str(call.line),
        as_name(call.tool, _LONGEST_SHORT),
        risk,
        call.verdict or "-",
        one_line(done, _LONGEST_SHORT),
        one_line(call.arguments, _LONGEST_SHORT),
    )


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    padded = (f"{cell}{' ' * (width - cells(cell))}" for cell, width in zip(row, widths, strict=True))
    return "  ".join(padded).rstrip(" ")


def _whole_rows(plan: Plan, workspace: Path) -> Iterator[Row]:
    """Yield what the yes is for, with everything that will be sent, and every other call that the table cuts."""
    asked = plan.questions
    for call in plan.calls:
        if call not in asked and max(len(call.tool), len(call.arguments)) <= _LONGEST_SHORT:
            continue
        yield Row("")
        yield Row("", f"Call {call.number} (line {call.line}): {as_name(call.tool)}", bold=True)
        yield Row("  Risk:   ", f"{call.risk.value} ({call.risk.level})" if call.risk else "-")
        yield Row("  Reason: ", one_line(call.reason or "-"))
        yield from call_rows(call.tool, call.arguments, call.runs, workspace)
    yield Row("")


def _end_rows(rehearsal: Rehearsal) -> Iterator[Row]:
    report = rehearsal.report
    error = report.error
    if error is not None:
        where = f" (line {error.line})" if error.line else ""
        yield Row("", one_line(f"{error.type}: {error.message}{where}"), "red")
    stubbed = sum(call.stubbed for call in rehearsal.plan.calls)
    made_up = f", {stubbed} with made-up answers" if stubbed else ""
    yield Row("", f"Rehearsal {report.status}, {counted(len(rehearsal.plan.calls), 'call')}{made_up}, {report.run_id}")
    if report.status not in ("completed", "rejected") and stubbed:
        yield Row("", "A made-up answer may be the reason; what comes after it is not in the plan.")
