"""One embedded SQLite file and its migrations."""

from coilclaw.store.cursor import cursor_at, position_of
from coilclaw.store.database import Database
from coilclaw.store.dialect import ARRIVAL, BYTES, EACH, KEYED
from coilclaw.store.errors import BadCursor, StoreError, StoreUnwritable
from coilclaw.store.migrations import Migration

__all__ = [
    "ARRIVAL",
    "BYTES",
    "EACH",
    "KEYED",
    "BadCursor",
    "Database",
    "Migration",
    "StoreError",
    "StoreUnwritable",
    "cursor_at",
    "position_of",
]
