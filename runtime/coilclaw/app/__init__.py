"""The public API: one runtime under every surface. Each name is imported when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coilclaw.app.app import CoilClaw
    from coilclaw.app.approvals import ApprovalRequest, Approvals, Windows
    from coilclaw.app.engines import Engines
    from coilclaw.app.errors import AppClosed, WouldBlock
    from coilclaw.app.estop import Estop, StopChange
    from coilclaw.app.examples import Trial, try_example
    from coilclaw.app.handle import RunHandle
    from coilclaw.app.notices import Notices
    from coilclaw.app.quarantine import HeldFile, Quarantine
    from coilclaw.app.receipts import Receipts
    from coilclaw.app.report import CallReport, Report, UnknownCall
    from coilclaw.app.runs import Runs
    from coilclaw.app.servers import open_servers, server_specs
    from coilclaw.app.services import make_policy
    from coilclaw.app.stores import Stores, open_stores, restart_log
    from coilclaw.app.toolbox import Toolbox, installed_registry
    from coilclaw.app.tools import Tools
    from coilclaw.bridge import Caller
    from coilclaw.policy import Window
    from coilclaw.runs import ApprovedPlan, Comparison, Rehearsal
    from coilclaw.sandbox import Deadline, Limits

__all__ = [
    "AppClosed",
    "ApprovalRequest",
    "Approvals",
    "ApprovedPlan",
    "CallReport",
    "Caller",
    "CoilClaw",
    "Comparison",
    "Deadline",
    "Engines",
    "Estop",
    "HeldFile",
    "Limits",
    "Notices",
    "Quarantine",
    "Receipts",
    "Rehearsal",
    "Report",
    "RunHandle",
    "Runs",
    "StopChange",
    "Stores",
    "Toolbox",
    "Tools",
    "Trial",
    "UnknownCall",
    "Window",
    "Windows",
    "WouldBlock",
    "installed_registry",
    "make_policy",
    "open_servers",
    "open_stores",
    "restart_log",
    "server_specs",
    "try_example",
]

_MODULES = {
    "AppClosed": "coilclaw.app.errors",
    "ApprovalRequest": "coilclaw.app.approvals",
    "Approvals": "coilclaw.app.approvals",
    "ApprovedPlan": "coilclaw.runs",
    "CallReport": "coilclaw.app.report",
    "Caller": "coilclaw.bridge",
    "CoilClaw": "coilclaw.app.app",
    "Comparison": "coilclaw.runs",
    "Deadline": "coilclaw.sandbox",
    "Engines": "coilclaw.app.engines",
    "Estop": "coilclaw.app.estop",
    "HeldFile": "coilclaw.app.quarantine",
    "Limits": "coilclaw.sandbox",
    "Notices": "coilclaw.app.notices",
    "Quarantine": "coilclaw.app.quarantine",
    "Receipts": "coilclaw.app.receipts",
    "Rehearsal": "coilclaw.runs",
    "Report": "coilclaw.app.report",
    "RunHandle": "coilclaw.app.handle",
    "Runs": "coilclaw.app.runs",
    "StopChange": "coilclaw.app.estop",
    "Stores": "coilclaw.app.stores",
    "Toolbox": "coilclaw.app.toolbox",
    "Tools": "coilclaw.app.tools",
    "Trial": "coilclaw.app.examples",
    "UnknownCall": "coilclaw.app.report",
    "Window": "coilclaw.policy",
    "Windows": "coilclaw.app.approvals",
    "WouldBlock": "coilclaw.app.errors",
    "installed_registry": "coilclaw.app.toolbox",
    "make_policy": "coilclaw.app.services",
    "open_servers": "coilclaw.app.servers",
    "open_stores": "coilclaw.app.stores",
    "restart_log": "coilclaw.app.stores",
    "server_specs": "coilclaw.app.servers",
    "try_example": "coilclaw.app.examples",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
