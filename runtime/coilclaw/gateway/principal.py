"""Who sends a request, and what they may do."""

from __future__ import annotations

from typing import Literal

from coilclaw.access import Scope
from coilclaw.sdk.frozen import Frozen

__all__ = ["Principal", "Scope"]


class Principal(Frozen):
    """The sender of a request, once it was authenticated."""

    kind: Literal["session", "token"]
    """A browser that exchanged a one-time code, or a program with an API token."""
    id: str
    """Of the session or token; no secret."""
    name: str
    """Recorded as `decided_by` with every decision."""
    scope: Scope
    expires_at: int | None = None
    """Seconds since 1970; None if it does not expire."""
