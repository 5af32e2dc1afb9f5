"""What became of a payload, and which layer of the sandbox it met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from coilclaw.sandbox import Completed, Failed, Outcome, Rejected, escapes
from coilclaw.sdk import Receipt, RunStatus

__all__ = ["OWN_MACHINE", "Layer", "Verdict", "layer_of"]

OWN_MACHINE: Final = frozenset({"wasm"})
"""Engines whose snippets have an interpreter to themselves: whatever they find inside it is their own."""


class Layer(StrEnum):
    """What stands between a snippet and the host, from its source inwards."""

    PARSER = "parser"
    LANGUAGE = "language policy"
    GUARDS = "facades and guards"
    BRIDGE = "bridge"
    LIMITS = "limits"
    FRESH = "a sandbox for each run"
    CONFINEMENT = "process confinement"
    MACHINE = "wasm boundary"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One payload on one engine: what it got hold of, and whether it ended in a way it may end."""

    payload: escapes.Payload
    engine: str
    status: RunStatus
    layer: Layer
    findings: tuple[str, ...] = ()

    @property
    def expected(self) -> bool:
        return self.payload.allows(self.engine, self.status)

    @property
    def held(self) -> bool:
        return self.expected and not self.findings

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it did not hold, in words."""
        return self.findings if self.expected else (*self.findings, f"it ended as {self.status}")


_BY_ERROR: Final = {
    "MemoryError": Layer.LIMITS,
    "RecursionError": Layer.LIMITS,
    "SourceTooLarge": Layer.LIMITS,
    "TooManyCalls": Layer.LIMITS,
    "NotAllowed": Layer.LANGUAGE,
    "DeniedCall": Layer.BRIDGE,
    "InvalidCall": Layer.BRIDGE,
    "ToolCallError": Layer.BRIDGE,
    "UnknownTool": Layer.BRIDGE,
}
_REFUSED: Final = ("tool.call.failed", "tool.call.denied")


def layer_of(payload: escapes.Payload, engine: str, outcome: Outcome, receipts: Sequence[Receipt]) -> Layer:
    """The layer that ended the attempt, or, if nothing did, the one that made it harmless."""
    inside = Layer.MACHINE if engine in OWN_MACHINE else Layer.GUARDS
    refused = any(receipt.type in _REFUSED for receipt in receipts)
    match outcome:
        case Rejected(error=error):
            return _BY_ERROR.get(error.type, Layer.PARSER)
        case Failed(error=error):
            return _BY_ERROR.get(error.type, Layer.BRIDGE if refused else inside)
        case Completed() if len(payload.snippets) > 1:
            return Layer.FRESH
        case Completed():
            return Layer.BRIDGE if refused else inside
    if outcome.status == "crashed":
        return Layer.MACHINE if engine in OWN_MACHINE else Layer.CONFINEMENT
    return Layer.LIMITS
