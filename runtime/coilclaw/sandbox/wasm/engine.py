"""The wasm engine: full CPython in WebAssembly, one instance a run."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

from coilclaw.sandbox.channel import ChildEnded
from coilclaw.sandbox.deadline import Deadline
from coilclaw.sandbox.engine import Host, Pins, Snippet, run_request
from coilclaw.sandbox.limits import Limits
from coilclaw.sandbox.outcomes import Crashed, Outcome, Rejected
from coilclaw.sandbox.report import concluded, reported_outcome, unusable
from coilclaw.sandbox.threads import ExpendableThreads
from coilclaw.sandbox.wasm.component import Progress, compile_guest
from coilclaw.sandbox.wasm.guest import Guest, GuestTrap, link_guest
from coilclaw.sandbox.wasm.pool import GuestPool
from coilclaw.sandbox.wasm.ticker import Ticker
from coilclaw.sandbox.wasm.workers import Workers

__all__ = ["WasmEngine"]

_UNLINKED = re.compile(r"unknown import: `([^`]+)`")


class WasmEngine:
    """Runs snippets in WebAssembly instances. Thread-safe: runs on different threads run in parallel."""

    name = "wasm"

    def __init__(self, cache: Path, *, pool: int = 0, workers: int = 0, progress: Progress | None = None) -> None:
        """`pool` guests are kept ready; runs that come at the same time are given to up to `workers` processes."""
        compiled = compile_guest(cache, progress)
        self.build = compiled.build
        linker = link_guest(compiled)
        self._ticker = Ticker(compiled.engine)
        self._threads = ExpendableThreads()
        self.guests = GuestPool(lambda: Guest(compiled, linker, Limits().memory_bytes), pool)
        self.workers = Workers(cache, workers, self.build)

    def execute(self, snippet: Snippet, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        """Run one snippet in an instance of its own and say how it ended."""
        if problem := unusable(snippet, limits):
            return Rejected(error=problem)
        return concluded(lambda: self._run(run_request(snippet, pins), limits, host, deadline, pins))

    def _run(self, request: str, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        job = partial(self._run_somewhere, request, limits.memory_bytes, host, deadline, pins)
        try:
            return reported_outcome(self._threads.run_deep(job, deadline), limits)
        except GuestTrap as trap:
            return _crash(str(trap))
        except ChildEnded as ended:
            return Crashed(reason=f"the sandbox's process ended: {ended}")

    def _run_somewhere(self, request: str, *details: Any) -> str:
        """Run a request here if it is alone and a guest is ready: then it is quickest. Otherwise in a worker."""
        guest = self.guests.take_if_alone()
        worker = self.workers.take() if guest is None else None
        if worker is not None:
            try:
                return worker.run(request, *details)
            finally:
                self.workers.give_back(worker)
        guest = guest or self.guests.take()
        try:
            with self._ticker.ticking():
                return guest.run(request, *details)
        finally:
            self.guests.discard(guest)

    def close(self) -> None:
        self.workers.close()
        self.guests.close()
        self._ticker.close()
        self._threads.close()


def _crash(message: str) -> Crashed:
    if found := _UNLINKED.search(message):
        if found[1].startswith("wasi:cli/exit"):
            return Crashed(reason="the snippet ended the interpreter", hint="return from the snippet instead")
        if found[1].startswith("wasi:cli/stderr"):
            # Python writes there when it gives up.
            # Often because memory ran out where it could not raise an error any more.
            return Crashed(reason="the interpreter of the sandbox failed", hint="keep less in memory at a time")
        return Crashed(
            reason=f"the snippet used a part of the operating system that the sandbox does not have ({found[1]})",
            hint="files, network and processes are reached through `tools` only",
        )
    if "call stack exhausted" in message:
        return Crashed(reason="the stack of the sandbox was exhausted", hint="recurse less deeply")
    cause = message.rsplit("Caused by:", 1)[-1].strip().splitlines()
    return Crashed(reason=f"the sandbox ended: {cause[-1].strip() if cause else 'no reason given'}")
