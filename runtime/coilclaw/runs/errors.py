"""Errors of runs, beside those of looking one up (`bridge/errors.py`).

OperatorError (sdk)
├── NotCancellable     the run is over, or under way in a process
└── NotRetryable       the run is not over, belongs elsewhere, or its receipts do not prove what it did
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["NotCancellable", "NotRetryable"]


class NotCancellable(OperatorError):
    """The run is over, or a process has it."""

    code = "not_cancellable"


class NotRetryable(OperatorError):
    """The run cannot be retried; the message says why."""

    code = "not_retryable"
