"""One contestant of the throughput table, in a process of its own: `python suite/load.py KIND CALLERS SECONDS CACHE`.

`benchmarks` of the checkout that is measured must be on the import path: the parts come from its `suite.runtime`, which
has been the same for some time, so that an older commit can be measured by this file too.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from coilclaw import policy
from coilclaw.runs import Runtime
from coilclaw.sandbox import Limits, Snippet
from suite import runtime
from suite.runtime import MeasuredRuntime, PooledSandbox

_FRESH: Final = 200
_LIMITS: Final = Limits()
_SOURCE: Final = "tools.math.add(a=1, b=2).unwrap()"


def _facts(name: str) -> list[list[str]]:
    """What the system says of this process and of those below it, in the file of this name."""
    found, pids = [], [os.getpid()]
    for pid in pids:
        with suppress(OSError):  # It has ended meanwhile.
            found.append(Path(f"/proc/{pid}/{name}").read_text().rpartition(")")[2].split())
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                pids += [int(child) for child in task.read_text().split()]
    return found


def _memory_bytes() -> int:
    return sum(int(fields[1]) for fields in _facts("statm")) * os.sysconf("SC_PAGE_SIZE")


def _cpu_seconds() -> float:
    return sum(int(field) for fields in _facts("stat") for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def _opened(folder: Path, cache: Path) -> MeasuredRuntime:
    """The parts, with a journal and approvals as in the program; older versions of `suite.runtime` have neither."""
    book = getattr(policy, "ApprovalBook", None)
    if book is None:
        return MeasuredRuntime(folder, cache)
    tables = (import_module("coilclaw.policy.approvals").APPROVALS, import_module("coilclaw.bridge.journal").JOURNAL)
    vars(runtime)["MIGRATIONS"] += tables
    measured: Any = MeasuredRuntime(folder, cache)
    parts = measured.surroundings
    database = parts.log._database
    measured.runtime = Runtime(replace(parts, database=database, book=book(database, parts.log)))
    opened: MeasuredRuntime = measured
    return opened


def _engine(measured: MeasuredRuntime, kind: str, cache: Path) -> Any:
    match kind:
        case "pool":
            return measured.pooled
        case "no pool" | "direct call":
            return measured.unpooled
        case "restricted":
            return measured.restricted
    from coilclaw.sandbox.wasm import WasmEngine

    engine = WasmEngine(cache, pool=2, workers=os.cpu_count() or 1)
    if not engine.workers.wait_until_ready():
        raise RuntimeError("the workers did not start")
    return engine


def _one_run(measured: MeasuredRuntime, kind: str, engine: Any) -> Callable[[], object]:
    if kind == "direct call":
        return lambda: measured.runtime.call("math.add", {"a": 1, "b": 2}, measured.registry, _LIMITS)[0].unwrap()

    def run() -> None:
        report = measured.runtime.run(Snippet(source=_SOURCE), engine, measured.registry, _LIMITS)
        if report.value != 3:
            raise RuntimeError(f"the run ended as {report.status}: {report.error}")

    return run


def _sustained(run: Callable[[], object], callers: int, seconds: float) -> dict[str, float]:
    for _ in range(6):
        run()
    counts = [0] * callers
    memory, cpu, began = _memory_bytes(), _cpu_seconds(), time.perf_counter()

    def call(number: int) -> None:
        while time.perf_counter() - began < seconds:
            run()
            counts[number] += 1

    threads = [threading.Thread(target=call, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    half = None
    for thread in threads:
        while thread.is_alive():
            thread.join(0.05)
            if half is None and time.perf_counter() - began > seconds / 2:
                half = _memory_bytes()
    taken, runs = time.perf_counter() - began, sum(counts)
    return {
        "rate": runs / taken,
        "cpu_ms": (_cpu_seconds() - cpu) / runs * 1e3,
        "memory_mb": _memory_bytes() / 1e6,
        "grown_mb": (_memory_bytes() - (half or memory)) / 1e6,
    }


def _fresh(measured: MeasuredRuntime) -> dict[str, float]:
    sandbox = PooledSandbox(measured)
    samples = [sandbox.run("1 + 1") for _ in range(_FRESH)]
    return {"median_ms": statistics.median(samples) * 1e3, "best_ms": min(samples) * 1e3}


def main() -> None:
    kind, callers, seconds, cache = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])
    # Beside the cache and not in /tmp: that may be memory, where a sync costs nothing.
    with (
        tempfile.TemporaryDirectory(prefix=".work-", dir=cache.parent) as folder,
        _opened(Path(folder), cache) as measured,
    ):
        if kind == "fresh":
            found = _fresh(measured)
        else:
            engine = _engine(measured, kind, cache)
            found = _sustained(_one_run(measured, kind, engine), callers, seconds)
            engine.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
