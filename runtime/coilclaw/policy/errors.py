"""Errors of policy and approvals.

OperatorError (sdk)
├── NoSuchApproval      the id names no question
└── AlreadyDecided      someone else answered first, or it is too late
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["AlreadyDecided", "NoSuchApproval"]


class NoSuchApproval(OperatorError):
    """Nothing was asked under this id."""

    code = "no_such_approval"


class AlreadyDecided(OperatorError):
    """A question has one answer."""

    code = "already_decided"
