"""Runs that were started: many at once, awaited, followed and cancelled."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from pathlib import Path

import pytest
from tests.app.conftest import Open
from tests.app.test_app import lookup, note
from tests.conftest import TimePasses, cache_folder

from coilclaw.app import CoilClaw, WouldBlock
from coilclaw.sdk import Tool, ToolContext, define_tool

ECHO = "tools.crm.lookup(email=str(number)).unwrap()['email']"


def waiting() -> tuple[Tool, threading.Event, threading.Event]:
    """A tool that waits; an event for its beginning, and one that lets it end."""
    began, go_on = threading.Event(), threading.Event()

    @define_tool(id="slow.wait", risk="read")
    def wait(ctx: ToolContext) -> bool:
        began.set()
        while not go_on.wait(0.01):
            ctx.raise_if_cancelled()
        return True

    return wait, began, go_on


def test_two_hundred_runs_at_once_have_their_own_answers(temporary: Open) -> None:
    claw = temporary(lookup)
    handles = [claw.start(ECHO, inputs={"number": number}) for number in range(200)]
    assert [handle.result(120).value for handle in handles] == [str(number) for number in range(200)]
    assert len({handle.run_id for handle in handles}) == 200
    assert claw.verify().ok


def test_runs_beyond_the_workers_wait_for_their_turn_at_no_cost_of_time(
    temporary: Open, time_passes: TimePasses
) -> None:
    wait, began, go_on = waiting()
    claw = temporary(wait, workers=1)
    first = claw.start("tools.slow.wait()\n1", timeout=86_400)
    second = claw.start("2", timeout=60)
    assert began.wait(60)
    assert not second.done
    time_passes(1000)
    go_on.set()
    assert (first.result(60).value, second.result(60).value) == (1, 2)


def test_a_started_run_is_cancelled(temporary: Open) -> None:
    wait, began, _ = waiting()
    claw = temporary(wait)
    handle = claw.start("tools.slow.wait()")
    assert began.wait(60)
    handle.cancel()
    assert handle.result(60).status == "cancelled"
    again = claw.start("tools.slow.wait()")
    claw.runs.cancel(again.run_id, by="ada")
    assert again.result(60).status == "cancelled"


def test_a_run_that_is_cancelled_before_its_turn_leaves_its_receipts_and_calls_nothing(temporary: Open) -> None:
    wait, began, go_on = waiting()
    claw = temporary(wait, note, workers=1, config={"security.autonomy": "full"})
    first, second = claw.start("tools.slow.wait()"), claw.start("tools.crm.note(text='x')")
    assert began.wait(60)
    second.cancel()
    go_on.set()
    report = second.result(60)
    assert (report.status, report.activity) == ("cancelled", ())
    types = [each.type for each in claw.receipts.latest(50, run_id=second.run_id)]
    assert types == ["run.started", "run.finished"]
    assert first.result(60).status == "completed"


def test_closing_ends_what_still_runs(temporary: Open) -> None:
    wait, began, _ = waiting()
    claw = temporary(wait, workers=1)
    running, queued = claw.start("tools.slow.wait()"), claw.start("1")
    assert began.wait(60)
    claw.close()
    assert running.result(0).status == "cancelled"
    assert queued.result(0).status == "cancelled"


def test_events_begin_and_end_with_the_run(temporary: Open) -> None:
    handle = temporary(lookup).start("print('hi')\ntools.crm.lookup(email='z').value")
    for events in (list(handle.events()), list(handle.events())):
        names = [type(event).__name__ for event in events]
        assert len(names) >= 4
        assert all(event.run_id == handle.run_id for event in events)


def test_async_code_awaits_runs_and_follows_their_events() -> None:
    async def main() -> None:
        async with CoilClaw.temporary(tools=[lookup], cache=cache_folder()) as claw:
            handles = [claw.start(ECHO, inputs={"number": number}) for number in range(20)]
            assert [(await handle).value for handle in handles] == [str(number) for number in range(20)]
            assert len([event async for event in handles[0].events()]) >= 3

    asyncio.run(main())


def test_async_tools_run_on_the_callers_loop() -> None:
    loops: list[object] = []

    @define_tool(id="here.loop", risk="read")
    async def loop(ctx: ToolContext) -> int:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return 1

    async def main() -> None:
        async with CoilClaw.temporary(tools=[loop], cache=cache_folder()) as claw:
            assert (await claw.start("tools.here.loop().unwrap()")).value == 1
            assert loops == [asyncio.get_running_loop()]
            with pytest.raises(WouldBlock):
                claw.run("1")
            assert (await asyncio.to_thread(claw.run, "tools.here.loop().unwrap()")).value == 1

    asyncio.run(main())
    with CoilClaw.temporary(tools=[loop], cache=cache_folder()) as claw:
        assert claw.run("tools.here.loop().unwrap()").value == 1
    assert len(loops) == 3
    assert loops[0] is loops[1] is not loops[2]


def test_a_call_on_the_callers_loop_that_takes_too_long_is_cancelled() -> None:
    cancelled = []

    @define_tool(id="here.sleep", risk="read", timeout=0.2)
    async def sleep(ctx: ToolContext) -> int:
        try:
            await asyncio.sleep(300)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return 1

    async def main() -> None:
        async with CoilClaw.temporary(tools=[sleep], cache=cache_folder()) as claw:
            assert (await claw.start("tools.here.sleep().error.code")).value == "timeout"

    asyncio.run(main())
    assert cancelled == [True]


def test_leaving_async_with_ends_a_run_whose_tool_is_on_the_loop() -> None:
    async def main() -> str:
        began = asyncio.Event()

        @define_tool(id="here.sleep", risk="read")
        async def sleep(ctx: ToolContext) -> int:
            began.set()
            await asyncio.sleep(300)
            return 1

        async with CoilClaw.temporary(tools=[sleep], cache=cache_folder()) as claw:
            handle = claw.start("tools.here.sleep()")
            await began.wait()
        return (await handle).status

    assert asyncio.run(main()) == "cancelled"


def children() -> set[str]:
    """The processes of this one, of whichever thread."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


def test_nothing_is_left_after_closing() -> None:
    """Threads, processes and descriptors, with both engines and with async tools."""

    @define_tool(id="here.asynchronous", risk="read")
    async def asynchronous(ctx: ToolContext) -> int:
        return 1

    def used() -> None:
        with CoilClaw.temporary(tools=[lookup, asynchronous], cache=cache_folder()) as claw:
            for engine in ("wasm", "restricted"):
                handles = [claw.start("tools.here.asynchronous().value", engine=engine) for _ in range(8)]
                assert [handle.result(60).value for handle in handles] == [1] * 8
            assert list(handles[-1].events())

    used()  # What is loaded once stays.
    threads, files, processes = set(threading.enumerate()), len(os.listdir("/proc/self/fd")), children()
    used()
    gc.collect()
    left = [each for each in threading.enumerate() if each not in threads]
    for thread in left:
        thread.join(60)
        assert not thread.is_alive(), thread
    assert len(os.listdir("/proc/self/fd")) <= files
    assert children() <= processes
