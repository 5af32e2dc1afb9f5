"""Resuming in a long log: `python benchmarks/long_log.py [--calls 1000] [--foreign 1000000] [--rounds 9]`.

A run of many calls is suspended at its end, approved and resumed, while receipts of other runs fill the log:

- behind it: they were written while it was suspended, after the decision;
- between its calls: they were written while it ran, as in a process that serves many;
- and, to compare with, hardly any.

From `Runtime.resume` to the first call that was not made before, with a real engine, a real database and its syncs.
Also how long `receipt list --run` and a rebuilt report take to find such a run. Writes a table to stdout and
`long_log.json` to `benchmarks/results`; exits with 1 if a median is over the bar.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from suite.record import machine

from coilclaw.bridge import Handlers, Registry, Services, build_registry
from coilclaw.config.places import user_cache
from coilclaw.policy import ApprovalStore, Autonomy, Policy
from coilclaw.receipts import Draft, ReceiptLog, digest, now
from coilclaw.runs import MIGRATIONS, Runtime, report_of
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk import ToolContext, define_tool
from coilclaw.store import Database

_FOLDER: Final = Path(__file__).resolve().parent
_BAR_MS: Final = 250
_AT_ONCE: Final = 9_000
_RECEIPTS_OF_A_RUN: Final = 30


def _foreign(first: int, count: int) -> list[Draft]:
    """Receipts of short runs, as ordinary calls leave them."""
    moment, arguments, kinds = now(), digest(b"{}"), ("requested", "started", "succeeded")
    drafts = []
    for number in range(first, first + count):
        run, call = divmod(number, _RECEIPTS_OF_A_RUN)
        kind = kinds[call % 3]
        drafts.append(
            Draft(
                type=f"tool.call.{kind}",
                status="allowed",
                timestamp=moment,
                run_id=f"run-f{run:018x}",
                tool_call_id=f"call-f{run:018x}-{call // 3 + 1}",
                tool="crm.lookup",
                tool_version="sha256:" + arguments,
                risk="read",
                args_hash=arguments,
                result_hash=arguments if kind == "succeeded" else None,
                payload={"line": 1, "number": call // 3 + 1, "heard": "0:" + "0" * 32} if kind == "requested" else {},
            )
        )
    return drafts


class _Shop:
    """The tools, and one database with what is needed to run them."""

    def __init__(self, folder: Path, log: ReceiptLog, database: Database, handlers: Handlers) -> None:
        self.log = log
        self.database = database
        self.book = ApprovalStore(database, log)
        self.executed = 0
        self.used = 0.0
        """When the last write was executed, by the clock and by the time this process has had a processor."""
        self.between = 0
        """How many foreign receipts each call is followed by."""
        self._written = 0
        self._lock = threading.Lock()
        self.services = Services(
            log=log,
            policy=Policy(Autonomy.SUPERVISED),
            handlers=handlers,
            workspace=folder,
            secret=lambda name: None,
            database=database,
            approvals=self.book,
        )

        @define_tool(id="shelf.look", risk="read")
        def look(ctx: ToolContext, number: int) -> dict[str, int]:
            """An answer."""
            if self.between:
                self.fill(self.between)
            return {"number": number, "square": number * number}

        @define_tool(id="shelf.send", risk="write")
        def send(ctx: ToolContext, line: str) -> int:
            """Says when it ran."""
            self.executed, self.used = time.monotonic_ns(), time.process_time()
            return len(line)

        self.registry: Registry = build_registry([((look, send), ())])

    def fill(self, count: int) -> None:
        """Append so many foreign receipts."""
        while count > 0:
            some = min(count, _AT_ONCE)
            with self._lock:
                first, self._written = self._written, self._written + some
            self.log.append(*_foreign(first, some))
            count -= some


@contextmanager
def _shop(folder: Path) -> Iterator[_Shop]:
    handlers = Handlers()
    with Database(folder / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
        yield _Shop(folder, log, database, handlers)
    handlers.close()


def _measure(engine: WasmEngine, calls: int, rounds: int, foreign: int, *, between: bool) -> dict[str, Any]:
    source = f"""
