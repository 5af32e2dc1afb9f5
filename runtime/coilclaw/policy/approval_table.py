"""The table of approvals: its form, and reading rows of it that somebody may have written over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.policy.approval import Approval
from coilclaw.sdk import Risk
from coilclaw.store import ARRIVAL, KEYED, Migration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coilclaw.store import Database

__all__ = ["APPROVALS", "COLUMNS", "DamagedRow", "read_approvals"]

_WITH_EVIDENCE: Final = Migration(
    4,
    "approvals-with-evidence",
    replaces=("approvals",),
    # Also for a database that has the first form of these tables. What was open there stays open, but for windows; a
    # yes that was not used is asked for again, because its receipt does not say what it was given to; a no stays.
    up=f"""
    CREATE TABLE IF NOT EXISTS approvals (
        id TEXT PRIMARY KEY,
        run_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        conversation_id TEXT,
        tool TEXT NOT NULL,
        tool_version TEXT NOT NULL,
        args_hash TEXT NOT NULL,
        policy_hash TEXT NOT NULL,
        risk TEXT NOT NULL,
        reason TEXT NOT NULL,
        line INTEGER,
        status TEXT NOT NULL CHECK (status IN ('pending', 'granted', 'denied', 'expired', 'consumed')),
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        decided_by TEXT,
        decided_at INTEGER
    );
    ALTER TABLE approvals ADD COLUMN decided_after INTEGER;
    ALTER TABLE approvals ADD COLUMN note TEXT;
    ALTER TABLE approvals ADD COLUMN runs_hash TEXT;
    UPDATE approvals SET status = 'pending', decided_by = NULL, decided_at = NULL WHERE status = 'granted';
    CREATE INDEX IF NOT EXISTS approvals_of_calls ON approvals (run_id, number);
    CREATE INDEX IF NOT EXISTS approvals_by_status ON approvals (status, created_at);
    DROP TABLE IF EXISTS grants;
    CREATE TABLE grants (
        id TEXT PRIMARY KEY,
        opened_after INTEGER NOT NULL,
        uses_left INTEGER NOT NULL,
        expires_at INTEGER NOT NULL
    ) {KEYED};
    """,  # noqa: S608
)
APPROVALS: Final = (
    _WITH_EVIDENCE,
    Migration(
        9,
        "approvals-in-order",
        f"""
        ALTER TABLE approvals ADD COLUMN place INTEGER;
        UPDATE approvals SET place = {ARRIVAL};
        CREATE UNIQUE INDEX approvals_by_place ON approvals (place);
        """,  # noqa: S608
    ),
)
"""What a window lets through is in the receipt of its opening; the table only says where to look, and counts."""

COLUMNS: Final = (
    "id, run_id, number, call_id, conversation_id, tool, tool_version, args_hash, policy_hash, risk, reason, line, "
    "status, created_at, expires_at, decided_by, decided_at, decided_after, note, runs_hash"
)

_NAMES: Final = tuple(name.strip() for name in COLUMNS.split(","))
_NUMBERS: Final = frozenset({"number", "line", "created_at", "expires_at", "decided_at", "decided_after"})
_OPTIONAL: Final = frozenset(
    {"conversation_id", "line", "decided_by", "decided_at", "decided_after", "note", "runs_hash"}
)
_RISKS: Final = frozenset(each.value for each in Risk)
_LAST_MOMENT: Final = 2**40


class DamagedRow(NamedTuple):
    """A row that no release has written like this."""

    approval_id: str


def read_approvals(
    database: Database, where: str, values: tuple[str | int | None, ...], moment: int
) -> Iterator[Approval | DamagedRow]:
    """Rows of the table, as they stand at a moment. What ran out of time is expired, whatever the table says."""
    for (place,) in database.read(f"SELECT place FROM approvals WHERE {where}", values):  # noqa: S608
        # Each on its own, because text that is none ends the reading of all.
        try:
            rows = database.read(f"SELECT {COLUMNS} FROM approvals WHERE place = ?", (place,))  # noqa: S608
        except UnicodeDecodeError:
            rows = []
        if not rows:
            yield DamagedRow(f"the approval in place {place!r}")
        for row in rows:
            fields = dict(zip(_NAMES, row, strict=True))
            if not all(_fits(name, value) for name, value in fields.items()):
                known = fields["id"]
                yield DamagedRow(known if isinstance(known, str) else f"the approval in place {place!r}")
                continue
            if fields["status"] in ("pending", "granted") and fields["expires_at"] <= moment:
                fields["status"] = "expired"
            yield Approval(**fields)


def _fits(name: str, value: Any) -> bool:
    if value is None:
        return name in _OPTIONAL
    if name in _NUMBERS:
        return type(value) is int and 0 <= value <= _LAST_MOMENT
    return isinstance(value, str) and (name != "risk" or value in _RISKS)
