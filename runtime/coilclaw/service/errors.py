"""What can go wrong with a service.

OperatorError
├── NoSupervisor     nothing on this machine keeps services of a user running
└── ServiceFailed    the program that does refused or failed; carries what it said
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["NoSupervisor", "ServiceFailed"]


class NoSupervisor(OperatorError):
    """Neither systemd nor launchd answers for this user."""

    code = "no_supervisor"


class ServiceFailed(OperatorError):
    """A step of installing, starting or stopping the service failed."""

    code = "service_failed"
