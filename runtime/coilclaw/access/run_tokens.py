"""The table of run tokens: what a run's own commands send, good for that run's project and operations alone."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from coilclaw.access.credential import mint, read_credential
from coilclaw.access.errors import BadGrant
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import KEYED

if TYPE_CHECKING:
    from coilclaw.store import Database

__all__ = ["RUN_TOKENS", "RunToken", "RunTokens"]

RUN_TOKENS: Final = f"""
    CREATE TABLE run_tokens (
        token_id TEXT PRIMARY KEY,
        run_id TEXT NOT NULL,
        project_id TEXT NOT NULL,
        grants TEXT NOT NULL,
        hash TEXT NOT NULL,
        expires_at BIGINT NOT NULL
    ) {KEYED};
    CREATE INDEX run_tokens_by_run ON run_tokens (run_id);
"""

_KIND: Final = "ccrun"
_SECONDS: Final = 15 * 60
_OPERATION: Final = re.compile(r"[a-z][a-z0-9-]{0,63}:[a-z][a-z0-9-]{0,63}")
_COLUMNS: Final = "token_id, run_id, project_id, grants, expires_at"


class RunToken(Frozen):
    """A run's token without its secret."""

    token_id: str
    run_id: str
    project_id: str
    operations: tuple[str, ...]
    """What it may do, each as `endpoint:operation`, such as `live-artifacts:create`."""
    expires_at: int
    """Seconds since 1970."""

    def allows(self, operation: str) -> bool:
        """Whether it may do this."""
        return operation in self.operations


class RunTokens:
    """Mints, checks, extends and revokes the tokens of runs."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def mint(self, run_id: str, project_id: str, operations: Iterable[str], *, seconds: int = _SECONDS) -> str:
        """Return the text of a new token for a run. Raises BadGrant."""
        wanted = sorted(set(operations))
        if wrong := [each for each in wanted if not _OPERATION.fullmatch(each)]:
            raise BadGrant(f"{wrong[0][:100]!r} is not an operation, such as `live-artifacts:create`")
        if not run_id or not project_id or seconds < 1:
            raise BadGrant("a run token needs a run, a project and some seconds to live")
        credential, now = mint(_KIND), int(self._clock())
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM run_tokens WHERE expires_at <= ?", (now,))
            connection.execute(
                f"INSERT INTO run_tokens ({_COLUMNS}, hash) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
                (credential.id, run_id, project_id, json.dumps(wanted), now + seconds, credential.hash),
            )
        return credential.text

    def find(self, text: str) -> RunToken | None:
        """Return the token that a text is, if it is valid now."""
        credential = read_credential(_KIND, text)
        if credential is None:
            return None
        rows = self._database.read(
            f"SELECT {_COLUMNS}, hash FROM run_tokens WHERE token_id = ?",  # noqa: S608
            (credential.id,),
        )
        if not rows or not credential.matches(rows[0][-1]):
            return None
        found = _token(rows[0])
        return found if self._clock() < found.expires_at else None

    def extend(self, run_id: str, *, seconds: int = _SECONDS) -> None:
        """Let the tokens of a run that still runs live on. One that has expired stays expired."""
        now = int(self._clock())
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE run_tokens SET expires_at = ? WHERE run_id = ? AND expires_at > ? AND expires_at < ?",
                (now + seconds, run_id, now, now + seconds),
            )

    def revoke(self, run_id: str) -> None:
        """Revoke the tokens of a run that is over."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM run_tokens WHERE run_id = ?", (run_id,))


def _token(row: tuple[Any, ...]) -> RunToken:
    token_id, run_id, project_id, grants, expires_at = row[:5]
    return RunToken(
        token_id=token_id,
        run_id=run_id,
        project_id=project_id,
        operations=tuple(json.loads(grants)),
        expires_at=expires_at,
    )
