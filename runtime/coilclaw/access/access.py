"""Access: everything that a server of this home lets in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from coilclaw.access.api_tokens import API_TOKENS, ApiTokens
from coilclaw.access.run_tokens import RUN_TOKENS, RunTokens
from coilclaw.access.sessions import SESSIONS, Sessions

if TYPE_CHECKING:
    from coilclaw.store import Database

__all__ = ["Access", "create_access_tables"]


def create_access_tables(connection: Any) -> None:
    """Make the tables of API tokens, sessions and run tokens."""
    for statements in (API_TOKENS, SESSIONS, RUN_TOKENS):
        connection.execute(statements)


class Access:
    """API tokens, sessions and run tokens of a home. Thread-safe, and shared with other processes of the home."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self.tokens = ApiTokens(database, clock)
        self.sessions = Sessions(database, clock)
        self.run_tokens = RunTokens(database, clock)
