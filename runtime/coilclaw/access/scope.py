"""What a session or an API token allows."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Scope"]


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
