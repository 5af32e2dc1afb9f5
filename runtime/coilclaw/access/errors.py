"""Errors of access.

CoilClawError
└── OperatorError
    ├── BadGrant       a token or session that cannot be given as asked for
    └── NoSuchToken    there is no API token of this id
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["BadGrant", "NoSuchToken"]


class BadGrant(OperatorError):
    """A token or session with a name, a lifetime or operations that none may have."""

    code = "bad_grant"


class NoSuchToken(OperatorError):
    """There is no API token of this id."""

    code = "no_such_token"

    def __init__(self, token_id: str) -> None:
        super().__init__(f"there is no API token {token_id[:100]!r}", hint="`coilclaw token list` shows them")
