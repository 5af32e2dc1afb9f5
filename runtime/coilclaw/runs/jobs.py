"""What a run executes between its first and its last receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from coilclaw.sandbox import (
    Completed,
    Deadline,
    Failed,
    Host,
    Outcome,
    RunClock,
    RunEnded,
    SnippetError,
)
from coilclaw.sdk.quick_json import from_json

if TYPE_CHECKING:
    from coilclaw.bridge import RunHeader
    from coilclaw.sandbox import (
        Engine,
        Limits,
        Snippet,
    )

__all__ = ["Execute", "direct_job", "snippet_job"]

Execute: TypeAlias = Callable[[Host, Deadline, RunClock], Outcome]


def snippet_job(snippet: Snippet, engine: Engine, limits: Limits, header: RunHeader) -> Execute:
    def execute(host: Host, deadline: Deadline, clock: RunClock) -> Outcome:
        return engine.execute(snippet, limits, host, deadline, clock.pins(bytes.fromhex(header.seed)))

    return execute


def direct_job(tool: str, sent: bytes) -> Execute:
    def execute(host: Host, deadline: Deadline, clock: RunClock) -> Outcome:
        try:
            fields = from_json(host.call(tool, sent, 0))
        except RunEnded as ended:
            return ended.outcome
        if fields["ok"]:
            return Completed(value=fields["value"])
        return Failed(error=SnippetError(type=fields["code"], message=fields["message"], hint=fields["hint"]))

    return execute