total = sum(tools.shelf.look(number=n).unwrap()["square"] for n in range({calls}))
tools.shelf.send(line=str(total)).unwrap()
"""
    folder = Path(tempfile.mkdtemp(prefix=".work-", dir=_FOLDER))
    limits, ids = Limits(calls=calls + 1, seconds=3600), []
    try:
        with _shop(folder) as shop:
            shop.between = foreign // (calls * rounds) if between else 0

            def suspend() -> None:
                ids.append(Runtime(shop.services).run(Snippet(source=source), engine, shop.registry, limits).run_id)

            # All at the same time, so that what others write between the calls is the whole of it for each.
            threads = [threading.Thread(target=suspend) for _ in range(rounds)]
            for thread in threads:
                thread.start()
                if not between:
                    thread.join()
            for thread in threads:
                thread.join()
            for asked in shop.book.list("pending"):
                shop.book.decide(asked.id, approved=True, decided_by="me")
            shop.between = 0
            if not between:
                shop.fill(foreign)
        # As another process would: with nothing in mind that the one before knew.
        resumed, used, listed, reported = [], [], [], []
        for run_id in ids:
            with _shop(folder) as shop:
                engine.guests.wait_until_full()
                began, had = time.monotonic_ns(), time.process_time()
                report = Runtime(shop.services).resume(run_id, lambda name: engine, shop.registry)
                assert report.status == "completed", report.error
                resumed.append((shop.executed - began) / 1e6)
                used.append((shop.used - had) * 1000)
                again, took = _timed(lambda run_id=run_id: report_of(shop.database, shop.log, run_id))  # type: ignore[misc]
                assert again is not None
                assert (again.value, again.stdout) == (report.value, report.stdout)
                reported.append(took)
                latest, took = _timed(lambda run_id=run_id: shop.log.latest(20, run_id))  # type: ignore[misc]
                assert [each.run_id for each in latest] == [run_id] * 20
                listed.append(took)
        size = (folder / "coilclaw.db").stat().st_size
    finally:
        shutil.rmtree(folder)
    return {
        "foreign_receipts": foreign,
        "resume_ms": round(statistics.median(resumed), 1),
        "resume_cpu_ms": round(statistics.median(used), 1),
        "resume_worst_ms": round(max(resumed), 1),
        "report_ms": round(statistics.median(reported), 1),
        "list_run_ms": round(statistics.median(listed), 1),
        "database_mib": round(size / 2**20),
    }


def _timed(job: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    result = job()
    return result, (time.perf_counter() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure resuming a run in a long log.")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--foreign", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    engine = WasmEngine(user_cache(os.environ) or _FOLDER / ".cache" / "coilclaw", pool=2)
    try:
        found = {
            name: _measure(engine, chosen.calls, chosen.rounds, foreign, between=between)
            for name, foreign, between in (
                ("alone", 0, False),
                ("behind", chosen.foreign, False),
                ("between", chosen.foreign, True),
            )
        }
    finally:
        engine.close()
    print(f"{chosen.calls} calls a run, {chosen.rounds} rounds, {chosen.foreign} foreign receipts")
    for name, record in found.items():
        print(
            f"{name:8} resume {record['resume_ms']:7} ms (worst {record['resume_worst_ms']}; "
            f"{record['resume_cpu_ms']} of processor), "
            f"report {record['report_ms']} ms, receipt list --run {record['list_run_ms']} ms, "
            f"{record['database_mib']} MiB"
        )
    result = {"machine": machine(), "bars": {"resume_ms": _BAR_MS}, "calls": chosen.calls, "measured": found}
    (_FOLDER / "results" / "long_log.json").write_text(json.dumps(result, indent=2) + "\n")
    sys.exit(0 if all(record["resume_ms"] < _BAR_MS for record in found.values()) else 1)


if __name__ == "__main__":
    main()
