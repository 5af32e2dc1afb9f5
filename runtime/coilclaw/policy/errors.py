"""Errors of policy and approvals.

OperatorError (sdk)
├── NoSuchApproval      the id names no question
├── NoSuchWindow        the id names no open window
├── OtherCall           the decision was made about another call than the one that waits
├── AlreadyDecided      someone else answered first, or it is too late
└── DamagedApproval     the table does not say what was asked
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name

__all__ = ["AlreadyDecided", "DamagedApproval", "NoSuchApproval", "NoSuchWindow", "OtherCall"]


class NoSuchApproval(OperatorError):
    """Nothing was asked under this id."""

    code = "no_such_approval"


class NoSuchWindow(OperatorError):
    """It was never opened, or is closed already."""

    code = "no_such_window"

    def __init__(self, window_id: str) -> None:
        super().__init__(
            f"there is no open window {window_id!r}",
            hint="`coilclaw approval windows` and `approvals.windows.list()` show those that are open",
        )


class AlreadyDecided(OperatorError):
    """A question has one answer."""

    code = "already_decided"


class OtherCall(OperatorError):
    """The digest of a decision is not that of the call which waits."""

    code = "digest_mismatch"

    def __init__(self, approval_id: str) -> None:
        super().__init__(
            f"what was decided is not what {as_name(approval_id)} asks about now", hint="look at it again, then decide"
        )


class DamagedApproval(OperatorError):
    """What the table says of a question is not what was asked."""

    code = "damaged_approval"

    def __init__(self, approval_id: str) -> None:
        super().__init__(
            f"{as_name(approval_id)} is damaged: the database does not say what the receipt of this question says",
            hint="find out who changed the database; resume the run to be asked again, or cancel it",
        )
