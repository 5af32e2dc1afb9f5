"""How a run ended, for a person and for a program: the same for `run` and `resume`."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

from coilclaw.cli.approver import somebody_is_here
from coilclaw.cli.output_text import output_lines
from coilclaw.cli.pending_calls import tell_pending
from coilclaw.cli.streams import unguarded
from coilclaw.cli.terminal import counted, pass_through, say, say_json, say_text, say_wrapped, styled, warn
from coilclaw.evidence import approval_words
from coilclaw.sdk.legible import as_name, legible_line, one_line, visible_block

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coilclaw.app import Report, UnknownCall
    from coilclaw.sandbox import Deadline, DisplayedOutput

__all__ = ["Display", "exit_code", "print_report", "show_end", "tell_unknown", "tell_waiting", "workspace_option"]

_HINTS: Final = {
    "timed_out": "raise the limit with --timeout SECONDS, or do less",
    "out_of_memory": "raise the limit with --memory MIB, or keep less at a time",
}
_COLOURS: Final = {
    "succeeded": "green", "failed": "red", "denied": "yellow", "pending": "cyan", "running": "cyan",
    "unknown": "yellow",
}  # fmt: skip
_STATE_COLOURS: Final = {
    "completed": "green", "suspended": "cyan", "running": "cyan", "queued": "cyan", "orphaned": "yellow",
}  # fmt: skip
_MARKS: Final = re.compile(r" *[~^][ ~^]*")
"""A line of a traceback that marks a part of the line above it: its blanks say which."""


def workspace_option(workspace: str | None) -> str:
    """Options that resume a run in the workspace where it began."""
    return f" --workspace {shlex.quote(one_line(workspace))}" if workspace is not None else ""


def show_end(report: Report, *, options: str, as_json: bool, elsewhere: str = "") -> NoReturn:
    """Print how a run ended, and end the command with the code that says the same."""
    report = _with_hints(report)
    if as_json:
        say_json(report.facts())
    else:
        print_report(report)
    tell_waiting(report, options, elsewhere)
    sys.exit(exit_code(report))


def tell_waiting(report: Report, options: str, elsewhere: str = "") -> None:
    """What a suspended run waits for, and how it is resumed. On stderr, also beside JSON."""
    if report.status != "suspended":
        return
    if report.unknown:
        tell_unknown(report.unknown, f"coilclaw resume {report.run_id}{options}{elsewhere}")
        return
    tell_pending(report.approvals, report.run_id, options, elsewhere=elsewhere)


def tell_unknown(unknown: Iterable[UnknownCall], command: str) -> None:
    """Name calls of unknown outcome, and the commands that decide about them."""
    say(err=True)
    say("The process of this run ended while these calls were under way:", err=True, bold=True)
    for each in unknown:
        say(f"  {as_name(each.tool)}, started {each.started}, {each.receipt_ref}", err=True)
    say("Nobody knows what they did. Look, then decide:", err=True)
    for choice, meaning in (("retry", "call again"), ("failed", "count as failed and go on")):
        say(f"  {command} --unknown {choice:<6}  # {meaning}", err=True)


def exit_code(report: Report) -> int:
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


def _with_hints(report: Report) -> Report:
    """The report with the options of this command in its hints."""
    hint = _HINTS.get(report.status)
    return report if hint is None or report.error is None else replace(report, error=replace(report.error, hint=hint))


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

    def display(self, output: DisplayedOutput) -> None:
        """Show what the snippet displays, among what it prints."""
        self(1, "".join(f"{line}\n" for line in output_lines(output)))


def _traceback_lines(text: str) -> list[str]:
    """Return the lines of a traceback. If a message in it has lines of its own, all of them stand behind a bar."""
    raw = text.rstrip().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [
        line if _MARKS.fullmatch(line) and len(line) <= len(above) + 1 else legible_line(line)
        for above, line in pairwise(["", *raw])
    ]
    first, last = 0 if lines[0].startswith("  File ") else 1, len(lines) - 1
    ordinary = (
        all(each.startswith(('  File "', "    ")) for each in lines[first:last])
        and lines[last][:1].strip()
        and (first == 0 or lines[0] == "Traceback (most recent call last):")
    )
    return lines if ordinary else [f"| {each}".rstrip() for each in lines]


def print_report(report: Report, *, is_orphaned: bool = False) -> None:
    """Print how a run ended, except for its output: the value on stdout, everything else on stderr."""
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
        # The message of a failed call has its hint already.
        if error.hint and error.hint not in (error.traceback or error.message):
            say(f"Hint: {one_line(error.hint)}", err=True)
    for item in report.activity:
        words = approval_words(item)
        approval = f"  ({one_line(words)})" if words else ""
        over = report.status == "cancelled" and item.receipt_ref in report.not_made
        word = "not made" if over else "reused" if item.reused_from else item.status
        mark = styled(f"{word:<9}", fg=_COLOURS[item.status])
        say("  ", mark, f" {as_name(item.tool_id):<24} {as_name(item.receipt_ref)}{approval}", err=True)
        if item.summary and (item.status in ("failed", "denied") or item.reused_from):
            say_wrapped("            ", one_line(item.summary), err=True)
        if item.reused_from:
            say(f"            not made again; it succeeded before: {as_name(item.reused_from)}", err=True)
    for each in report.warnings:
        where = f" (line {each.line})" if each.line else ""
        warn(f"{each.message}{where}")
    state = "orphaned" if is_orphaned else report.status
    colour = _STATE_COLOURS.get(state, "red")
    took = "" if report.status in ("queued", "running") else f" in {report.duration_ms:.0f} ms"
    calls = counted(len(report.activity), "call")
    say(styled(state, fg=colour), f"{took}, {calls}, {report.run_id}", err=True)
    if report.retry_of is not None:
        reused = sum(item.reused_from is not None for item in report.activity)
        say(f"Retry of {as_name(report.retry_of)}: {counted(reused, 'call')} reused.", err=True)
