"""Questions of tools to the person at the terminal."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from coilclaw.cli.approver import somebody_is_here
from coilclaw.cli.paging import typed_line
from coilclaw.cli.terminal import say
from coilclaw.sdk.legible import legible_lines

if TYPE_CHECKING:
    from coilclaw.sandbox import Deadline

__all__ = ["ask_on_terminal"]

_one_at_a_time = threading.Lock()


def ask_on_terminal(question: str, deadline: Deadline) -> str | None:
    """Ask the person at the terminal and return the answer; None where nobody is there.

    The question is a program's text: each of its lines stands behind a bar, so that none passes for one of ours.
    """
    if not somebody_is_here():
        return None
    with _one_at_a_time:
        say(err=True)
        say("A question from the program that is running:", err=True, bold=True)
        for line in legible_lines(question):
            say(f"  | {line}", err=True)
        return typed_line("Your answer (approves nothing): ", cancelled=lambda: deadline.cancelled)
