"""Errors of the receipt log.

EvidenceUnavailable (sdk)
└── LogUnwritable         nothing more can be appended in this process

CoilClawError (sdk)
└── Conflict              another process was faster; nothing was written, and the log goes on

OperatorError (sdk)
├── NoSuchReceipt         the receipt asked for is not in the log
└── DamagedReceipt        a stored receipt cannot be read any more
"""

from __future__ import annotations

from coilclaw.sdk import CoilClawError, EvidenceUnavailable, OperatorError

__all__ = ["Conflict", "DamagedReceipt", "LogUnwritable", "NoSuchReceipt"]


class LogUnwritable(EvidenceUnavailable):
    """A receipt could not be made durable; the log refuses everything after it."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"receipts cannot be written, so no tool runs: {reason}",
            hint="free the disk or fix the permissions, then start again; `coilclaw doctor` checks the log",
        )


class Conflict(CoilClawError):
    """What an append claimed was taken already."""

    code = "conflict"


class NoSuchReceipt(OperatorError):
    """The id or number names nothing in this log."""

    code = "no_such_receipt"


class DamagedReceipt(OperatorError):
    """What is stored is not a receipt."""

    code = "damaged_receipt"
