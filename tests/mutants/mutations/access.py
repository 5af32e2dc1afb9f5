"""Mutations of access: what is stored, and when it ends."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_TESTS: Final = "tests/access/test_access.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.access.credential:Credential.hash",
        "hashlib.sha256(self.text.encode()).hexdigest()",
        "self.text",
        _TESTS + " -k at_rest",
        "only hashes are stored",
    ),
    Mutation(
        "coilclaw.access.credential:Credential.matches",
        "hmac.compare_digest(self.hash, stored)",
        "True",
        _TESTS + " -k another_secret",
        "an id alone proves nothing",
    ),
    Mutation(
        "coilclaw.access.sessions:Sessions.exchange",
        'connection.execute("DELETE FROM session_links WHERE link_id = ?", (credential.id,))',
        "pass",
        _TESTS + " -k race",
        "a link is used once",
    ),
    Mutation(
        "coilclaw.access.sessions:Sessions.find",
        " or now - found.used_at >= _IDLE_SECONDS",
        "",
        _TESTS + " -k idle",
        "an idle session ends",
    ),
    Mutation(
        "coilclaw.access.run_tokens:RunTokens.find",
        "if self._clock() < found.expires_at else None",
        "",
        _TESTS + " -k bound_and_ends",
        "the token of a run expires",
    ),
)
