"""How much a call can change, what is decided about it, and what a classifier may say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

__all__ = ["Decision", "Forbid", "Risk", "RiskName"]

RiskName: TypeAlias = Literal["read", "write", "destructive"]


class Risk(StrEnum):
    """One scale for everything: read < write < destructive (low, medium, high)."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"

    @property
    def level(self) -> Literal["low", "medium", "high"]:
        """The operator's name for the same thing."""
        return _LEVELS[self]

    @property
    def rank(self) -> int:
        return _RANKS[self]

    def raised_to(self, other: Risk) -> Risk:
        """The higher of the two; a risk is never lowered."""
        return other if _RANKS[other] > _RANKS[self] else self


_RANKS = {Risk.READ: 0, Risk.WRITE: 1, Risk.DESTRUCTIVE: 2}
_LEVELS: dict[Risk, Literal["low", "medium", "high"]] = {
    Risk.READ: "low",
    Risk.WRITE: "medium",
    Risk.DESTRUCTIVE: "high",
}


class Decision(StrEnum):
    """What policy says about one call. Strictness: deny > ask > allow."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        return _STRICTNESS[self]


_STRICTNESS = {Decision.ALLOW: 0, Decision.ASK: 1, Decision.DENY: 2}


@dataclass(frozen=True, kw_only=True)
class Forbid:
    """Returned by a tool's `classify`: this call is denied at every autonomy level."""

    reason: str
    hint: str = ""
    """What the caller can do instead, where the reason does not say so already."""
