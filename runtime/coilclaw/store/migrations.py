"""Changes of the schema, each applied once to a database.

The name of a change is its identity: whatever is not yet in `schema_version` is applied. Versions only say which
comes first, and two modules may use the same one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from coilclaw.store.dialect import KEYED

__all__ = ["Migration", "apply_migrations", "missing_migrations", "unknown_migrations"]

Up: TypeAlias = str | Callable[[Any], None]
"""SQL, or a function of the connection, which is inside a transaction."""

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS schema_version "
    f"(name TEXT PRIMARY KEY, version INTEGER NOT NULL, applied_at TEXT NOT NULL) {KEYED}"
)
_OLD_TABLE: Final = f"CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) {KEYED}"
"""Where the names were kept at first. Older code looks there, finds one that it does not know, and refuses the file."""
_MOVED: Final = "schema-version"


@dataclass(frozen=True)
class Migration:
    """One change. `replaces` names earlier ones that this takes the place of, and that older databases have."""

    version: int
    name: str
    up: Up
    replaces: tuple[str, ...] = ()


def missing_migrations(connection: Any, migrations: Sequence[Migration]) -> list[Migration]:
    """Return those that were not applied yet, in the order in which they are to be."""
    applied = _applied(connection)
    return sorted((each for each in migrations if each.name not in applied), key=lambda each: each.version)


def unknown_migrations(connection: Any, migrations: Sequence[Migration]) -> list[str]:
    """Return the names of applied changes that are none of these: a newer version has made them."""
    return sorted(_applied(connection) - {name for each in migrations for name in (each.name, *each.replaces)})


def apply_migrations(connection: Any, migrations: Sequence[Migration]) -> None:
    """Apply those that are missing, inside a transaction."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    connection.execute(_TABLE)
    connection.execute(_OLD_TABLE)
    connection.execute(
        "INSERT INTO schema_version SELECT name, 0, applied_at FROM migrations WHERE name <> ? ON CONFLICT DO NOTHING",
        (_MOVED,),
    )
    connection.execute("INSERT INTO migrations VALUES (?, ?) ON CONFLICT DO NOTHING", (_MOVED, moment))
    for each in missing_migrations(connection, migrations):
        if isinstance(each.up, str):
            connection.execute(each.up)
        else:
            each.up(connection)
        connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", (each.name, each.version, moment))


def _applied(connection: Any) -> set[str]:
    known = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    table = next((name for name in ("schema_version", "migrations") if name in known), None)
    if table is None:
        return set()
    return {str(name) for (name,) in connection.execute(f"SELECT name FROM {table}")}  # noqa: S608
