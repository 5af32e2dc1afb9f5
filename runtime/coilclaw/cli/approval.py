"""Asking the person at the terminal."""

from __future__ import annotations

import os
import select
import sys
import threading

import click

from coilclaw.cli.disclosure import shortened, visible
from coilclaw.cli.person import this_person
from coilclaw.policy import Answer, ApproveAll, Approver, NobodyToAsk, Question
from coilclaw.sandbox import POLL_SECONDS, Deadline

__all__ = ["approver_for"]

_LONGEST_ARGUMENTS = 2000


def approver_for(yes: bool, deadline: Deadline, *, may_wait: bool = False) -> Approver:
    """Who answers: everything in advance, the terminal, or nobody. Only a run that may wait can be left for later."""
    if yes:
        return ApproveAll(decided_by=f"{this_person()} (--yes)")
    if sys.stdin.isatty() and sys.stderr.isatty():
        return _Terminal(deadline, may_wait)
    return NobodyToAsk()


class _Terminal:
    """One question at a time. Anything but a yes is a no, or a wish to decide later."""

    def __init__(self, deadline: Deadline, may_wait: bool) -> None:
        self._deadline = deadline
        self._may_wait = may_wait
        self._one_at_a_time = threading.Lock()

    def decide(self, question: Question) -> Answer:
        with self._one_at_a_time:
            line = f" (line {question.line})" if question.line else ""
            # Whatever the snippet printed before must not colour or hide the question.
            click.echo("\x1b[0m\x1b(B", nl=False, err=True)
            click.secho(f"\nApproval needed{line}", err=True, bold=True)
            click.echo(f"  Tool:   {visible(question.tool)}", err=True)
            click.echo(f"  Risk:   {question.risk.value} ({question.risk.level})", err=True)
            click.echo(f"  Reason: {shortened(question.reason, _LONGEST_ARGUMENTS)}", err=True)
            click.echo(f"  Args:   {shortened(question.arguments, _LONGEST_ARGUMENTS)}", err=True)
            if self._may_wait:
                click.secho("  l: decide later, and let the run wait", err=True, dim=True)
            _forget_what_was_typed()
            click.echo("Approve? [y/N] ", nl=False, err=True)
            answer = self._read_line().strip().lower()
        if self._deadline.cancelled:
            return Answer(decision="unanswered", decided_by="nobody")
        if self._may_wait and answer in ("l", "later"):
            return Answer(decision="unanswered", decided_by=this_person())
        granted = answer in ("y", "yes")
        return Answer(decision="allow-once" if granted else "deny", decided_by=this_person())

    def _read_line(self) -> str:
        """One line from the terminal, given up when the run is cancelled.

        Read from the descriptor: a thread that is blocked inside the interpreter's own stdin would
        keep the process from ending.
        """
        data = b""
        descriptor = sys.stdin.fileno()
        while not self._deadline.cancelled:
            ready, _, _ = select.select([descriptor], [], [], POLL_SECONDS)
            if ready:
                chunk = os.read(descriptor, 1024)
                data += chunk
                if not chunk or b"\n" in data or b"\r" in data:
                    break
        return data.decode(errors="replace")


def _forget_what_was_typed() -> None:
    """An answer given before the question was asked is an answer to something else."""
    try:
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except (ImportError, OSError):  # No such thing on this system.
        return
