"""Going on with runs that waited: `python benchmarks/replay.py [--calls 1000] [--rounds 60] [--decisions 200]`.

Three measurements, each with real engines, a real database and its syncs:

- a run of many calls, executed, then replayed from its journal: calls a second of both, and of the bare sandbox that
  is given made-up answers, which is as fast as any replay could be;
- the same run suspended at its end, approved and resumed: from `Runtime.resume` to the first new call;
- a run that stays in its process while another process decides: from the decision on disk to the start of the call.

Machines that are shared change their speed by a factor of two within seconds: rates are medians over all rounds, and
ratios are taken within each round.

Writes a table to stdout and `replay.json` to `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from suite.record import machine

from coilclaw.bridge import Caller, Handlers, Services, build_registry
from coilclaw.config.places import user_cache
from coilclaw.policy import ApprovalStore, Autonomy, Policy
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import MIGRATIONS, Runtime
from coilclaw.sandbox import Deadline, Limits, RunClock, Snippet
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk import ToolContext, define_tool
from coilclaw.store import Database

_FOLDER: Final = Path(__file__).resolve().parent
_KEY: Final = b"k" * 32
_BARS: Final = {"replayed_calls_per_second": 10_000, "resume_ms": 250, "decision_p99_ms": 100}

_DECIDER: Final = """
import sys, time
from pathlib import Path
from coilclaw.policy import ApprovalStore
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import MIGRATIONS
from coilclaw.store import Database
with Database(Path(sys.argv[1]), MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
    book = ApprovalStore(database, log)
    print("ready", flush=True)
    for line in sys.stdin:
        while not (open_ones := book.list("pending")):
            time.sleep(0.001)
        time.sleep(float(line))
        book.decide(open_ones[0].id, approved=True, decided_by="elsewhere")
        print(time.monotonic_ns(), flush=True)
"""


class _Moments:
    """When the write that waits for a person was at last executed."""

    def __init__(self) -> None:
        self.executed: list[int] = []
        self.again = threading.Event()

        @define_tool(id="shelf.look", risk="read")
        def look(ctx: ToolContext, number: int) -> dict[str, int]:
            """An answer."""
            return {"number": number, "square": number * number}

        @define_tool(id="shelf.send", risk="write")
        def send(ctx: ToolContext, line: str) -> int:
            """Says when it ran."""
            self.executed.append(time.monotonic_ns())
            return len(line)

        self.registry = build_registry([((look, send), ())])


@contextmanager
def _parts(folder: Path) -> Iterator[tuple[Services, ApprovalStore]]:
    handlers = Handlers()
    with Database(folder / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, _KEY) as log:
        book = ApprovalStore(database, log)
        yield (
            Services(
                log=log,
                policy=Policy(Autonomy.SUPERVISED),
                handlers=handlers,
                workspace=folder,
                secret=lambda name: None,
                database=database,
                approvals=book,
            ),
            book,
        )
    handlers.close()


class _MadeUp:
    """A host that knows all answers."""

    def __init__(self) -> None:
        self._number = -1

    def preflight(self, calls: bytes) -> bytes:
        return b"[]"

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        self._number += 1
        return b'{"ok":true,"value":{"number":%d,"square":%d}}' % (self._number, self._number * self._number)

    def begin(self, tool: str, input: bytes, line: int) -> int:
        raise NotImplementedError

    def withdraw(self, number: int) -> None:
        raise NotImplementedError

    def linger(self, tasks: str) -> None:
        raise NotImplementedError

    def wait(self, seconds: float | None) -> bytes:
        raise NotImplementedError

    def write(self, stream: int, text: str) -> None:
        raise NotImplementedError


class _Round(NamedTuple):
    """Seconds of a run, of its replay and of the sandbox alone."""

    ran: float
    replayed: float
    bare: float


def _replay(folder: Path, engine: WasmEngine, calls: int, rounds: int) -> list[_Round]:
    snippet = Snippet(source=f"sum(tools.shelf.look(number=n).unwrap()['square'] for n in range({calls}))")
    moments, limits = _Moments(), Limits(calls=calls + 1, seconds=600)
    found = []
    with _parts(folder) as (around, _):
        runtime = Runtime(around)
        for _ in range(rounds):
            # Each begins with an instance at hand, as in a process that serves.
            report, ran = _timed(engine, lambda: runtime.run(snippet, engine, moments.registry, limits))
            run_id = report.run_id
            again, replayed = _timed(
                engine,
                lambda run_id=run_id: runtime.replay(run_id, lambda name: engine, moments.registry),  # type: ignore[misc]
            )
            assert again.identical, again.difference
            pins = RunClock().pins(b"s" * 32)
            end, bare = _timed(
                engine,
                lambda pins=pins: engine.execute(snippet, limits, _MadeUp(), Deadline(600), pins),  # type: ignore[misc]
            )
            assert end.value == report.value
            found.append(_Round(ran, replayed, bare))
    return found


def _timed(engine: WasmEngine, job: Callable[[], Any]) -> tuple[Any, float]:
    engine.guests.wait_until_full()
    began = time.perf_counter()
    result = job()
    return result, time.perf_counter() - began


def _resume(folder: Path, engine: WasmEngine, calls: int, rounds: int) -> list[float]:
    """Seconds from `resume` to the first call that was not made before."""
    source = f"""
total = sum(tools.shelf.look(number=n).unwrap()["square"] for n in range({calls}))
tools.shelf.send(line=str(total)).unwrap()
"""
    moments, limits, found = _Moments(), Limits(calls=calls + 1, seconds=600), []
    with _parts(folder) as (around, book):
        runtime = Runtime(around)
        for _ in range(rounds):
            report = runtime.run(Snippet(source=source), engine, moments.registry, limits)
            (asked,) = book.list("pending")
            book.decide(asked.id, approved=True, decided_by="me")
            engine.guests.wait_until_full()  # As it is after hours of waiting.
            began = time.monotonic_ns()
            report = runtime.resume(report.run_id, lambda name: engine, moments.registry)
            assert report.status == "completed", report.error
            found.append((moments.executed[-1] - began) / 1e9)
    return found


def _decisions(folder: Path, engine: WasmEngine, count: int) -> list[float]:
    """Seconds from a decision in another process to the execution it allowed here."""
    source = f"[tools.shelf.send(line=str(n)).unwrap() for n in range({count})]"
    moments, decided = _Moments(), []
    with _parts(folder) as (around, _):
        runtime = Runtime(around, Caller(waits=lambda: True))
        command = [sys.executable, "-c", _DECIDER, str(folder / "coilclaw.db")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as decider:
            assert decider.stdin is not None
            assert decider.stdout is not None
            decider.stdout.readline()
            limits = Limits(calls=count + 1, seconds=60)
            ends: list[Any] = []
            run = threading.Thread(
                target=lambda: ends.append(runtime.run(Snippet(source=source), engine, moments.registry, limits))
            )
            run.start()
            for number in range(count):
                # At any moment of the interval in which the run looks.
                decider.stdin.write(f"{0.01 + number % 25 / 1000}\n")
                decider.stdin.flush()
                decided.append(int(decider.stdout.readline()))
            run.join()
            decider.stdin.close()
        assert ends[0].status == "completed", ends[0].error
    return [max(0, executed - at) / 1e9 for executed, at in zip(moments.executed, decided, strict=True)]


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure replay, resuming, and reacting to decisions.")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--decisions", type=int, default=200)
    chosen = parser.parse_args()
    engine = WasmEngine(user_cache(os.environ) or _FOLDER / ".cache" / "coilclaw", pool=2)
    folders = [Path(tempfile.mkdtemp(prefix=".work-", dir=_FOLDER)) for _ in range(3)]
    try:
        rounds = _replay(folders[0], engine, chosen.calls, chosen.rounds)
        resumed = _resume(folders[1], engine, chosen.calls, chosen.rounds // 3)
        decided = _decisions(folders[2], engine, chosen.decisions)
    finally:
        for folder in folders:
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
        engine.close()

    def rate(part: str) -> int:
        return round(chosen.calls / statistics.median(getattr(each, part) for each in rounds))

    record = {
        "calls": chosen.calls,
        "rounds": len(rounds),
        "run_calls_per_second": rate("ran"),
        "replayed_calls_per_second": rate("replayed"),
        "replayed_calls_per_second_at_best": round(chosen.calls / min(each.replayed for each in rounds)),
        "bare_sandbox_calls_per_second": rate("bare"),
        "replay_times_run": round(statistics.median(each.ran / each.replayed for each in rounds), 2),
        "replay_times_bare_sandbox": round(statistics.median(each.bare / each.replayed for each in rounds), 2),
        "resume_ms": round(statistics.median(resumed) * 1000, 1),
        "resume_p95_ms": round(_quantile(resumed, 0.95) * 1000, 1),
        "decision_median_ms": round(statistics.median(decided) * 1000, 1),
        "decision_p99_ms": round(_quantile(decided, 0.99) * 1000, 1),
        "decision_worst_ms": round(max(decided) * 1000, 1),
    }
    print(f"{chosen.calls} calls a run, {chosen.rounds} rounds, {chosen.decisions} decisions")
    lines = {
        "executed": f"{record['run_calls_per_second']:8} calls/s",
        "replayed from the journal": f"{record['replayed_calls_per_second']:8} calls/s {record['replay_times_run']:5}x",
        "the bare sandbox": f"{record['bare_sandbox_calls_per_second']:8} calls/s",
        "resume until the first new call": f"{record['resume_ms']:8} ms, p95 {record['resume_p95_ms']}",
        "decision elsewhere until execution": f"{record['decision_median_ms']:8} ms, p99 {record['decision_p99_ms']}",
    }
    for name, line in lines.items():
        print(f"{name:34} {line}")
    result = {"machine": machine(), "bars": _BARS, "measured": record}
    (_FOLDER / "results" / "replay.json").write_text(json.dumps(result, indent=2) + "\n")
    met = (
        record["replayed_calls_per_second"] >= _BARS["replayed_calls_per_second"]
        and record["resume_ms"] < _BARS["resume_ms"]
        and record["decision_p99_ms"] < _BARS["decision_p99_ms"]
    )
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
