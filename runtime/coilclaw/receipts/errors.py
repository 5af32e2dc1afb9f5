"""Errors of the receipt log.

EvidenceUnavailable (sdk)
├── LogUnwritable         nothing more can be appended in this process
└── UnwritableReceipt     this receipt has no form in the log, which goes on

CoilClawError (sdk)
└── Conflict              another process was faster; nothing was written, and the log goes on

OperatorError (sdk)
├── LogMissing            there is a key, but the log it belongs to is gone
├── NoSuchReceipt         the receipt asked for is not in the log
└── DamagedReceipt        a stored receipt cannot be read any more
"""

from __future__ import annotations

from pathlib import Path

from coilclaw.sdk import CoilClawError, EvidenceUnavailable, OperatorError

__all__ = ["Conflict", "DamagedReceipt", "LogMissing", "LogUnwritable", "NoSuchReceipt", "UnwritableReceipt"]


class LogUnwritable(EvidenceUnavailable):
    """A receipt could not be made durable; the log refuses everything after it."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"receipts cannot be written, so no tool runs: {reason}",
            hint="free the disk or fix the permissions, then start again; `coilclaw doctor` checks the log",
        )


class UnwritableReceipt(EvidenceUnavailable):
    """What was to be appended cannot be written by any log: what it is about does not happen, and the log goes on."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"a receipt ({what}) cannot be written: {reason}")


class Conflict(CoilClawError):
    """What an append claimed was taken already."""

    code = "conflict"


class LogMissing(OperatorError):
    """The log was taken away. What it said about trust and decisions is gone too, so nothing is loaded or run."""

    code = "log_missing"

    def __init__(self, database: Path, key: Path) -> None:
        super().__init__(
            f"the receipt log is missing: its key {key} is there, and {database} holds no log",
            hint=f"restore {database.name} from a backup, or begin a new log with `coilclaw receipt restart`",
        )


class NoSuchReceipt(OperatorError):
    """The id or number names nothing in this log."""

    code = "no_such_receipt"


class DamagedReceipt(OperatorError):
    """What is stored is not what was written."""

    code = "damaged_receipt"

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="`coilclaw receipt verify` and `verify()` say more")
