"""How much a call can change, what is decided about it, and what a classifier may say."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, TypeAlias

from coilclaw.sdk.frozen import Frozen

__all__ = ["LONGEST_RUNS", "Decision", "Forbid", "Judged", "Raised", "Risk", "RiskName"]

RiskName: TypeAlias = Literal["read", "write", "destructive"]

LONGEST_RUNS: Final = 262_144
"""Characters of what a call will run. Nothing is cut: a person is shown all of it."""


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


class Forbid(Frozen):
    """Returned by a tool's `classify`: this call is denied at every autonomy level."""

    reason: str
    hint: str = ""
    """What the caller can do instead, where the reason does not say so already."""


class Raised(Frozen):
    """Returned by a tool's `classify`: the risk of this call, and why. A person who is asked sees the reason."""

    risk: Risk | RiskName
    reason: str


class Judged(Frozen):
    """Returned by a tool's `classify`: the risk, and what will run where the arguments alone do not say it.

    A person who is asked sees `runs`, and a yes holds for that text and no other. The handler gets it as `ctx.judged`,
    and must do exactly that or fail. The same text has to mean the same thing: write it in one canonical form.
    """

    risk: Risk | RiskName
    runs: str

    def __post_init__(self) -> None:
        if not isinstance(self.runs, str):
            raise TypeError("runs is a text")
        if len(self.runs) > LONGEST_RUNS:
            raise ValueError(f"runs has {len(self.runs)} characters; at most {LONGEST_RUNS} can be shown")
        self.runs.encode()  # What has no bytes cannot be hashed.
