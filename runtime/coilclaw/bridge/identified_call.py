"""Which call this is, and how it differs from the one that had its number when the run was executed before."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.calls import Call, PriorCall
from coilclaw.bridge.redaction import Redaction
from coilclaw.sandbox import Diverged, RunEnded, SnippetError

__all__ = ["CallDifference", "Divergence", "Identity", "call_difference"]


class Identity(NamedTuple):
    """Which call this is, as receipts, approvals and the journal name it."""

    call: Call
    arguments: bytes
    kept: bytes
    args_hash: str
    secrets: dict[str, str]
    missing: Refusal | None
    redaction: Redaction
    problem: Refusal | None
    given: Any = None
    """What was sent, for a tool that has rules about it: they look at it before secrets are taken out."""


class CallDifference(NamedTuple):
    """What about a call is not as it was."""

    what: Literal["call", "tool", "arguments", "version"]
    then: str
    now: str


def call_difference(prior: PriorCall | None, found: Identity, *, version: bool = True) -> CallDifference | None:
    """The first thing in which a call differs from the one that had its number before."""
    name = found.call.name
    if prior is None:
        return CallDifference("call", "not made", f"of {name}")
    if prior.tool != name:
        return CallDifference("tool", f"of {prior.tool}", f"of {name}")
    if prior.args_hash != found.args_hash:
        return CallDifference("arguments", f"with arguments {prior.args_hash[:12]}", f"with {found.args_hash[:12]}")
    present = found.call.tool.version if found.call.tool else None
    if version and prior.tool_version != present:
        return CallDifference("version", f"of version {prior.tool_version}", f"of version {present}")
    return None


class Divergence(RunEnded):
    """A run that is repeated does something else than it did: it ends before anything else is executed."""

    def __init__(self, number: int, expected: str, found: str) -> None:
        message = f"call {number} was {expected} and is {found} now"
        error = SnippetError(type="Diverged", message=message, hint="start it again as a new run")
        super().__init__(Diverged(error=error))
