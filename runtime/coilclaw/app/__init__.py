"""The public API: one runtime under every surface. Each name is imported when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coilclaw.app.app import CoilClaw
    from coilclaw.app.approvals import ApprovalRequest, Approvals, Windows
    from coilclaw.app.handle import RunHandle
    from coilclaw.app.notices import Notices
    from coilclaw.app.report import CallReport, Report
    from coilclaw.bridge import Caller

__all__ = [
    "ApprovalRequest",
    "Approvals",
    "CallReport",
    "Caller",
    "CoilClaw",
    "Notices",
    "Report",
    "RunHandle",
    "Windows",
]

_MODULES = {
    "ApprovalRequest": "coilclaw.app.approvals",
    "Approvals": "coilclaw.app.approvals",
    "CallReport": "coilclaw.app.report",
    "Caller": "coilclaw.bridge",
    "CoilClaw": "coilclaw.app.app",
    "Notices": "coilclaw.app.notices",
    "Report": "coilclaw.app.report",
    "RunHandle": "coilclaw.app.handle",
    "Windows": "coilclaw.app.approvals",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
