"""Every table of the runtime: what a database is opened with."""

from __future__ import annotations

from typing import Any, Final

from coilclaw.bridge import JOURNAL, RUNS
from coilclaw.policy import APPROVALS
from coilclaw.receipts import MIGRATIONS as RECEIPTS
from coilclaw.store import Migration
from coilclaw.trust import MIGRATIONS as TRUST

__all__ = ["MIGRATIONS"]


def _create_memory(connection: Any) -> None:
    # Loaded when the tables are missing: few commands look into conversations, and all open the database.
    from coilclaw.memory import create_tables

    create_tables(connection)


def _create_sop_runs(connection: Any) -> None:
    from coilclaw.memory import create_sop_tables

    create_sop_tables(connection)


def _create_access(connection: Any) -> None:
    from coilclaw.access import create_access_tables

    create_access_tables(connection)


def _create_ambient(connection: Any) -> None:
    from coilclaw.memory import create_ambient_table

    create_ambient_table(connection)


def _create_spaces(connection: Any) -> None:
    from coilclaw.spaces import create_space_tables

    create_space_tables(connection)


MIGRATIONS: Final[tuple[Migration, ...]] = (
    *RECEIPTS,
    *TRUST,
    *APPROVALS,
    *RUNS,
    *JOURNAL,
    Migration(11, "conversations", _create_memory),
    Migration(12, "sop-runs", _create_sop_runs, replaces=("workflow-runs",)),
    Migration(13, "access", _create_access),
    Migration(14, "spaces", _create_spaces),
    Migration(14, "ambient-conversations", _create_ambient),
)
