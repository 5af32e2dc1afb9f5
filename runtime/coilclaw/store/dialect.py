"""The words of SQL that SQLite and PostgreSQL spell differently.

Statements elsewhere use what both share, and take these from here. A second store brings the same names with its own
spelling; see docs/decisions/0018-shared-sql.md.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ARRIVAL", "BYTES", "EACH", "KEYED"]

BYTES: Final = "BLOB"
"""The type of bytes, in a table and in a CAST. PostgreSQL: BYTEA."""

KEYED: Final = "WITHOUT ROWID"
"""Behind the columns of a table: rows are stored in the order of the primary key. PostgreSQL: nothing."""

EACH: Final = "SELECT value FROM json_each(?)"
"""Every text of one parameter, which is a JSON list. PostgreSQL: SELECT jsonb_array_elements_text(?)."""

ARRIVAL: Final = "rowid"
"""The order in which rows came into a table that is not KEYED; for migrations of old tables alone."""
