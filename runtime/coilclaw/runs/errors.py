"""Errors of runs, beside those of looking one up (`bridge/errors.py`).

OperatorError (sdk)
└── NotCancellable     the run is over, or under way in a process
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["NotCancellable"]


class NotCancellable(OperatorError):
    """The run is over, or a process has it."""

    code = "not_cancellable"
