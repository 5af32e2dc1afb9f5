"""Errors about runs that are looked up by their ids.

OperatorError (sdk)
├── NoSuchRun          the id names no run with a journal
└── NotResumable       the run is over, under way elsewhere, damaged, or was made by another engine build
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["NoSuchRun", "NotResumable"]


class NoSuchRun(OperatorError):
    """Nothing is known about this run."""

    code = "no_such_run"


class NotResumable(OperatorError):
    """The run cannot be resumed here and now; the message says why."""

    code = "not_resumable"
