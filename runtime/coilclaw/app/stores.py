"""The stores of a home: the receipt log, and beside it trust, approvals and journals in one database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from coilclaw.app.notices import Notices
from coilclaw.policy import ApprovalStore
from coilclaw.receipts import Draft, ReceiptLog, found_log, now, refuse_without_log
from coilclaw.receipts import restart_log as begin_in_place
from coilclaw.runs import MIGRATIONS
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import Database
from coilclaw.trust import TrustLedger

if TYPE_CHECKING:
    from coilclaw.config import Settings

__all__ = ["Stores", "make_home", "open_stores", "restart_log"]


class Stores(Frozen):
    """Everything of a home that is kept on disk. Closed by whoever opened it."""

    database: Database
    log: ReceiptLog
    approvals: ApprovalStore

    def trust(self, workspace: Path) -> TrustLedger:
        """Which tool files of a workspace a person stands behind."""
        return TrustLedger(self.database, self.log, workspace.resolve() / "tools")


@contextmanager
def open_stores(
    settings: Settings, *, patience: Callable[[], float] | None = None, notices: Notices | None = None
) -> Iterator[Stores]:
    """Open the stores of a home, which is made if it does not exist.

    `patience` says for how many seconds another process that writes to the database is waited for.
    """
    receipts, busy = settings.config.receipts, (notices or Notices()).busy
    make_home(settings)
    refuse_without_log(receipts.path, receipts.key_path)
    waits = {} if patience is None else {"patience": patience}
    with (
        Database(receipts.path, MIGRATIONS, waiting=lambda: busy(receipts.path), **waits) as database,
        ReceiptLog(database, found_log(database, receipts.key_path)) as log,
    ):
        yield Stores(database=database, log=log, approvals=ApprovalStore(database, log))


def make_home(settings: Settings) -> None:
    """Make the home folder, private to its owner, unless it is there."""
    try:
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise OperatorError(
            f"cannot create CoilClaw's home folder {settings.home}: {error.strerror}",
            hint="set COILCLAW_HOME to another one",
        ) from None


def restart_log(settings: Settings, *, decided_by: str) -> tuple[Path, Sequence[str]]:
    """Begin a new log in place of one that is lost; the name the old key is kept under, and what is quarantined."""
    from coilclaw.workspace_tools import Sources

    receipts, root = settings.config.receipts, settings.config.workspace_dir.resolve() / "tools"
    tree = Sources(root).digests()
    with Database(receipts.path, MIGRATIONS) as database, ReceiptLog(database, b"") as log:
        TrustLedger(database, log, root).hold_back(tree)
        facts = {"decided_by": decided_by, "quarantined": len(tree)}
        kept = begin_in_place(database, receipts.key_path, Draft("log.restarted", "allowed", now(), payload=facts))
    return kept, sorted(tree)
