"""Services: everything that runs share for as long as the app is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from coilclaw.sdk import Bounds
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.bridge.handlers import Handlers
    from coilclaw.policy import ApprovalStore, Policy
    from coilclaw.receipts import ReceiptLog
    from coilclaw.store import Database
    from coilclaw.trust import WriteGuard

__all__ = ["Services"]


class Services(Frozen):
    """What lives as long as the app. What belongs to one run is its `Caller`."""

    log: ReceiptLog
    database: Database
    """Where the log, the journals and the approvals are."""
    approvals: ApprovalStore
    policy: Policy
    handlers: Handlers
    workspace: Path
    """The folder that file tools work in: that of the workspace, or of a project."""
    secret: Callable[[str], str | None]
    tools_folder: Path | None = None
    """For runs of a project: the folder of tool files, which lies in the workspace and not in the project."""
    bounds: Bounds = field(default_factory=Bounds)
    settings: Callable[[str], Mapping[str, str]] = lambda integration: {}
    tool_seconds: float = 30.0
    response_bytes: int = 1024 * 1024
    stop: Callable[[], str | None] | None = None
    """Says why no tool may be called, as long as the operator has stopped everything; looked at with every call."""
    guard: WriteGuard | None = None
    """Holds back what calls change under `tools/`; without it nothing there can be loaded as a tool."""
