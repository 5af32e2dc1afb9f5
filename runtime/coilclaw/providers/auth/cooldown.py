"""How long a credential rests after a failure."""

from __future__ import annotations

import hashlib
import math
from typing import Final

from coilclaw.providers.auth.profiles import CooldownFailure, Usage

__all__ = ["after_failure", "mark_of", "rests_until"]

_FIRST: Final = {"rate_limit": 30.0, "billing": 5 * 3600.0}
_LONGEST: Final = {"rate_limit": 3600.0, "billing": 24 * 3600.0}
_DAY: Final = 24 * 3600.0


def after_failure(
    usage: Usage, failure: CooldownFailure, secret: str, *, now: float, retry_after: float | None = None
) -> Usage:
    """How a credential stands after a failure.

    Each further failure doubles the time, unless the service says when to come back. A refused credential rests until
    another secret takes its place. A cooldown that another process noted is never cut short.
    """
    errors = usage.errors + 1
    until = None
    if failure != "auth":
        seconds = min(_FIRST[failure] * 2 ** min(errors - 1, 20), _LONGEST[failure])
        if retry_after is not None and math.isfinite(retry_after):
            seconds = min(max(retry_after, 1.0), _DAY)
        until = max(now + seconds, rests_until(usage, secret, now=now) or 0.0)
    return Usage(
        last_used_at=usage.last_used_at,
        cooldown_until=None if until == math.inf else until,
        failure="auth" if until == math.inf else failure,
        errors=errors,
        mark=mark_of(secret),
    )


def rests_until(usage: Usage, secret: str, *, now: float) -> float | None:
    """When a credential may be used again: None for now, infinity for one that has to change first."""
    if usage.failure is None or usage.mark not in (None, mark_of(secret)):
        return None
    if usage.failure == "auth":
        return math.inf
    until = usage.cooldown_until
    # One further away than any cooldown was noted under another clock.
    return until if until is not None and now < until <= now + _DAY else None


def mark_of(secret: str) -> str:
    """A short mark by which a changed secret is noticed. It is far too short to find the secret by."""
    return hashlib.sha256(b"coilclaw auth profile\0" + secret.encode("utf-8", "replace")).hexdigest()[:8]
