"""CoilClaw put together for measuring: a real engine, bridge, policy and receipt log on disk."""

from __future__ import annotations

import gc
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final

from coilclaw.bridge import Bridge, Handlers, RunSpec, Services, build_registry
from coilclaw.policy import ApprovalStore, Autonomy, Policy
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import MIGRATIONS, Runtime
from coilclaw.sandbox import Completed, Deadline, Limits, Pins, Snippet
from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk import Tool, ToolContext, define_tool
from coilclaw.store import Database
from suite.stopwatch import seconds_of

__all__ = [
    "KEY",
    "ForkedSandbox",
    "MeasuredRuntime",
    "NativeSandbox",
    "PooledSandbox",
    "RecordedSandbox",
    "SpareSandbox",
    "UnpooledSandbox",
]

KEY: Final = b"k" * 32
_POOL: Final = 2
_LIMITS: Final = Limits(seconds=120.0, calls=1_000_000)


@define_tool(id="math.add", risk="read")
def _add(context: ToolContext, a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


class MeasuredRuntime:
    """Everything a run needs, in a folder that can be thrown away; the compiled guest stays in `cache`."""

    def __init__(self, folder: Path, cache: Path, *tools: Tool) -> None:
        self._stack = ExitStack()
        self.pooled = WasmEngine(cache, pool=_POOL)
        self._stack.callback(self.pooled.close)
        self.unpooled = WasmEngine(cache)
        self._stack.callback(self.unpooled.close)
        self.restricted = RestrictedEngine(spares=_POOL)
        self._stack.callback(self.restricted.close)
        self.forked = RestrictedEngine()
        self._stack.callback(self.forked.close)
        database = self._stack.enter_context(Database(folder / "runs.db", MIGRATIONS))
        log = self._stack.enter_context(ReceiptLog(database, KEY))
        handlers = Handlers()
        self._stack.callback(handlers.close)
        self.registry = build_registry([([_add, *tools], [])])
        self.services = Services(
            log=log,
            database=database,
            approvals=ApprovalStore(database, log),
            policy=Policy(Autonomy.SUPERVISED),
            handlers=handlers,
            workspace=folder,
            secret=lambda name: None,
        )
        self.runtime = Runtime(self.services)
        gc.freeze()  # As `coilclaw run` does before a run.

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> MeasuredRuntime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class _EngineSandbox:
    """The engine alone, without the receipts of a run: what a peer's session is compared with."""

    prelude = ""
    call: str | None = "tools.math.add(a=i, b=1)"

    def __init__(self, measured: MeasuredRuntime, engine: WasmEngine | RestrictedEngine) -> None:
        self.version = engine.build
        self._measured = measured
        self._engine = engine

    def run(self, source: str) -> float:
        snippet, deadline, pins = Snippet(source=source), Deadline(_LIMITS.seconds), Pins()
        spec = RunSpec(run_id="run-0", registry=self._measured.registry, limits=_LIMITS, deadline=deadline)
        bridge = Bridge(self._measured.services, spec)
        _wait_until_rested(self._engine)

        def execute() -> float:
            began = time.perf_counter()
            outcome = self._engine.execute(snippet, _LIMITS, bridge, deadline, pins)
            seconds = time.perf_counter() - began
            if not isinstance(outcome, Completed):
                raise RuntimeError(f"the snippet ended as {outcome!r}")
            return seconds

        # On the kind of thread a run is on, where the engine does not have to look for a deeper stack.
        seconds: float = self._measured.services.handlers.threads.run(execute, deadline)
        return seconds


class PooledSandbox(_EngineSandbox):
    """The engine as a server uses it: a guest waits ready for each run."""

    def __init__(self, measured: MeasuredRuntime) -> None:
        super().__init__(measured, measured.pooled)


class UnpooledSandbox(_EngineSandbox):
    """The engine as one command uses it: the guest is made when the run begins."""

    def __init__(self, measured: MeasuredRuntime) -> None:
        super().__init__(measured, measured.unpooled)


class SpareSandbox(_EngineSandbox):
    """The restricted engine as a server uses it: a child waits ready for each run."""

    def __init__(self, measured: MeasuredRuntime) -> None:
        super().__init__(measured, measured.restricted)


class ForkedSandbox(_EngineSandbox):
    """The restricted engine with its parent warm, and the child forked when the run begins."""

    def __init__(self, measured: MeasuredRuntime) -> None:
        super().__init__(measured, measured.forked)


def _wait_until_rested(engine: WasmEngine | RestrictedEngine) -> None:
    """What was made ready for the next run is ready: servers are not always busy."""
    rested = engine.guests.wait_until_full() if isinstance(engine, WasmEngine) else engine.parent.wait_for_spares()
    if not rested:
        raise RuntimeError("the sandboxes that are made ahead did not get ready")


class RecordedSandbox:
    """A whole run: two durable receipts around the snippet, and receipts for each call."""

    prelude = ""
    call: str | None = "tools.math.add(a=i, b=1)"

    def __init__(self, measured: MeasuredRuntime, engine: WasmEngine | RestrictedEngine) -> None:
        self.version = engine.build
        self._measured = measured
        self._engine = engine

    def run(self, source: str) -> float:
        measured, snippet = self._measured, Snippet(source=source)
        _wait_until_rested(self._engine)
        began = time.perf_counter()
        report = measured.runtime.run(snippet, self._engine, measured.registry, _LIMITS)
        seconds = time.perf_counter() - began
        if report.status != "completed":
            raise RuntimeError(f"the run ended as {report.status}: {report.error}")
        return seconds


class NativeSandbox:
    """No sandbox: `exec` in this interpreter, the measure of what the work costs at all."""

    version = "exec"
    prelude = ""
    call = None

    def run(self, source: str) -> float:
        return seconds_of(lambda: exec(compile(source, "snippet.py", "exec"), {}))
