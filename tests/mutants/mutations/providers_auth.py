"""Mutations of auth profiles."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_PROFILES: Final = "tests/providers/auth/test_profiles.py"
_STORE: Final = "tests/providers/auth/test_store.py"
_RESOLUTION: Final = "tests/providers/auth/test_resolution.py"
_ROTATION: Final = "tests/providers/auth/test_rotation.py"
_COMMANDS: Final = "tests/cli/test_auth.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.providers.auth.profiles:ApiKey",
        "key: str = field(repr=False)",
        "key: str",
        _PROFILES,
        "a key is not shown",
    ),
    Mutation(
        "coilclaw.providers.auth.profiles:OAuth",
        "refresh: str = field(repr=False)",
        "refresh: str",
        _PROFILES,
        "a refresh token is not shown",
    ),
    Mutation(
        "coilclaw.providers.auth.profiles:view_of",
        "secret if is_reference(secret) else",
        "secret if True else",
        _PROFILES,
        "a view refers to the secret and does not have it",
    ),
    Mutation(
        "coilclaw.providers.auth.store:ProfileStore.note",
        "change(usage_from(before))",
        "change(Usage())",
        _STORE,
        "what another process noted is not lost",
    ),
    Mutation(
        "coilclaw.providers.auth.store:ProfileStore.note",
        "{**kept, **{",
        "{**{}, **{",
        _STORE,
        "unknown keys are kept",
    ),
    Mutation(
        "coilclaw.providers.auth.store:ProfileStore.add",
        'document["usage"].pop(profile_id, None)',
        "pass",
        _STORE,
        "a new secret has not failed",
    ),
    Mutation(
        "coilclaw.providers.auth.store:_parsed",
        'f"is not JSON (line {error.lineno})"',
        'f"is not JSON ({error.doc})"',
        _STORE,
        "a broken file is not quoted",
    ),
    Mutation(
        "coilclaw.providers.auth.resolution:_candidates",
        "not in asked.names:",
        "is None:",
        _RESOLUTION,
        "a credential never goes to another service",
    ),
    Mutation(
        "coilclaw.providers.auth.resolution:_candidates",
        "() if asked.pinned else references(",
        "references(",
        _RESOLUTION,
        "a pinned profile is used or nothing is",
    ),
    Mutation(
        "coilclaw.providers.auth.resolution:_problem",
        "expires <= known.now",
        "False",
        _RESOLUTION,
        "an expired profile is passed over",
    ),
    Mutation(
        "coilclaw.providers.auth.resolution:resolve",
        "key=lambda each: each[0] != stay_with",
        "key=lambda each: False",
        _ROTATION,
        "whoever began with a credential stays with it",
    ),
    Mutation(
        "coilclaw.providers.auth.rotation:ProfileCredentials.failed",
        "self._note(name, rests)",
        "pass",
        _ROTATION,
        "a credential that failed rests",
    ),
    Mutation(
        "coilclaw.providers.auth.rotation:ProfileCredentials.failed",
        'self._tell("auth.rotated", {**facts, "to": following.profile})',
        "pass",
        _ROTATION,
        "a rotation is recorded",
    ),
    Mutation(
        "coilclaw.providers.auth.rotation:ProfileCredentials.failed",
        "even_resting=False",
        "even_resting=self._even_resting",
        _ROTATION,
        "a refused credential is tried once",
    ),
    Mutation(
        "coilclaw.providers.auth.cooldown:after_failure",
        "rests_until(usage, secret, now=now) or 0.0",
        "0.0",
        _ROTATION,
        "a longer rest stays",
    ),
    Mutation(
        "coilclaw.providers.auth.cooldown:rests_until",
        "usage.mark not in (None, mark_of(secret))",
        "False",
        _ROTATION,
        "a changed secret has not failed",
    ),
    Mutation(
        "coilclaw.providers.auth.cooldown:rests_until",
        "now < until <= now + _DAY",
        "now < until",
        _ROTATION,
        "a rest noted under another clock ends",
    ),
    Mutation(
        "coilclaw.providers.auth.pasted:checked_setup_token",
        "elif len(token) < _SHORTEST:",
        "elif False:",
        _COMMANDS,
        "a token that is cut is refused",
    ),
)
