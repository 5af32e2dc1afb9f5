"""Who approves the calls of a command: everything in advance, the person at the terminal, or nobody."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from coilclaw.app import call_rows
from coilclaw.cli.opening import this_person
from coilclaw.cli.paging import Row, ask
from coilclaw.policy import Answer, ApproveAll, NobodyToAsk
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.policy import Approver, Question
    from coilclaw.sandbox import Deadline

__all__ = ["approver_for", "somebody_is_here"]


def approver_for(yes: bool, deadline: Deadline, *, may_wait: bool = False, workspace: Path | None = None) -> Approver:
    """Return who answers. Only a run that may wait can be left for later.

    Calls that write a file are shown as a change of what the workspace has now.
    """
    if yes:
        return ApproveAll(decided_by=f"{this_person()} (--yes)")
    if somebody_is_here():
        return _Terminal(deadline, may_wait, workspace)
    return NobodyToAsk()


def somebody_is_here() -> bool:
    """Whether a person can be asked: questions go to stderr, answers come from stdin."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class _Terminal:
    """One question at a time. Only a yes to a call that was shown whole lets it run."""

    def __init__(self, deadline: Deadline, may_wait: bool, workspace: Path | None) -> None:
        self._deadline = deadline
        self._may_wait = may_wait
        self._workspace = workspace
        self._one_at_a_time = threading.Lock()

    def decide(self, question: Question) -> Answer:
        with self._one_at_a_time:
            rows = _rows(question, self._workspace)
            answer = ask(rows, "Approve?", may_wait=self._may_wait, cancelled=lambda: self._deadline.cancelled)
        if self._deadline.cancelled:
            return Answer(decision="unanswered", decided_by="nobody")
        if answer == "later":
            return Answer(decision="unanswered", decided_by=this_person())
        return Answer(decision="allow-once" if answer == "yes" else "deny", decided_by=this_person())


def _rows(question: Question, workspace: Path | None) -> Iterator[Row]:
    yield Row("")
    yield Row("Approval needed" + (f" (line {question.line})" if question.line else ""), bold=True)
    yield Row("  Tool:   ", as_name(question.tool))
    yield Row("  Risk:   ", f"{question.risk.value} ({question.risk.level})")
    yield Row("  Reason: ", one_line(question.reason))
    yield from call_rows(question.tool, question.arguments, question.runs, workspace)
