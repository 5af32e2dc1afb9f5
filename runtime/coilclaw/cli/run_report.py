"""How a run ended, for a person and for a program: the same for `run` and `resume`."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn, TextIO

from coilclaw.cli.approval import somebody_is_here
from coilclaw.cli.composition import Parts
from coilclaw.cli.disclosure import approval_facts, pending_of, tell_pending
from coilclaw.cli.streams import unguarded
from coilclaw.cli.terminal import counted, pass_through, say, say_json, say_text, styled
from coilclaw.evidence import activity_of
from coilclaw.runs import RunReport
from coilclaw.sandbox import Deadline
from coilclaw.sdk import Receipt, RelevantToolActivity
from coilclaw.sdk.legible import as_name, legible_lines, one_line, visible_block

__all__ = ["Display", "RunEnd", "exit_code", "run_end", "show_end", "tell_waiting", "workspace_option"]

_COLOURS = {"succeeded": "green", "failed": "red", "denied": "yellow", "pending": "cyan"}


@dataclass(frozen=True, kw_only=True)
class RunEnd:
    """A report, and what the log and the book say about the run besides."""

    report: RunReport
    activity: RelevantToolActivity
    pending: tuple[dict[str, Any], ...] = ()
    unknown: tuple[str, ...] = ()
    """Calls that were under way when their process ended."""
    not_made: frozenset[str] = frozenset()
    """The last receipts of calls that never began."""
    options: str = field(default="")
    """What has to be added to the commands that go on with the run."""


def run_end(parts: Parts, report: RunReport, *, workspace: str | None) -> RunEnd:
    """Everything there is to say about the end of a run. Needs the parts still open."""
    receipts = parts.log.of_run(report.run_id, since=report.first_receipt) if report.first_receipt else []
    waits = report.status == "suspended"
    pending = pending_of(parts.evidence, report.run_id) if waits else []
    return RunEnd(
        report=report,
        activity=activity_of(report.run_id, receipts),
        pending=tuple(approval_facts(each, parts.log) for each in pending),
        not_made=_not_made(receipts),
        unknown=_unknown(receipts) if waits and report.unknown else (),
        options=workspace_option(workspace),
    )


def workspace_option(workspace: str | None) -> str:
    """A run goes on where it began."""
    return f" --workspace {shlex.quote(one_line(workspace))}" if workspace is not None else ""


def show_end(end: RunEnd, *, as_json: bool) -> NoReturn:
    """Print how a run ended, and end the command with the code that says the same."""
    if as_json:
        say_json(_object(end))
    else:
        _print(end)
    tell_waiting(end)
    sys.exit(exit_code(end.report))


def tell_waiting(end: RunEnd) -> None:
    """What a suspended run waits for, and how it goes on. On stderr, also beside JSON."""
    report = end.report
    if report.status != "suspended":
        return
    if end.unknown:
        say(err=True)
        say("The process of this run ended while these calls were under way:", err=True, bold=True)
        for each in end.unknown:
            say(f"  {each}", err=True)
        say("Nobody knows what they did. Look, then decide:", err=True)
        for choice, meaning in (("retry", "call again"), ("failed", "count as failed and go on")):
            say(f"  coilclaw resume {report.run_id}{end.options} --unknown {choice:<6}  # {meaning}", err=True)
        return
    tell_pending(end.pending, report.run_id, end.options)


def exit_code(report: RunReport) -> int:
    match report.status:
        case "completed":
            return 0
        case "suspended":
            return 3
        case "cancelled":
            return 130
    if "approval_required" in report.unmet:
        return 3
    return 4 if "missing_secret" in report.unmet else 1


class Display:
    """Shows what a snippet prints, as it comes; a reader that goes away ends the run.

    With `asks`, a person at this terminal may be asked meanwhile.
    """

    def __init__(self, deadline: Deadline, stdout: TextIO, *, quiet: bool, asks: bool = True) -> None:
        self._deadline = deadline
        self._stdout = unguarded(stdout)  # A snippet prints from whichever thread it runs on.
        self._quiet = quiet
        self._prompts = asks and somebody_is_here()

    def __call__(self, stream: int, text: str) -> None:
        try:
            if stream != 1:
                sys.stderr.write(visible_block(text))
                sys.stderr.flush()
            elif not self._quiet:
                self._stdout.write(pass_through(text, self._stdout, prompts=self._prompts))
                self._stdout.flush()
        except OSError:
            self._deadline.cancel()


def _unknown(receipts: list[Receipt]) -> tuple[str, ...]:
    return tuple(
        f"{as_name(each.tool or '')}, started {each.timestamp}, {each.id}"
        for each in _last_of_calls(receipts)
        if each.type == "tool.call.started"
    )


def _not_made(receipts: list[Receipt]) -> frozenset[str]:
    before = ("tool.call.requested", "tool.call.pending", "tool.call.approved")
    return frozenset(each.id for each in _last_of_calls(receipts) if each.type in before)


def _last_of_calls(receipts: list[Receipt]) -> Iterable[Receipt]:
    last = {each.tool_call_id: each for each in receipts if each.tool_call_id and each.type != "tool.call.progress"}
    return last.values()


def _object(end: RunEnd) -> dict[str, Any]:
    report, error = end.report, end.report.error
    return {
        "run_id": report.run_id,
        "status": report.status,
        "engine": report.engine,
        "value": report.value,
        "stdout": report.stdout,
        "error": None
        if error is None
        else {
            "type": error.type,
            "message": error.message,
            "line": error.line,
            "traceback": error.traceback,
            "hint": error.hint,
        },
        "activity": [item.model_dump() for item in end.activity.items],
        "approvals": [
            {key: each[key] for key in ("id", "run_id", "tool", "arguments", "status")} for each in end.pending
        ],
        "duration_ms": report.duration_ms,
    }


def _traceback_lines(text: str) -> list[str]:
    """Return the lines of a traceback. If a message in it has lines of its own, all of them stand behind a bar."""
    lines = legible_lines(text.rstrip())
    first, last = 0 if lines[0].startswith("  File ") else 1, len(lines) - 1
    ordinary = (
        all(each.startswith(('  File "', "    ")) for each in lines[first:last])
        and lines[last][:1].strip()
        and (first == 0 or lines[0] == "Traceback (most recent call last):")
    )
    return lines if ordinary else [f"| {each}".rstrip() for each in lines]


def _print(end: RunEnd) -> None:
    report = end.report
    if report.stdout and not report.stdout.endswith("\n"):
        say()
    if report.value is not None:
        say_text(json.dumps(report.value, indent=2, ensure_ascii=False))
    error = report.error
    if error is not None:
        if error.traceback and report.status == "failed":
            for line in _traceback_lines(error.traceback):
                say(line, err=True)
        else:
            where = f" (line {error.line})" if error.line else ""
            say(one_line(f"{error.type}: {error.message}{where}"), err=True, fg="red")
        if error.hint:
            say(f"Hint: {one_line(error.hint)}", err=True)
    for item in end.activity.items:
        approval = f"  ({one_line(item.approval)})" if item.approval else ""
        over = report.status == "cancelled" and item.receipt_ref in end.not_made
        mark = styled(f"{'not made' if over else item.status:<9}", fg=_COLOURS[item.status])
        say("  ", mark, f" {as_name(item.tool_id):<24} {as_name(item.receipt_ref)}{approval}", err=True)
    colour = {"completed": "green", "suspended": "cyan"}.get(report.status, "red")
    calls = counted(len(end.activity.items), "call")
    say(styled(report.status, fg=colour), f" in {report.duration_ms:.0f} ms, {calls}, {report.run_id}", err=True)
