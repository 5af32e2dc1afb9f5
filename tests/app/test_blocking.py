"""On the event loop that async tools run on, whatever blocks is refused, and says what to await instead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.conftest import cache_folder

from coilclaw.app import CoilClaw, RunHandle, WouldBlock
from coilclaw.sdk import ToolContext, define_tool

BLOCKING: dict[str, tuple[Callable[[CoilClaw, RunHandle], Any], str]] = {
    "run": (lambda claw, handle: claw.run("1"), "await claw.start(…)"),
    "call": (lambda claw, handle: claw.call("clock.wait"), "await asyncio.to_thread(claw.call, …)"),
    "rehearse": (lambda claw, handle: claw.rehearse("1"), "await asyncio.to_thread(claw.rehearse, …)"),
    "resume": (lambda claw, handle: claw.resume("x"), "await asyncio.to_thread(claw.resume, …)"),
    "replay": (lambda claw, handle: claw.replay("x"), "await asyncio.to_thread(claw.replay, …)"),
    "verify": (lambda claw, handle: claw.verify(), "await asyncio.to_thread(claw.verify, …)"),
    "close": (lambda claw, handle: claw.close(), "await asyncio.to_thread(claw.close, …)"),
    "result": (lambda claw, handle: handle.result(), "await handle"),
    "handle.events": (lambda claw, handle: list(handle.events()), "async for"),
    "claw.events": (lambda claw, handle: next(claw.events()), "async for"),
    "feed.of_run": (lambda claw, handle: list(claw.feed.of_run(handle.run_id)), "async for"),
}


@define_tool(id="clock.wait", risk="read")
async def wait(ctx: ToolContext) -> int:
    await asyncio.sleep(0)
    return 1


@pytest.mark.parametrize("method", BLOCKING)
def test_what_blocks_is_refused_on_the_loop_of_async_tools(method: str) -> None:
    use, instead = BLOCKING[method]

    async def main() -> None:
        async with CoilClaw.temporary(tools=[wait], cache=cache_folder()) as claw:
            handle = claw.start("tools.clock.wait().unwrap()")
            with pytest.raises(WouldBlock) as refused:
                use(claw, handle)
            assert f"`{instead}" in refused.value.message
            assert (await handle).value == 1
            assert [event.kind async for event in handle.events()][-1] == "run.finished"

    asyncio.run(main())


def test_other_threads_and_other_loops_may_block() -> None:
    async def elsewhere(claw: CoilClaw) -> Any:
        return claw.call("clock.wait").value

    async def main() -> None:
        async with CoilClaw.temporary(tools=[wait], cache=cache_folder()) as claw:
            assert (await asyncio.to_thread(claw.call, "clock.wait")).value == 1
            assert await asyncio.to_thread(lambda: asyncio.run(elsewhere(claw))) == 1
            await asyncio.to_thread(claw.close)

    asyncio.run(main())


def test_an_app_that_was_not_entered_with_async_has_a_loop_of_its_own() -> None:
    async def main() -> Any:
        with CoilClaw.temporary(tools=[wait], cache=cache_folder()) as claw:
            handle = claw.start("tools.clock.wait().unwrap()")
            assert list(handle.events())[-1].kind == "run.finished"
            return claw.run("tools.clock.wait().unwrap()").value

    assert asyncio.run(main()) == 1
