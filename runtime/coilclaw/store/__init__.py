"""One embedded SQLite file and its migrations."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.store.cursor import checked_limit, cursor_at, position_of
    from coilclaw.store.database import Database
    from coilclaw.store.dialect import ARRIVAL, BYTES, EACH, KEYED
    from coilclaw.store.errors import BadCursor, BadLimit, StoreError, StoreUnwritable
    from coilclaw.store.full_text import FullTextIndex, words_of
    from coilclaw.store.migrations import Migration
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "cursor": "checked_limit cursor_at position_of",
            "database": "Database",
            "dialect": "ARRIVAL BYTES EACH KEYED",
            "errors": "BadCursor BadLimit StoreError StoreUnwritable",
            "full_text": "FullTextIndex words_of",
            "migrations": "Migration",
        },
    )

__all__ = [
    "ARRIVAL",
    "BYTES",
    "EACH",
    "KEYED",
    "BadCursor",
    "BadLimit",
    "Database",
    "FullTextIndex",
    "Migration",
    "StoreError",
    "StoreUnwritable",
    "checked_limit",
    "cursor_at",
    "position_of",
    "words_of",
]
