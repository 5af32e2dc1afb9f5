"""One embedded SQLite file and its migrations."""

from coilclaw.store.database import Database, Migration
from coilclaw.store.errors import StoreError, StoreUnwritable

__all__ = ["Database", "Migration", "StoreError", "StoreUnwritable"]
