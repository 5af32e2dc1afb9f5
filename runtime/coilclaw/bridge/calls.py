"""One call on its way through the bridge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from coilclaw.bridge.redaction import Redaction
from coilclaw.receipts import Draft
from coilclaw.sdk import Tool, ToolContext
from coilclaw.trust import GuardedCall

__all__ = ["Admitted", "Call"]


class Call(NamedTuple):
    """One attempt, from its number on. `tool` is None when the name resolved to nothing."""

    number: int
    id: str
    name: str
    line: int
    tool: Tool | None


class Admitted(NamedTuple):
    """A call that may run: its `started` receipt is written."""

    call: Call
    tool: Tool
    input: Any
    context: ToolContext
    redaction: Redaction
    draft: Draft
    durable: bool
    progress: Iterator[int]
    guarded: GuardedCall | None = None
