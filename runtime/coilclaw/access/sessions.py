"""The tables of one-time links and of the sessions that a browser gets for one.

A link's code is exchanged once, soon. The browser then has two secrets: a cookie, which it sends by itself and which no
script can read, and a header secret, which only a page of this server's own origin can read and send. Cookies know no
ports; the storage that the header secret is kept in does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.access.credential import checked_name, mint, read_credential
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import KEYED

if TYPE_CHECKING:
    from coilclaw.store import Database

__all__ = ["SESSIONS", "NewSession", "Session", "Sessions"]

SESSIONS: Final = f"""
    CREATE TABLE session_links (
        link_id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        hash TEXT NOT NULL,
        expires_at BIGINT NOT NULL
    ) {KEYED};
    CREATE TABLE sessions (
        session_id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        cookie_hash TEXT NOT NULL,
        secret_hash TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        used_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
    ) {KEYED};
"""

_LINK_SECONDS: Final = 10 * 60
_IDLE_SECONDS: Final = 7 * 86400
_LONGEST_SECONDS: Final = 30 * 86400
_NOTED_SECONDS: Final = 60
"""How exactly the last use is known: a write for each request would cost more than the request."""
_LINK: Final = "cclink"
_COOKIE: Final = "ccsession"
_HEADER: Final = "ccheader"


class Session(Frozen):
    """A browser's session. Times are seconds since 1970."""

    session_id: str
    name: str
    created_at: int
    used_at: int
    expires_at: int
    secret_hash: str

    def has_secret(self, text: str) -> bool:
        """Whether a text is this session's header secret."""
        given = read_credential(_HEADER, text)
        return given is not None and given.matches(self.secret_hash)


class NewSession(NamedTuple):
    """A session that was just begun, and its two secrets, which are nowhere else."""

    session: Session
    cookie: str
    secret: str

    def __repr__(self) -> str:
        return f"NewSession({self.session.session_id!r})"


class Sessions:
    """Makes one-time links, and begins, checks and ends the sessions that they are exchanged for."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def make_link(self, name: str, *, seconds: int = _LINK_SECONDS) -> str:
        """Return the code of a new link; whoever exchanges it is recorded under this name. Raises BadGrant."""
        credential, now = mint(_LINK), int(self._clock())
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM session_links WHERE expires_at <= ?", (now,))
            connection.execute(
                "INSERT INTO session_links (link_id, name, hash, expires_at) VALUES (?, ?, ?, ?)",
                (credential.id, checked_name(name), credential.hash, now + seconds),
            )
        return credential.text

    def exchange(self, code: str) -> NewSession | None:
        """Begin a session for the code of a link, which is used up; None if it is not one that counts now."""
        credential, now = read_credential(_LINK, code), int(self._clock())
        if credential is None:
            return None
        # Read first: whoever sends codes that are none does not keep the database from writers.
        rows = self._database.read(
            "SELECT name, hash, expires_at FROM session_links WHERE link_id = ?", (credential.id,)
        )
        if not rows or not credential.matches(rows[0][1]) or now >= rows[0][2]:
            return None
        with self._database.transaction() as connection:
            used = connection.execute(
                "DELETE FROM session_links WHERE link_id = ? RETURNING link_id", (credential.id,)
            ).fetchall()
            if not used:
                return None  # Somebody else was faster.
            connection.execute("DELETE FROM sessions WHERE expires_at <= ? OR used_at <= ?", (now, now - _IDLE_SECONDS))
            return _begin(connection, rows[0][0], now)

    def find(self, cookie: str) -> Session | None:
        """Return the session of a cookie, if it is valid now, and note that it was used."""
        credential, now = read_credential(_COOKIE, cookie), int(self._clock())
        if credential is None:
            return None
        rows = self._database.read(
            "SELECT session_id, name, created_at, used_at, expires_at, secret_hash, cookie_hash "
            "FROM sessions WHERE session_id = ?",
            (credential.id,),
        )
        if not rows or not credential.matches(rows[0][-1]):
            return None
        found = _session(rows[0][:-1])
        if now >= found.expires_at or now - found.used_at >= _IDLE_SECONDS:
            return None
        if now - found.used_at >= _NOTED_SECONDS:
            with self._database.transaction() as connection:
                connection.execute("UPDATE sessions SET used_at = ? WHERE session_id = ?", (now, found.session_id))
        return found

    def end(self, session_id: str) -> None:
        """End a session; its cookie counts no longer."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM sessions WHERE session_id = ?", (session_id,))


def _begin(connection: Any, name: str, now: int) -> NewSession:
    cookie, secret = mint(_COOKIE), mint(_HEADER)
    row = (cookie.id, name, now, now, now + _LONGEST_SECONDS, secret.hash)
    connection.execute(
        "INSERT INTO sessions (session_id, name, created_at, used_at, expires_at, secret_hash, cookie_hash) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*row, cookie.hash),
    )
    return NewSession(_session(row), cookie.text, secret.text)


def _session(row: tuple[Any, ...]) -> Session:
    session_id, name, created_at, used_at, expires_at, secret_hash = row
    return Session(
        session_id=session_id,
        name=name,
        created_at=created_at,
        used_at=used_at,
        expires_at=expires_at,
        secret_hash=secret_hash,
    )
