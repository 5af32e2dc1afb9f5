"""Runs from beginning to end, in the real sandbox."""

from __future__ import annotations

import threading

import pytest
from tests.conftest import World

from coilclaw.evidence import activity_of, run_of
from coilclaw.policy import Autonomy
from coilclaw.receipts import LogUnwritable
from coilclaw.sandbox import Deadline, Limits
from coilclaw.sdk import Err, Ok, ToolContext, define_tool

kept: list[int] = []


@define_tool(id="numbers.square", risk="read")
def square(ctx: ToolContext, n: int) -> int:
    return n * n


@define_tool(id="numbers.keep", risk="write")
def keep(ctx: ToolContext, n: int) -> int:
    kept.append(n)
    return len(kept)


together = threading.Barrier(10)
"""Passes only when ten calls are there."""


@define_tool(id="numbers.slow", risk="read")
def slow(ctx: ToolContext, n: int) -> int:
    together.wait(60)
    return n


@pytest.mark.req("R2", "R10", "R19", "R20", "R126", "R84")
def test_a_run_calls_tools_and_leaves_a_trail(world: World) -> None:
    report = world.run("print('hi')\nsum(tools.numbers.square(n=n).unwrap() for n in range(4))", square)
    assert (report.status, report.value, report.stdout) == ("completed", 14, "hi\n")
    receipts = world.log.of_run(report.run_id)
    assert receipts[0].type == "run.started"
    assert receipts[0].payload["code_hash"]
    assert receipts[-1].type == "run.finished"
    assert receipts[-1].status == "completed"
    run = run_of(report.run_id, receipts)
    assert run is not None
    assert run.status == "completed"
    assert run.ended_at is not None
    assert run.ended_at >= run.started_at
    assert world.log.verify().ok


@pytest.mark.req("R43", "R48", "R51", "R52", "R88")
def test_activity_is_what_the_receipts_say(world: World) -> None:
    world.autonomy = Autonomy.SUPERVISED
    report = world.run(
        "tools.numbers.square(n=1)\ntools.numbers.keep(n=1)\ngetattr(tools.numbers, 'nope')()\ntools.numbers.square(n=None)",
        square,
        keep,
    )
    items = activity_of(report.run_id, world.log.of_run(report.run_id)).items
    assert [(item.tool_id, item.status) for item in items] == [
        ("numbers.square", "succeeded"),
        ("numbers.keep", "denied"),
        ("numbers.nope", "denied"),
        ("numbers.square", "failed"),
    ]
    assert (items[1].approval, items[1].decided_by) == ("required", None)
    assert all(world.log.find(item.receipt_ref).timestamp == item.when for item in items)


def test_a_snippet_that_swallows_everything_gains_nothing(world: World) -> None:
    world.autonomy = Autonomy.SUPERVISED
    kept.clear()
    source = """
for attempt in range(5):
    try:
        tools.numbers.keep(n=attempt).unwrap()
    except BaseException:
        pass
"done"
"""
    assert world.run(source, keep).value == "done"
    assert not kept
    assert world.types().count("tool.call.denied") == 5


def test_ten_parallel_calls_are_under_way_at_once(world: World) -> None:
    source = (
        "import asyncio\n[r.value for r in await asyncio.gather(*(tools.numbers.slow.start(n=n) for n in range(10)))]"
    )
    report = world.run(source, slow)
    assert report.value == list(range(10))


def test_a_run_does_not_start_without_a_log(world: World) -> None:
    world.log.close()
    with pytest.raises(LogUnwritable):
        world.run("1")


def test_a_log_that_fails_during_the_run_ends_it(world: World) -> None:
    @define_tool(id="test.saw", risk="read")
    def saw(ctx: ToolContext) -> None:
        world.log._commits._failure = "the disk is full"  # What a failed commit leaves behind.

    kept.clear()
    report = world.run("tools.test.saw()\ntools.numbers.keep(n=1)\ntools.numbers.keep(n=2)", saw, keep)
    assert report.status == "crashed"
    assert report.error is not None
    assert "disk is full" in report.error.message
    assert not kept


def test_a_run_can_be_cancelled_from_another_thread(world: World) -> None:
    deadline = Deadline(60)
    started = threading.Event()

    @define_tool(id="test.begin", risk="read")
    def begin(ctx: ToolContext) -> None:
        started.set()

    def cancel() -> None:
        started.wait(60)
        deadline.cancel()

    threading.Thread(target=cancel).start()
    report = world.run("tools.test.begin()\nwhile True: pass", begin, deadline=deadline)
    assert report.status == "cancelled"
    assert world.log.of_run(report.run_id)[-1].status == "cancelled"


def test_abandoned_pending_calls_do_not_outlive_the_run(world: World) -> None:
    release = threading.Event()

    @define_tool(id="test.slow", risk="write")
    def wait(ctx: ToolContext) -> None:
        release.wait(60)

    report = world.run("for _ in range(200): tools.test.slow.start()\n'left'", wait, seconds=2)
    assert report.status == "timed_out"
    release.set()
    states = [item.status for item in activity_of(report.run_id, world.log.of_run(report.run_id)).items]
    assert len(states) == 200
    assert "succeeded" not in states


def test_snippets_run_beside_each_other(world: World) -> None:
    values: dict[int, object] = {}

    def run(number: int) -> None:
        values[number] = world.run(f"[tools.numbers.square(n={number}).value for _ in range(20)][-1]", square).value

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == {number: number * number for number in range(6)}
    assert world.log.verify().ok


def test_a_tool_may_run_a_snippet_of_its_own(world: World) -> None:
    @define_tool(id="test.nested", risk="read")
    def nested(ctx: ToolContext, depth: int) -> int:
        if depth == 0:
            return 1
        report = world.run(f"tools.test.nested(depth={depth - 1}).unwrap() + 1", nested)
        assert isinstance(report.value, int)
        return report.value

    assert world.run("tools.test.nested(depth=3).unwrap()", nested).value == 4


def test_a_direct_call_takes_the_same_path(world: World) -> None:
    runtime = world.runtime()
    result, report = runtime.call("numbers.square", {"n": 3}, world.registry(square), Limits())
    assert result == Ok(9)
    assert [receipt.type for receipt in world.log.of_run(report.run_id)] == [
        "run.started",
        "tool.call.requested",
        "tool.call.started",
        "tool.call.succeeded",
        "run.finished",
    ]
    result, report = runtime.call("numbers.squares", {"n": 3}, world.registry(square), Limits())
    assert isinstance(result, Err)
    assert report.status == "failed"


def test_source_and_inputs_are_bound_to_the_run(world: World) -> None:
    report = world.run("40 + 2")
    started = world.log.of_run(report.run_id)[0]
    assert world.log.contents(started.payload["code_hash"]) == b"40 + 2"
    assert started.payload["engine_build"] == world.engine.build
