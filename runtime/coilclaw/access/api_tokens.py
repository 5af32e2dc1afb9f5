"""The table of API tokens: programs send one with each request."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.access.credential import checked_name, mint, read_credential
from coilclaw.access.errors import BadGrant, NoSuchToken
from coilclaw.access.scope import Scope
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import KEYED

if TYPE_CHECKING:
    from coilclaw.store import Database

__all__ = ["API_TOKENS", "ApiToken", "ApiTokens", "NewApiToken"]

API_TOKENS: Final = f"""
    CREATE TABLE api_tokens (
        token_id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        scope TEXT NOT NULL,
        hash TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT,
        revoked_at BIGINT
    ) {KEYED};
"""

_KIND: Final = "ccapi"
_COLUMNS: Final = "token_id, name, scope, created_at, expires_at, revoked_at"


class ApiToken(Frozen):
    """An API token without its secret. Times are seconds since 1970."""

    token_id: str
    name: str
    scope: Scope
    created_at: int
    expires_at: int | None
    revoked_at: int | None

    def status(self, now: float) -> str:
        """`valid`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "valid" if self.expires_at is None or now < self.expires_at else "expired"

    def facts(self, now: float) -> dict[str, Any]:
        """The token as JSON data."""
        return {
            "id": self.token_id,
            "name": self.name,
            "scope": str(self.scope),
            "status": self.status(now),
            "created_at": _iso(self.created_at),
            "expires_at": _iso(self.expires_at),
            "revoked_at": _iso(self.revoked_at),
        }


class NewApiToken(NamedTuple):
    """A token that was just created, and the text to send, which is nowhere else."""

    token: ApiToken
    text: str

    def __repr__(self) -> str:
        return f"NewApiToken({self.token!r})"


class ApiTokens:
    """Creates, checks and revokes API tokens. Any process of the home sees a change at once."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def create(self, scope: Scope, *, name: str | None = None, seconds: float | None = None) -> NewApiToken:
        """Create a token that is valid for so many seconds, or until it is revoked. Without a name it gets its id.

        Raises BadGrant.
        """
        if seconds is not None and not 1 <= seconds <= 100 * 366 * 86400:
            raise BadGrant("a token is valid for at least a second and at most 100 years")
        credential, now = mint(_KIND), int(self._clock())
        made = ApiToken(
            token_id=credential.id,
            name=checked_name(credential.id if name is None else name),
            scope=Scope(scope),
            created_at=now,
            expires_at=None if seconds is None else int(now + seconds),
            revoked_at=None,
        )
        with self._database.transaction() as connection:
            connection.execute(
                f"INSERT INTO api_tokens ({_COLUMNS}, hash) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                (made.token_id, made.name, str(made.scope), now, made.expires_at, None, credential.hash),
            )
        return NewApiToken(made, credential.text)

    @contextmanager
    def temporary(self, scope: Scope, *, name: str | None, seconds: float) -> Iterator[str]:
        """The text of a token that is gone at the end, for a command that needs one for itself."""
        made = self.create(scope, name=name, seconds=seconds)
        try:
            yield made.text
        finally:
            with self._database.transaction() as connection:
                connection.execute("DELETE FROM api_tokens WHERE token_id = ?", (made.token.token_id,))

    def find(self, text: str) -> ApiToken | None:
        """Return the token that a text is, if it is valid now."""
        credential = read_credential(_KIND, text)
        if credential is None:
            return None
        rows = self._database.read(
            f"SELECT {_COLUMNS}, hash FROM api_tokens WHERE token_id = ?",  # noqa: S608
            (credential.id,),
        )
        if not rows or not credential.matches(rows[0][-1]):
            return None
        found = _token(rows[0][:-1])
        return found if found.status(self._clock()) == "valid" else None

    def list(self) -> list[ApiToken]:
        """Return all tokens, the newest first; those that no longer count too."""
        sql = f"SELECT {_COLUMNS} FROM api_tokens ORDER BY created_at DESC, token_id"  # noqa: S608
        return [_token(row) for row in self._database.read(sql)]

    def revoke(self, token_id: str) -> ApiToken:
        """Revoke a token; one that is revoked already stays as it is. Raises NoSuchToken."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "UPDATE api_tokens SET revoked_at = COALESCE(revoked_at, ?) "  # noqa: S608
                f"WHERE token_id = ? RETURNING {_COLUMNS}",
                (int(self._clock()), token_id),
            ).fetchall()
        if not rows:
            raise NoSuchToken(token_id)
        return _token(rows[0])


def _token(row: tuple[Any, ...]) -> ApiToken:
    token_id, name, scope, created_at, expires_at, revoked_at = row
    return ApiToken(
        token_id=token_id,
        name=name,
        scope=Scope(scope),
        created_at=created_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
    )


def _iso(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
