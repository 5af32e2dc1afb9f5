"""Errors of runs.

OperatorError (sdk)
├── NoSuchRun          the id names no run with a journal
├── NotCancellable     the run is over, or under way in a process
└── NotResumable       the run is over, under way elsewhere, or was made by another engine build
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["NoSuchRun", "NotCancellable", "NotResumable"]


class NoSuchRun(OperatorError):
    """Nothing is known about this run."""

    code = "no_such_run"


class NotResumable(OperatorError):
    """The run cannot go on here and now; the message says why."""

    code = "not_resumable"


class NotCancellable(OperatorError):
    """The run is over, or a process has it."""

    code = "not_cancellable"
