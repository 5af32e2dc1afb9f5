"""One embedded SQLite file and its migrations."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.store.cursor import cursor_at, position_of
    from coilclaw.store.database import Database
    from coilclaw.store.dialect import ARRIVAL, BYTES, EACH, KEYED
    from coilclaw.store.errors import BadCursor, StoreError, StoreUnwritable
    from coilclaw.store.migrations import Migration
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "cursor": "cursor_at position_of",
            "database": "Database",
            "dialect": "ARRIVAL BYTES EACH KEYED",
            "errors": "BadCursor StoreError StoreUnwritable",
            "migrations": "Migration",
        },
    )

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
