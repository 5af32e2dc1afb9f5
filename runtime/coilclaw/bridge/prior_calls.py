"""Calls that earlier processes of a resumed run have made, and whether one of unknown outcome may be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from coilclaw.sdk import Forbid, Risk, Tool

__all__ = ["CallState", "PriorCall", "PriorCalls", "Retry"]

CallState: TypeAlias = Literal["requested", "started", "ended"]


class PriorCall:
    """What the receipts of an earlier process say about a call of this run. With slots, as a run has thousands."""

    __slots__ = ("args_hash", "denial", "number", "reused", "state", "tool", "tool_version")

    def __init__(self, number: int, tool: str, tool_version: str | None, args_hash: str, state: CallState) -> None:
        self.number = number
        self.tool = tool
        self.tool_version = tool_version
        self.args_hash = args_hash
        self.state: CallState = state
        self.denial: str | None = None
        """The message of a person's denial of this call."""
        self.reused: str | None = None
        """The receipt of an earlier run's call that this one was answered from."""


class Retry(NamedTuple):
    """Permission to repeat a call of unknown outcome, given by a person or by the tool's contract."""

    by_person: bool
    same_version: bool

    @property
    def facts(self) -> dict[str, str]:
        return {"decision": "retry", "decided_by": "operator" if self.by_person else "contract"}


class PriorCalls:
    """The prior calls of one run. What a person said about an unknown outcome counts for one call."""

    def __init__(self, calls: Mapping[int, PriorCall], said: str | None) -> None:
        self._calls = dict(calls)
        self._said = said

    def get(self, number: int) -> PriorCall | None:
        return self._calls.get(number)

    def note_question(self, number: int, tool: str, tool_version: str, args_hash: str) -> None:
        """Note that approval was requested for a call, so that admitting it again records no second request."""
        before = self._calls.get(number)
        state = before.state if before else "requested"
        self._calls[number] = PriorCall(number, tool, tool_version, args_hash, state)

    def retry(self, prior: PriorCall, tool: Tool, classified: Risk | Forbid) -> Retry | Literal["failed"] | None:
        """Whether a call of unknown outcome may be repeated, or counts as failed; None if nobody has said so."""
        # What only reads may be called such by its author, and yet be classified as more; and another version of a
        # tool knows nothing of the idempotency keys of the one before.
        reads = tool.risk is Risk.READ and classified is Risk.READ
        same_version = prior.tool_version == tool.version
        if (reads or tool.idempotent) and same_version:
            return Retry(by_person=False, same_version=True)
        # The person was told of one call, and spoke of that: the next one is asked about by itself.
        said, self._said = self._said, None
        if said == "retry":
            return Retry(by_person=True, same_version=same_version)
        return "failed" if said == "failed" else None

    def counts_as_failed(self) -> bool:
        """Whether a person said that a call which may no longer be repeated counts as failed."""
        said, self._said = self._said, None
        return said == "failed"
