"""Evidence, claims, and the verdicts that the one gives on the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from coilclaw.sdk.frozen import Frozen

__all__ = ["Claim", "Evidence", "Grounding", "Status", "Verdict"]

Status: TypeAlias = Literal["succeeded", "failed", "denied", "pending", "unknown", "running"]
Verdict: TypeAlias = Literal["verified", "unverified", "contradicted", "not_an_action"]


class Evidence(Frozen):
    """One call as its receipts tell it."""

    tool_id: str
    status: Status
    summary: str = ""
    receipt_ref: str | None = None
    arguments: Mapping[str, Any] | None = None
    call_id: str | None = None
    result: Any = None
    """What the tool answered, as small JSON."""
    risk: Literal["read", "write", "destructive"] | None = None
    """What a call of the tool may do, by its receipts. Without it, the tool's name decides."""
    is_earlier: bool = False
    """Whether it is of a turn before the one that is answered."""


class Claim(Frozen):
    """A part of an answer, and whether the evidence supports it."""

    text: str
    verdict: Verdict
    receipt_ref: str | None = None
    language: str = "en"
    """The language that it is written in, as far as it was recognised."""

    @property
    def is_supported(self) -> bool:
        return self.verdict in ("verified", "not_an_action")


class Grounding(Frozen):
    """An answer's claims, in the order in which they stand in it."""

    claims: tuple[Claim, ...]

    @property
    def grounded(self) -> bool:
        """Whether no claim is unverified or contradicted."""
        return all(claim.is_supported for claim in self.claims)
