"""One call on its way through the bridge, and the results of its admission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from coilclaw.bridge.redaction import Redaction
    from coilclaw.receipts import Draft, Row
    from coilclaw.sdk import Tool, ToolContext
    from coilclaw.trust import GuardedCall

__all__ = ["Admitted", "Answered", "Call", "UnknownOutcome", "call_id", "call_number"]


def call_id(run_id: str, number: int) -> str:
    return f"call-{run_id.removeprefix('run-')}-{number}"


def call_number(call_id: str) -> int:
    """The number within its run of a call that has this id."""
    return int(call_id.rpartition("-")[2])


class Call(NamedTuple):
    """One attempt, from its number on. `tool` is None when the name resolved to nothing."""

    number: int
    id: str
    name: str
    line: int
    tool: Tool | None
    stops: bool
    """Whether the snippet stops until the answer is there."""


class Admitted(NamedTuple):
    """A call that may run. `draft` is its `started` receipt."""

    call: Call
    tool: Tool
    input: Any
    context: ToolContext
    redaction: Redaction
    draft: Draft
    durable: bool
    progress: Iterator[int]
    before: tuple[Draft, ...] = ()
    """Receipts that come right before `started`."""
    rows: tuple[Row, ...] = ()
    """Claims on what permits the call; they are used up by its start."""
    contents: Mapping[str, bytes] | None = None
    """Arguments that are kept with the start, because they were too large to be kept with the request."""
    repeats: bool = False
    """Whether an earlier process of this run started the call and recorded no outcome: it may have run."""
    guarded: GuardedCall | None = None
    has_room: bool = True
    """Whether room for its result is set aside; otherwise it waits for that before its handler runs."""

    @property
    def unkept(self) -> bytes:
        """Arguments that are in the store only once the call has started."""
        return b"".join((self.contents or {}).values())


class Answered(NamedTuple):
    """A call that is not executed: a rehearsal stands in for it, or an earlier run has made it."""

    value: bytes
    plan: str


class UnknownOutcome(NamedTuple):
    """A call that may have run in an earlier process; a person has to decide about it."""

    call: Call
