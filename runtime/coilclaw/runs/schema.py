"""Every table of the runtime: what a database is opened with."""

from __future__ import annotations

from typing import Final

from coilclaw.bridge import JOURNAL, RUNS
from coilclaw.policy import APPROVALS
from coilclaw.receipts import MIGRATIONS as RECEIPTS
from coilclaw.store import Migration
from coilclaw.trust import MIGRATIONS as TRUST

__all__ = ["MIGRATIONS"]

MIGRATIONS: Final[tuple[Migration, ...]] = (*RECEIPTS, *TRUST, *APPROVALS, *RUNS, *JOURNAL)
