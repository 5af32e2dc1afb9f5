"""Who sends a request, and what they may do."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from coilclaw.sdk.frozen import Frozen

__all__ = ["Principal", "Scope"]


class Scope(StrEnum):
    """What a session or an API token allows. Each scope includes those before it."""

    READ = "read"
    """Look at runs, receipts, tools and conversations."""
    RUN = "run"
    """Start and resume runs, call tools and chat; policy still decides about every call."""
    OPERATOR = "operator"
    """Decide approvals, trust tools, set the emergency stop."""

    def includes(self, other: Scope) -> bool:
        """Whether whoever has this scope may do what needs the other one."""
        order = list(Scope)
        return order.index(self) >= order.index(other)


class Principal(Frozen):
    """The sender of a request, once it was authenticated."""

    kind: Literal["session", "token"]
    """A browser that exchanged a one-time code, or a program with an API token."""
    name: str
    """Recorded as `decided_by` with every decision."""
    scope: Scope
