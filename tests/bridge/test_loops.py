"""Async handlers that block their loop: named, kept apart, and no burden to the others."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from tests.conftest import World

from coilclaw.bridge import Handlers
from coilclaw.bridge.handlers import LoopBlocked
from coilclaw.bridge.loops import _Call
from coilclaw.sandbox import Abandoned, Deadline
from coilclaw.sdk import ToolContext, define_tool


@pytest.fixture
def handlers() -> Iterator[Handlers]:
    made = Handlers()
    yield made
    made.close()


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def _block(handlers: Handlers, released: threading.Event, tool: str = "slow.tool") -> threading.Thread:
    """A call that blocks its loop, under way on a thread of its own."""
    entered = threading.Event()

    async def block() -> None:
        entered.set()
        released.wait(60)

    def run() -> None:
        handlers.run_async(block, 60, Deadline(60), tool=tool, version=tool)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert entered.wait(60)
    return thread


def test_a_handler_that_blocks_does_not_hold_up_a_call_of_another_run(world: World, released: threading.Event) -> None:
    entered, ended = threading.Event(), list[int]()

    @define_tool(id="test.block", risk="read", timeout=50)
    async def block(ctx: ToolContext) -> int:
        entered.set()
        released.wait(60)
        ended.append(1)
        return 1

    @define_tool(id="test.quick", risk="read")
    async def quick(ctx: ToolContext) -> int:
        return 2

    first, second = world.bridge(block, quick, seconds=60), world.bridge(block, quick, seconds=60)
    first.begin("test.block", b"{}", 1)
    assert entered.wait(60)
    assert json.loads(second.call("test.quick", b"{}", 1)) == {"ok": True, "value": 2}
    assert not ended
    released.set()
    ((_, answer),) = json.loads(first.wait(None))
    assert json.loads(answer) == {"ok": True, "value": 1}
    first.close()
    second.close()


def test_the_tool_that_blocks_is_named(
    handlers: Handlers, released: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        _block(handlers, released)
        handlers.run_async(_loop, 30, Deadline(30), tool="innocent.tool")
    # On a machine with other things to do, the next loop may be late as well; the first one to be named is the one.
    first, *_ = [record.getMessage() for record in caplog.records if "blocks the event loop" in record.getMessage()]
    assert first.startswith("slow.tool blocks")


def test_a_tool_that_has_blocked_gets_a_loop_of_its_own(handlers: Handlers, released: threading.Event) -> None:
    _block(handlers, released)
    shared = {handlers.run_async(_loop, 30, Deadline(30), tool="other", version="other") for _ in range(5)}
    assert len(shared) < 5
    own = {handlers.run_async(_loop, 30, Deadline(30), tool="slow.tool", version="slow.tool") for _ in range(5)}
    assert len(own) == 5
    assert not shared & own


def test_a_loop_that_was_left_behind_ends_once_it_is_free(handlers: Handlers, released: threading.Event) -> None:
    loop = handlers.run_async(_loop, 30, Deadline(30))
    thread = _block(handlers, released)
    assert handlers.run_async(_loop, 30, Deadline(30)) is not loop
    assert not loop.is_closed()
    released.set()
    thread.join(60)
    _wait_for(loop.is_closed)


def test_a_loop_of_its_own_ends_although_its_call_was_given_up_while_it_began(
    handlers: Handlers, released: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    _block(handlers, released)
    handlers.run_async(_loop, 30, Deadline(30))  # Finds the loop blocked, and slow.tool to be the one who does it.
    given_up, run = threading.Event(), _Call.run

    def begin_late(call: _Call) -> Coroutine[Any, Any, Any]:
        given_up.wait(60)
        return run(call)

    monkeypatch.setattr(_Call, "run", begin_late)
    with pytest.raises(Abandoned):
        handlers.run_async(_loop, 0.05, Deadline(30), tool="slow.tool", version="slow.tool")
    given_up.set()
    assert handlers._loops is not None
    own = handlers._loops._all[-1]
    assert own.retired
    _wait_for(own.loop.is_closed)


def test_calls_behind_one_that_blocks_get_another_loop_and_those_given_up_never_begin(
    handlers: Handlers, released: threading.Event
) -> None:
    loop, begun = handlers.run_async(_loop, 30, Deadline(30)), []

    async def begin() -> None:
        begun.append(1)

    thread = _block(handlers, released)
    with pytest.raises(Abandoned):
        handlers.run_async(begin, 0.05, Deadline(30), tool="given.up")
    assert handlers.run_async(_loop, 30, Deadline(30)) is not loop
    released.set()
    thread.join(60)
    _wait_for(loop.is_closed)
    assert begun == []


def test_loops_that_are_blocked_for_good_are_bounded(handlers: Handlers, released: threading.Event) -> None:
    for number in range(8):
        _block(handlers, released, f"tool.{number}")
        if number < 7:
            handlers.run_async(_loop, 60, Deadline(60), tool="innocent.tool", version="innocent")

    def refused() -> str:
        try:
            handlers.run_async(_loop, 60, Deadline(60), tool="innocent.tool", version="innocent")
        except LoopBlocked as blocked:
            return str(blocked)
        return ""

    _wait_for(lambda: "tool.0" in refused())
    released.set()
    _wait_for(lambda: not refused())


def test_a_blocked_call_is_given_up_at_its_time(handlers: Handlers, released: threading.Event) -> None:
    ended: list[int] = []

    async def block() -> None:
        released.wait(60)
        ended.append(1)

    with pytest.raises(Abandoned):
        handlers.run_async(block, 0.1, Deadline(50), tool="slow.tool")
    assert not ended


def test_a_task_that_a_handler_left_behind_does_not_end_the_loop_of_others(handlers: Handlers) -> None:
    async def ends() -> None:
        raise SystemExit(3)

    async def leaves() -> asyncio.AbstractEventLoop:
        task = asyncio.get_running_loop().create_task(ends())
        task.add_done_callback(lambda done: done.exception())
        return asyncio.get_running_loop()

    loop = handlers.run_async(leaves, 10, Deadline(10))
    assert handlers.run_async(_loop, 10, Deadline(10)) is loop


def _wait_for(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)
