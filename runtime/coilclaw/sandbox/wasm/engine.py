"""The wasm engine: full CPython in WebAssembly, one instance a run."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from coilclaw.sandbox.deadline import Deadline
from coilclaw.sandbox.engine import Host, Pins, Snippet
from coilclaw.sandbox.limits import Limits
from coilclaw.sandbox.outcomes import (
    Completed,
    Crashed,
    Failed,
    Outcome,
    OutOfMemory,
    OutputExceeded,
    Rejected,
    RunEnded,
    SnippetError,
)
from coilclaw.sandbox.threads import ExpendableThreads, on_expendable_thread
from coilclaw.sandbox.wasm.component import Progress, compile_guest, guest_build
from coilclaw.sandbox.wasm.guest import Guest, GuestTrap, link_guest
from coilclaw.sandbox.wasm.pool import GuestPool
from coilclaw.sandbox.wasm.ticker import Ticker
from coilclaw.sdk import EvidenceUnavailable

__all__ = ["WasmEngine"]

_logger = logging.getLogger(__name__)
_UNLINKED = re.compile(r"unknown import: `([^`]+)`")


class WasmEngine:
    """Runs snippets in WebAssembly instances. Thread-safe: runs on different threads run in parallel."""

    name = "wasm"

    def __init__(self, cache: Path, *, pool: int = 0, progress: Progress | None = None) -> None:
        compiled = compile_guest(cache, progress)
        linker = link_guest(compiled)
        self._ticker = Ticker(compiled.engine)
        self._threads = ExpendableThreads()
        self.guests = GuestPool(lambda: Guest(compiled, linker, Limits().memory_bytes), pool)

    @property
    def build(self) -> str:
        return f"wasm guest {guest_build()} on wasmtime {version('wasmtime')}"

    def execute(self, snippet: Snippet, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        """Run one snippet in an instance of its own and say how it ended."""
        if problem := _unusable(snippet, limits):
            return Rejected(error=problem)
        request = {
            "source": snippet.source,
            "name": snippet.name,
            "inputs": dict(snippet.inputs),
            "seed": int.from_bytes(pins.seed, "big"),
        }
        guest: Guest | None = None
        try:
            guest = self.guests.take()
            with self._ticker.ticking():
                answer = self._on_a_deep_stack(
                    partial(guest.run, json.dumps(request), host, deadline, pins, limits.memory_bytes), deadline
                )
            return _outcome(answer, limits)
        except RunEnded as ended:
            return ended.outcome
        except GuestTrap as trap:
            return _crash(str(trap))
        except EvidenceUnavailable:
            raise
        except Exception as error:
            _logger.exception("a host function failed")
            return Crashed(reason=f"a host function failed ({type(error).__name__})", hint="this is a bug in CoilClaw")
        finally:
            if guest is not None:
                self.guests.discard(guest)

    def _on_a_deep_stack(self, job: Callable[[], str], deadline: Deadline) -> str:
        if on_expendable_thread():
            return job()
        answer: str = self._threads.run(job, deadline)
        return answer

    def close(self) -> None:
        self.guests.close()
        self._ticker.close()
        self._threads.close()


def _unusable(snippet: Snippet, limits: Limits) -> SnippetError | None:
    try:
        size = len(snippet.source.encode())
    except UnicodeEncodeError:
        return SnippetError(type="SyntaxError", message="the source is not valid Unicode text")
    if size > limits.source_bytes:
        return SnippetError(
            type="SourceTooLarge", message=f"the source has {size} bytes; at most {limits.source_bytes} are allowed"
        )
    return None


def _outcome(answer: str, limits: Limits) -> Outcome:
    """What the guest says of its end. Its words are data: anything unexpected is a crash."""
    if len(answer.encode("utf-8", "replace")) > limits.output_bytes:
        return OutputExceeded(output_bytes=limits.output_bytes)
    try:
        fields = json.loads(answer, parse_constant=_not_a_number, parse_float=_finite)
        match fields["status"]:
            case "completed":
                return Completed(value=fields["value"])
            case "failed":
                return Failed(error=_error(fields["error"]))
            case "rejected":
                problems = tuple(_error(problem) for problem in fields.get("problems", ()))
                return Rejected(error=_error(fields["error"]), problems=problems)
            case "out_of_memory":
                return OutOfMemory(memory_bytes=limits.memory_bytes)
            case status:
                return Crashed(reason=f"the guest answered with an unknown status {status!r:.40}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Crashed(reason="the guest's answer is not an outcome")


def _not_a_number(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _not_a_number(text)


def _error(fields: dict[str, Any]) -> SnippetError:
    line = fields.get("line")
    return SnippetError(
        type=str(fields["type"]),
        message=str(fields["message"]),
        line=line if isinstance(line, int) else None,
        traceback=str(fields["traceback"]) if fields.get("traceback") else None,
        hint=str(fields["hint"]) if fields.get("hint") else None,
    )


def _crash(message: str) -> Crashed:
    if found := _UNLINKED.search(message):
        if found[1].startswith("wasi:cli/exit"):
            return Crashed(reason="the snippet ended the interpreter", hint="return from the snippet instead")
        if found[1].startswith("wasi:cli/stderr"):
            # Python writes there when it gives up.
            return Crashed(reason="the interpreter of the sandbox failed")
        return Crashed(
            reason=f"the snippet used a part of the operating system that the sandbox does not have ({found[1]})",
            hint="files, network and processes are reached through `tools` only",
        )
    if "call stack exhausted" in message:
        return Crashed(reason="the stack of the sandbox was exhausted", hint="recurse less deeply")
    cause = message.rsplit("Caused by:", 1)[-1].strip().splitlines()
    return Crashed(reason=f"the sandbox ended: {cause[-1].strip() if cause else 'no reason given'}")
