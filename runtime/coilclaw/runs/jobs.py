"""Jobs: what a run executes between its first and its last receipt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from coilclaw.receipts import digest
from coilclaw.sandbox import (
    Completed,
    Deadline,
    Failed,
    Host,
    Outcome,
    Pins,
    RunEnded,
    SnippetError,
)
from coilclaw.sdk.quick_json import from_json

if TYPE_CHECKING:
    from coilclaw.sandbox import Engine, Limits, Snippet

__all__ = ["Job", "direct_job", "queued_job", "snippet_job"]

Execute: TypeAlias = Callable[[Host, Deadline, Pins], Outcome]


class Job(NamedTuple):
    """Something to execute, and how the header of its run names it."""

    kind: Literal["snippet", "direct"]
    name: str
    source: bytes
    inputs: bytes
    engine: str
    build: str
    execute: Execute

    @property
    def contents(self) -> dict[str, bytes]:
        """What is kept of it, by its hash. A direct call has no source: its code is the tool's name."""
        kept = (self.inputs,) if self.kind == "direct" else (self.source, self.inputs)
        return {digest(each): each for each in kept}


def snippet_job(snippet: Snippet, engine: Engine, limits: Limits) -> Job:
    def execute(host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        return engine.execute(snippet, limits, host, deadline, pins)

    source, inputs = snippet.source.encode("utf-8", "replace"), _json(snippet.inputs)
    return Job("snippet", snippet.name, source, inputs, engine.name, engine.build, execute)


def queued_job(snippet: Snippet, engine: str) -> Job:
    """A snippet that is not executed yet, and whose engine need not be ready."""

    def execute(host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        raise AssertionError("a queued run is executed as the job of its engine")

    source, inputs = snippet.source.encode("utf-8", "replace"), _json(snippet.inputs)
    return Job("snippet", snippet.name, source, inputs, engine, "", execute)


def direct_job(tool: str, arguments: Mapping[str, Any] | bytes) -> Job:
    """A call by itself, with arguments in the form in which a guest sends them."""
    sent = arguments if isinstance(arguments, bytes) else _json(arguments)

    def execute(host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        try:
            fields = from_json(host.call(tool, sent, 0))
        except RunEnded as ended:
            return ended.outcome
        if fields["ok"]:
            return Completed(value=fields["value"])
        return Failed(error=SnippetError(type=fields["code"], message=fields["message"], hint=fields["hint"]))

    return Job("direct", tool, tool.encode(), sent, "direct", "direct", execute)


def _json(values: Mapping[str, Any]) -> bytes:
    """Values that a caller gave, as pydantic writes them: dates, models and much else become JSON data."""
    if not values:
        return b"{}"
    from pydantic_core import to_json

    return to_json(dict(values))
