"""Generated snippets are the same again, byte for byte: repeated from their journals, and when they wait in between.

Each snippet runs once without a break, with tools that take their time at random; it is replayed from its journal; and it runs
once more, asked about every send, so that it is suspended and resumed at each. `python tests/runs/test_determinism.py [COUNT [FIRST]]`
does so for ten thousand.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json
from tests.conftest import KEY, cache_folder
from tests.runs.generated_snippets import snippet

from coilclaw.bridge import JOURNAL, Handlers, Surroundings, build_registry
from coilclaw.policy import APPROVALS, ApprovalBook, Autonomy, NobodyToAsk, Policy, Rule
from coilclaw.receipts import MIGRATIONS, ReceiptLog
from coilclaw.runs import RunReport, Runtime
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk import Decision, ToolContext, ToolFailure, define_tool
from coilclaw.store import Database

_delays = random.Random(11)


@define_tool(id="shelf.look", risk="read")
def look(ctx: ToolContext, of: str) -> str:
    """What is seen differs from one look to the next."""
    return f"{of} {time.time_ns()}"


@define_tool(id="shelf.slow", risk="read")
def slow(ctx: ToolContext, of: str) -> str:
    """Takes its time."""
    threading.Event().wait(_delays.choice([0, 0, 0.0005, 0.001, 0.003]))
    return f"{of} {time.time_ns()}"


@define_tool(id="shelf.fail", risk="read")
def fail(ctx: ToolContext, how: str) -> str:
    """Fails in several ways."""
    if how == "raise":
        raise ToolFailure(f"nothing at {time.time_ns()}", code="shelf_empty", hint="come back later")
    if how == "crash":
        raise RuntimeError(f"broken at {time.time_ns()}")
    return 5  # type: ignore[return-value]


@define_tool(id="shelf.denied", risk="read")
def denied(ctx: ToolContext, of: str) -> str:
    """Never allowed."""
    raise AssertionError


@define_tool(id="shelf.big", risk="read")
def big(ctx: ToolContext, size: int) -> str:
    """A long answer."""
    return random.choice("abc") * size


@define_tool(id="shelf.send", risk="write")
def send(ctx: ToolContext, line: str) -> str:
    """Every execution shows."""
    with (ctx.workspace / "done").open("a") as handle:
        handle.write(f"{ctx.call_id}\n")
    return f"sent {time.time_ns()}"


@define_tool(id="shelf.note", risk="write")
def note(ctx: ToolContext, line: str) -> str:
    """Every execution shows."""
    with (ctx.workspace / "done").open("a") as handle:
        handle.write(f"{ctx.call_id}\n")
    return "noted"


TOOLS = (look, slow, fail, denied, big, send, note)
DENIED = Rule(tool="shelf.denied", decision=Decision.DENY)
ASKED = Rule(tool="shelf.send", decision=Decision.ASK)


@dataclass
class Shelf:
    """One database for many runs."""

    home: Path
    engine: WasmEngine

    def __post_init__(self) -> None:
        self.database = Database(self.home / "coilclaw.db", (*MIGRATIONS, APPROVALS, JOURNAL))
        self.log = ReceiptLog(self.database, KEY)
        self.book = ApprovalBook(self.database, self.log)
        self.handlers = Handlers()
        self.workspace = self.home / "workspace"
        self.workspace.mkdir()
        self.registry = build_registry([(TOOLS, ())])
        free = Surroundings(
            log=self.log,
            policy=Policy(Autonomy.FULL, [DENIED]),
            approver=NobodyToAsk(),
            handlers=self.handlers,
            workspace=self.workspace,
            secret=lambda name: None,
            database=self.database,
            book=self.book,
        )
        self.free, self.asked = Runtime(free), Runtime(replace(free, policy=Policy(Autonomy.FULL, [DENIED, ASKED])))

    def close(self) -> None:
        self.handlers.close()
        self.log.close()
        self.database.close()

    def calls(self, run_id: str) -> list[tuple[Any, ...]]:
        """What was asked for, in order."""
        receipts = self.log.of_run(run_id)
        return [
            (each.tool, each.tool_version, each.args_hash, each.payload["line"], each.payload["number"])
            for each in receipts
            if each.type == "tool.call.requested"
        ]

    def check(self, seed: int) -> int:
        """Run, repeat, compare; returns how often the run waited."""
        source = snippet(seed)
        whole = self.free.run(Snippet(source=source), self.engine, self.registry, Limits())
        assert whole.status in ("completed", "failed"), (seed, whole.status, whole.error)
        self.replayed(self.free, whole, seed)
        done = self.workspace / "done"
        done.unlink(missing_ok=True)
        report, waits = self.asked.run(Snippet(source=source), self.engine, self.registry, Limits()), 0
        printed = report.stdout
        while report.status == "suspended":
            waits += 1
            assert waits < 100, seed
            for each in self.book.list("pending", run_id=report.run_id):
                self.book.decide(each.id, granted=True, decided_by="me")
            before = self.calls(report.run_id)
            report = self.asked.resume(report.run_id, lambda name: self.engine, self.registry)
            assert report.stdout.startswith(printed), (seed, "what it had printed is what it prints")
            assert self.calls(report.run_id)[: len(before)] == before
            printed = report.stdout
        assert report.status in ("completed", "failed"), (seed, report.status, report.error)
        self.replayed(self.asked, report, seed)
        numbers = [each.rsplit("-", 1)[1] for each in done.read_text().split()] if done.exists() else []
        assert len(numbers) == len(set(numbers)), (seed, "nothing was done twice")
        return waits

    def replayed(self, runtime: Runtime, report: RunReport, seed: int) -> None:
        again = runtime.replay(report.run_id, lambda name: self.engine, self.registry)
        assert again.identical, (seed, again.difference)
        assert again.outcome.stdout == report.stdout, seed
        assert again.outcome.status == report.status, seed
        assert to_json(getattr(again.outcome, "value", None)) == to_json(report.value), seed


@pytest.fixture
def shelf(engine: WasmEngine, tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path, engine)
    yield made
    made.close()


@pytest.mark.req("R33")
@pytest.mark.parametrize("part", range(4))
def test_generated_snippets_are_the_same_again(shelf: Shelf, part: int) -> None:
    waits = sum(shelf.check(seed) for seed in range(part * 50, part * 50 + 50))
    assert waits > 4


def test_the_generator_is_deterministic_and_covers_what_it_should() -> None:
    everything = "".join(snippet(seed) for seed in range(300))
    for word in ("gather", "as_completed", "wait_for", "Queue", "uuid4", "token_hex", "hash(", "class C", "async def f",
                 "except", "time.sleep", "datetime", "'denied'", "shelf.big", "shelf.send.start", "raise ValueError"):  # fmt: skip
        assert word in everything, word
    assert (
        hashlib.sha256(everything.encode()).digest()
        == hashlib.sha256("".join(snippet(seed) for seed in range(300)).encode()).digest()
    )


def main() -> None:
    count, first = (*map(int, sys.argv[1:3]), 10_000, 0)[:2] if len(sys.argv) != 2 else (int(sys.argv[1]), 0)
    engine = WasmEngine(cache_folder(), pool=2)
    began, waits, seed = time.monotonic(), 0, first
    while seed < first + count:
        with tempfile.TemporaryDirectory() as folder:
            shelf = Shelf(Path(folder), engine)
            for seed in range(seed, min(seed + 500, first + count)):
                waits += shelf.check(seed)
                if seed % 20 == 0:
                    rate = (seed + 1 - first) / (time.monotonic() - began)
                    print(f"\r{seed + 1 - first} of {count} snippets, {waits} waits, {rate:.1f}/s", end="", flush=True)
            seed += 1
            shelf.close()
    print(f"\n{count} snippets: the same again, byte for byte; {waits} waits")
    engine.close()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
