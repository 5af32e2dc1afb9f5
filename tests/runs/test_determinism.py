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
from tests.conftest import KEY, TimePasses, cache_folder
from tests.runs.generated_snippets import snippet
from tests.sampling import sample

from coilclaw.bridge import Caller, Handlers, Services, build_registry
from coilclaw.policy import ApprovalStore, Autonomy, Policy, Rule
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import MIGRATIONS, RunReport, Runtime
from coilclaw.sandbox import Deadline, Limits, Snippet
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
        self.database = Database(self.home / "coilclaw.db", MIGRATIONS)
        self.log = ReceiptLog(self.database, KEY)
        self.book = ApprovalStore(self.database, self.log)
        self.handlers = Handlers()
        self.workspace = self.home / "workspace"
        self.workspace.mkdir()
        self.registry = build_registry([(TOOLS, ())])
        free = Services(
            log=self.log,
            policy=Policy(Autonomy.FULL, [DENIED]),
            handlers=self.handlers,
            workspace=self.workspace,
            secret=lambda name: None,
            database=self.database,
            approvals=self.book,
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
                self.book.decide(each.id, approved=True, decided_by="me")
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


@pytest.mark.parametrize("part", range(4))
def test_generated_snippets_are_the_same_again(shelf: Shelf, part: int) -> None:
    waits = sum(shelf.check(seed) for seed in sample(range(part * 250, part * 250 + 250), 12))
    assert waits > 0


def test_the_generator_is_deterministic_and_covers_what_it_should() -> None:
    everything = "".join(snippet(seed) for seed in range(300))
    for word in ("gather", "as_completed", "wait_for", "Queue", "uuid4", "token_hex", "hash(", "class C", "async def f",
                 "except", "time.sleep", "datetime", "'denied'", "shelf.big", "shelf.send.start", "raise ValueError"):  # fmt: skip
        assert word in everything, word
    assert (
        hashlib.sha256(everything.encode()).digest()
        == hashlib.sha256("".join(snippet(seed) for seed in range(300)).encode()).digest()
    )


# What a repetition must not get wrong --------------------------------------------------------------------------------


def _rows(shelf: Shelf, run_id: str) -> int:
    return int(shelf.database.read("SELECT count(*) FROM journal WHERE run_id = ?", (run_id,))[0][0])


def test_a_snippet_that_polls_does_not_flood_its_journal(shelf: Shelf) -> None:
    source = """
import asyncio
call, looks = tools.shelf.send.start(line="x"), 0
while looks < 3000:
    await asyncio.sleep(0)
    looks += 1
[(await call).ok, looks]
"""
    report = shelf.asked.run(Snippet(source=source), shelf.engine, shelf.registry, Limits())
    assert report.status == "suspended"
    assert _rows(shelf, report.run_id) <= 2
    (question,) = shelf.book.list("pending")
    shelf.book.decide(question.id, approved=True, decided_by="me")
    report = shelf.asked.resume(report.run_id, lambda name: shelf.engine, shelf.registry)
    assert report.value == [True, 3000]
    shelf.replayed(shelf.asked, report, 0)


def test_answers_that_were_not_passed_on_are_not_passed_on_again(shelf: Shelf) -> None:
    source = """
import time
calls = [tools.shelf.big.start(size=1_000_000) for _ in range(24)]
time.sleep(0.7)
[call.result().ok for call in calls].count(True) + tools.shelf.look(of="x").ok
"""
    report = shelf.free.run(Snippet(source=source), shelf.engine, shelf.registry, Limits())
    assert report.status == "completed", report.error
    assert report.value < 25, "too many waited to be read"
    shelf.replayed(shelf.free, report, 0)


def test_a_clock_that_is_set_back_changes_nothing_in_a_run(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
import time
a = time.time(); tools.shelf.note(line="x"); b = time.time()
tools.shelf.send(line="y"); c = time.time()
[a < b < c, a, b]
"""
    report = shelf.asked.run(Snippet(source=source), shelf.engine, shelf.registry, Limits())
    (question,) = shelf.book.list("pending")
    shelf.book.decide(question.id, approved=True, decided_by="me")
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() - 3600 * 10**9)
    report = shelf.asked.resume(report.run_id, lambda name: shelf.engine, shelf.registry)
    assert report.value[0] is True
    shelf.replayed(shelf.asked, report, 0)


def stands_still(deadline: Deadline) -> bool:
    """Whether the end of the run moves on with the time."""
    before = deadline.ends
    time.sleep(0.01)
    return deadline.ends > before


def test_time_stands_still_while_parallel_calls_wait_for_a_person_here(shelf: Shelf, time_passes: TimePasses) -> None:
    source = "[r.ok for r in [tools.shelf.send.start(line=str(n)) for n in range(2)] for r in [r.result()]]"
    runtime = Runtime(shelf.asked._services, Caller(waits=lambda: True))
    ends: list[RunReport] = []
    limits, deadline = Limits(seconds=60), Deadline(60)
    run = threading.Thread(
        target=lambda: ends.append(
            runtime.run(Snippet(source=source), shelf.engine, shelf.registry, limits, deadline=deadline)
        )
    )
    run.start()
    # The last question is there before the run begins to wait for its answer.
    while len(waiting := shelf.book.list("pending")) < 2 or not stands_still(deadline):
        assert run.is_alive()
    time_passes(1000)
    for each in waiting:
        shelf.book.decide(each.id, approved=True, decided_by="me")
    run.join(60)
    assert ends[0].value == [True, True]


def test_limits_count_as_if_the_run_had_not_waited(shelf: Shelf) -> None:
    source = """
print("x" * 600)
for n in range(4):
    tools.shelf.look(of=str(n))
tools.shelf.send(line="a")
print("y" * {more})
tools.shelf.look(of="last")
{calls}
"""
    for more, calls, expected in (
        (300, "1", "completed"),
        (600, "1", "output_exceeded"),
        (1, "tools.shelf.look(of='7')", "failed"),
    ):
        limits = Limits(output_bytes=1000, calls=6)
        snippet_ = Snippet(source=source.format(more=more, calls=calls))
        report = shelf.asked.run(snippet_, shelf.engine, shelf.registry, limits)
        (question,) = shelf.book.list("pending")
        shelf.book.decide(question.id, approved=True, decided_by="me")
        report = shelf.asked.resume(report.run_id, lambda name: shelf.engine, shelf.registry)
        assert report.status == expected


PINNED_IN_RESTRICTED = """
import asyncio, dataclasses, datetime, enum, random, secrets, time, uuid
@dataclasses.dataclass(frozen=True)
class Point:
    x: str
E = enum.Enum("E", "A B C D")
order = []
async def late(n):
    await asyncio.sleep(n / 1000)
    order.append(n)
await asyncio.gather(*(late(n) for n in (3, 1, 2)))
words = {f"w{n}" for n in range(30)}
[
    hash("x"), hash(("a", 1)), hash(b"q"), list(words), list(frozenset("abcdef")), [p.x for p in {Point(c) for c in "zyxw"}],
    [e.name for e in set(E)], random.random(), random.Random().random(), str(uuid.uuid4()), str(uuid.uuid1()),
    secrets.token_hex(8), time.time(), time.monotonic(), time.process_time(), str(datetime.datetime.now()), order,
]
"""


def test_what_the_restricted_engine_promises_holds_between_processes() -> None:
    """Not in it: what hashes by its address, as plain objects, functions and classes do, and the order of sets of them."""
    from coilclaw.sandbox import Completed, Deadline, RunClock
    from coilclaw.sandbox.restricted import RestrictedEngine

    values = []
    for _ in range(2):
        engine = RestrictedEngine()
        try:
            for _ in range(2):
                clock = RunClock(10**18)
                outcome = engine.execute(
                    Snippet(source=PINNED_IN_RESTRICTED), Limits(), Bare(), Deadline(30), clock.pins(bytes(range(32)))
                )
                assert isinstance(outcome, Completed), outcome
                values.append(outcome.value)
        finally:
            engine.close()
    assert values.count(values[0]) == 4


class Bare:
    """A host without tools."""

    def preflight(self, calls: bytes) -> bytes:
        return b"[]"

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        raise AssertionError

    def begin(self, tool: str, input: bytes, line: int) -> int:
        raise AssertionError

    def withdraw(self, number: int) -> None:
        raise NotImplementedError

    def linger(self, tasks: str) -> None:
        raise NotImplementedError

    def wait(self, seconds: float | None) -> bytes:
        raise AssertionError

    def write(self, stream: int, text: str) -> None:
        return None


def main() -> None:
    count, first = (*map(int, sys.argv[1:3]), 10_000, 0)[:2] if len(sys.argv) != 2 else (int(sys.argv[1]), 0)
    engine = WasmEngine(cache_folder(), pool=2)
    began, waits = time.monotonic(), 0
    for start in range(first, first + count, 500):
        with tempfile.TemporaryDirectory() as folder:
            shelf = Shelf(Path(folder), engine)
            for seed in range(start, min(start + 500, first + count)):
                waits += shelf.check(seed)
                if seed % 20 == 0:
                    rate = (seed + 1 - first) / (time.monotonic() - began)
                    sys.stdout.write(f"\r{seed + 1 - first} of {count} snippets, {waits} waits, {rate:.1f}/s")
                    sys.stdout.flush()
            shelf.close()
    sys.stdout.write(f"\n{count} snippets: the same again, byte for byte; {waits} waits\n")
    engine.close()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
