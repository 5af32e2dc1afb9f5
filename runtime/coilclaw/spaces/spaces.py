"""The table of spaces, and the folder that each of them has."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.spaces.errors import BadSpace, NoSuchSpace, SpaceArchived
from coilclaw.store import KEYED, checked_limit, cursor_at, position_of

if TYPE_CHECKING:
    from coilclaw.spaces.files import SpaceFiles
    from coilclaw.store import Database

__all__ = ["Space", "SpacePage", "Spaces", "create_space_tables"]

_SPACES: Final = f"""
    CREATE TABLE IF NOT EXISTS spaces (
        space_id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        skill TEXT,
        created_at TEXT NOT NULL,
        archived_at TEXT
    ) {KEYED};
"""
_COLUMNS: Final = "space_id, name, skill, created_at, archived_at"
_ID: Final = re.compile(r"space-[0-9a-f]{21}")
_SKILL: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_LONGEST_NAME: Final = 200


def create_space_tables(connection: Any) -> None:
    """Make the table of spaces."""
    connection.execute(_SPACES)


class Space(Frozen):
    """A container of work: files, conversations, and what later parts keep in it."""

    id: str
    name: str
    skill: str | None = None
    """The skill that its work begins with."""
    created_at: str
    archived_at: str | None = None

    def facts(self) -> dict[str, Any]:
        """The space as JSON data."""
        return asdict(self)


class SpacePage(Frozen):
    """Some spaces, the newest first, and the cursor of those that follow; None if there are none."""

    spaces: Sequence[Space]
    cursor: str | None

    def __iter__(self) -> Iterator[Space]:
        return iter(self.spaces)


class Spaces:
    """Every space of a home. Thread-safe, and shared with other processes that use the same file."""

    def __init__(self, database: Database, folder: Path) -> None:
        """`folder` has one folder for each space; it is made when the first one is."""
        self._database = database
        self._folder = folder

    def create(self, name: str, *, skill: str | None = None) -> Space:
        """Make a space with an empty folder. Raises BadSpace."""
        if skill is not None and not _SKILL.fullmatch(skill):
            raise BadSpace("a skill is named by lower-case letters, digits, '.', '_' and '-', at most 64 of them")
        made = Space(
            # Sortable by time, as other ids are.
            id=f"space-{time.time_ns() // 1_000_000:011x}{secrets.token_hex(5)}",
            name=_valid_name(name),
            skill=skill,
            created_at=_now(),
        )
        try:
            # First: a folder without a row is nothing, and a row without a folder is a broken space.
            (self._folder / made.id).mkdir(parents=True, mode=0o700)
        except OSError as error:
            raise OperatorError(
                f"cannot make the folder of a project in {self._folder}: {error.strerror}",
                hint="set COILCLAW_DATA_DIR to another folder",
            ) from None
        with self._database.transaction() as connection:
            connection.execute(
                f"INSERT INTO spaces ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608
                (made.id, made.name, made.skill, made.created_at, made.archived_at),
            )
        return made

    def get(self, space_id: str, *, active: bool = False) -> Space:
        """Return a space by its id. Raises NoSuchSpace; with `active`, SpaceArchived for one that is archived."""
        # An id names a folder: nothing but an id of ours is ever looked for.
        rows = (
            self._database.read(f"SELECT {_COLUMNS} FROM spaces WHERE space_id = ?", (space_id,))  # noqa: S608
            if _ID.fullmatch(space_id)
            else []
        )
        if not rows:
            raise NoSuchSpace(space_id)
        found = _space(rows[0])
        if active and found.archived_at is not None:
            raise SpaceArchived(space_id)
        return found

    def list(self, *, archived: bool = False, limit: int = 50, cursor: str | None = None) -> SpacePage:
        """Return spaces, the newest first: those in use, or those that are archived."""
        limit = checked_limit(limit)
        before = "~" if cursor is None else position_of("spaces", cursor)
        which = "IS NOT NULL" if archived else "IS NULL"
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM spaces WHERE space_id < ? AND archived_at {which} "  # noqa: S608
            "ORDER BY space_id DESC LIMIT ?",
            (before, limit + 1),
        )
        page = [_space(row) for row in rows[:limit]]
        return SpacePage(spaces=page, cursor=cursor_at("spaces", page[-1].id) if len(rows) > limit else None)

    def change(self, space_id: str, *, name: str | None = None, archived: bool | None = None) -> Space:
        """Rename, archive or restore a space, and return it as it is now. Raises NoSuchSpace and BadSpace."""
        valid = None if name is None else _valid_name(name)
        with self._database.transaction() as connection:
            self.get(space_id)
            if valid is not None:
                connection.execute("UPDATE spaces SET name = ? WHERE space_id = ?", (valid, space_id))
            if archived is not None:
                connection.execute(
                    "UPDATE spaces SET archived_at = ? WHERE space_id = ?", (_now() if archived else None, space_id)
                )
        return self.get(space_id)

    def folder(self, space_id: str) -> Path:
        """The folder of a space, with links resolved. Raises NoSuchSpace, also if somebody removed the folder."""
        self.get(space_id)
        folder = self._folder.resolve() / space_id
        if folder.is_symlink() or not folder.is_dir():
            raise NoSuchSpace(space_id)
        return folder

    def files(self, space_id: str) -> SpaceFiles:
        """The files of a space. Raises NoSuchSpace."""
        from coilclaw.spaces.files import SpaceFiles

        return SpaceFiles(self.folder(space_id))


def _valid_name(name: str) -> str:
    text = name.strip()
    if not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise BadSpace(f"a project's name is 1 to {_LONGEST_NAME} printable characters on one line")
    return text


def _space(row: tuple[Any, ...]) -> Space:
    space_id, name, skill, created_at, archived_at = row
    return Space(id=space_id, name=name, skill=skill, created_at=created_at, archived_at=archived_at)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
