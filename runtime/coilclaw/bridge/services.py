"""What the bridges of one process share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coilclaw.bridge.handlers import Handlers
from coilclaw.policy import ApprovalStore, Approver, Policy
from coilclaw.receipts import ReceiptLog
from coilclaw.sdk import Bounds, Tool
from coilclaw.store import Database
from coilclaw.trust import WriteGuard

__all__ = ["Services"]


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything a bridge needs that does not belong to one run."""

    log: ReceiptLog
    policy: Policy
    approver: Approver
    handlers: Handlers
    workspace: Path
    secret: Callable[[str], str | None]
    bounds: Bounds = field(default_factory=Bounds)
    settings: Callable[[str], Mapping[str, str]] = lambda integration: {}
    channel: str = "cli"
    """Where the run comes from, for rules about that."""
    tool_seconds: float = 30.0
    response_bytes: int = 1024 * 1024
    database: Database | None = None
    """Where journals are kept. Without it, runs cannot wait, be resumed or be replayed."""
    book: ApprovalStore | None = None
    """Where questions wait for an answer. Without it, a question nobody can be asked at once is a no."""
    stays: Callable[[], bool] = lambda: False
    """Wait in this process for the answers of people elsewhere, instead of ending the run to be resumed."""
    stop: Callable[[], str | None] | None = None
    """Says why no tool may be called, as long as the operator has stopped everything; looked at with every call."""
    stand_in: Callable[[Tool], bytes] | None = None
    """For a rehearsal: what could change something, or would be asked about, is answered with this and not run."""
    progress: Callable[[str, str], None] = lambda tool, message: None
    guard: WriteGuard | None = None
    """Holds back what calls change under `tools/`; without it nothing there can be loaded as a tool."""
