"""What every sandbox engine is, seen from above and from below."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Protocol

from coilclaw.sandbox.deadline import Deadline
from coilclaw.sandbox.limits import Limits
from coilclaw.sandbox.outcomes import Outcome
from coilclaw.sdk.frozen import Frozen

__all__ = ["Engine", "Host", "Pins", "Snippet", "run_request"]


class Snippet(Frozen):
    """The source to run and the values it starts with."""

    source: str
    name: str = "snippet.py"
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def code_hash(self) -> str:
        return hashlib.sha256(self.source.encode("utf-8", "surrogatepass")).hexdigest()


class Pins(Frozen):
    """Everything a snippet could learn that is not in its source: pin these and it behaves the same again."""

    seed: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    wall_clock: Callable[[], int] = time.time_ns
    monotonic_clock: Callable[[], int] = time.monotonic_ns
    asleep: Callable[[int], int] = int
    """Told how many nanoseconds a snippet sleeps; says how many of them somebody has to wait."""

    def entropy(self) -> Callable[[int], bytes]:
        """A stream of random bytes that depends on the seed alone."""
        drawn = 0

        def draw(size: int) -> bytes:
            nonlocal drawn
            drawn += 1
            return hashlib.shake_256(self.seed + drawn.to_bytes(8, "big")).digest(size)

        return draw


def run_request(snippet: Snippet, pins: Pins) -> str:
    """What the code inside a sandbox is given to run, as JSON."""
    return json.dumps(
        {
            "source": snippet.source,
            "name": snippet.name,
            "inputs": dict(snippet.inputs),
            "seed": int.from_bytes(pins.seed, "big"),
        }
    )


class Host(Protocol):
    """What an engine needs from above: the bridge of one run. All text is JSON, and none of it is trusted."""

    def preflight(self, calls: bytes) -> bytes: ...
    def call(self, tool: str, input: bytes, line: int) -> bytes: ...
    def begin(self, tool: str, input: bytes, line: int) -> int: ...
    def wait(self, seconds: float | None) -> bytes: ...
    def withdraw(self, number: int) -> None: ...
    def linger(self, tasks: str) -> None: ...
    def write(self, stream: int, text: str) -> None: ...


class Engine(Protocol):
    """Runs snippets, each in a sandbox of its own that is thrown away afterwards."""

    @property
    def name(self) -> str: ...

    @property
    def build(self) -> str:
        """Identifies everything in the engine that could change a snippet's behaviour."""
        ...

    def execute(self, snippet: Snippet, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome: ...

    def close(self) -> None: ...
