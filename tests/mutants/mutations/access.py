"""Mutations of access: tokens, links and sessions."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_ATTACKS: Final = "tests/gateway/test_attacks.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.access.api_tokens:ApiTokens.find",
        'if found.status(self._clock()) == "valid" else None',
        "if True else None",
        f"{_ATTACKS} -k expired_revoked",
        "expired and revoked tokens are refused",
    ),
    Mutation(
        "coilclaw.access.credential:Credential.matches",
        "hmac.compare_digest(self.hash, stored)",
        "True",
        f"{_ATTACKS} -k expired_revoked",
        "the secret of a token counts, not its id alone",
    ),
    Mutation(
        "coilclaw.access.sessions:Sessions.exchange",
        '"DELETE FROM session_links WHERE link_id = ? RETURNING link_id"',
        '"SELECT link_id FROM session_links WHERE link_id = ?"',
        f"{_ATTACKS} -k works_once",
        "a link works once",
    ),
)
