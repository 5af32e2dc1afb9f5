"""One call on its way through the bridge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from coilclaw.bridge.redaction import Redaction
from coilclaw.receipts import Draft, Row
from coilclaw.sdk import Tool, ToolContext
from coilclaw.trust import GuardedCall

__all__ = ["Admitted", "Call", "CallState", "PriorCall", "call_id", "call_number"]

CallState: TypeAlias = Literal["requested", "started", "ended"]


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
    """Whether the snippet stands still until the answer is there."""


class PriorCall:
    """What the receipts of an earlier process say about a call of this run. With slots, as a run has thousands."""

    __slots__ = ("args_hash", "denial", "number", "state", "tool", "tool_version")

    def __init__(self, number: int, tool: str, tool_version: str | None, args_hash: str, state: CallState) -> None:
        self.number = number
        self.tool = tool
        self.tool_version = tool_version
        self.args_hash = args_hash
        self.state: CallState = state
        self.denial: str | None = None
        """What the call hears of the no that a person gave to it."""


class Admitted(NamedTuple):
    """A call that may run. Once it is started, `draft` is its `started` receipt."""

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
    """What the start uses up."""
    guarded: GuardedCall | None = None
    contents: Mapping[str, bytes] | None = None
    """Arguments that are kept with the start, because they were too large to be kept with the request."""
    runs: str | None = None
    """What will run, with secrets taken out, if the tool says more about that than the arguments do."""

    @property
    def unkept(self) -> bytes:
        """Arguments that are in the store only once the call has started."""
        return b"".join((self.contents or {}).values())
