"""Threads that are left alone, and threads that are not."""

from __future__ import annotations

import _thread
import asyncio
import json
import threading
import time
from collections.abc import Callable

import pytest
from pydantic import BaseModel, field_serializer
from tests.conftest import World

from coilclaw.bridge import Handlers
from coilclaw.sandbox import Abandoned, Deadline, ExpendableThreads
from coilclaw.sandbox.threads import _JobThread
from coilclaw.sdk import ToolContext, define_tool


def test_results_and_errors_come_back() -> None:
    handlers = Handlers()
    assert handlers.threads.run(lambda: 3, Deadline(10)) == 3
    with pytest.raises(ZeroDivisionError):
        handlers.threads.run(lambda: 1 // 0, Deadline(10))
    with pytest.raises(TimeoutError):
        handlers.run_async(_times_out, 10, Deadline(10))
    handlers.close()


async def _times_out() -> None:
    raise TimeoutError("the handler's own")


def test_a_hanging_handler_is_abandoned_and_its_thread_ends_later() -> None:
    handlers = Handlers()
    release = threading.Event()
    with pytest.raises(Abandoned):
        handlers.threads.run(lambda: release.wait(30), Deadline(10), timeout=0.02)
    assert handlers.threads.run(lambda: "next", Deadline(10)) == "next"
    release.set()
    handlers.close()


def test_a_job_that_is_given_up_before_its_thread_takes_it_is_never_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine so busy that the thread does not get its turn in time."""
    done: list[str] = []
    late: list[Callable[[], None]] = []
    start = _JobThread.start
    with monkeypatch.context() as patched:
        patched.setattr(_JobThread, "start", lambda worker, task: late.append(lambda: start(worker, task)))
        threads = ExpendableThreads()
        with pytest.raises(Abandoned):
            threads.run(lambda: done.append("given up"), Deadline(10), timeout=0.02)
    late[0]()
    _wait_until(lambda: bool(threads._idle))
    threads.run(lambda: done.append("wanted"), Deadline(10))
    assert done == ["wanted"]
    threads.close()


def test_a_thread_whose_job_was_given_up_is_used_again_once_it_has_ended() -> None:
    threads, release = ExpendableThreads(), threading.Event()
    with pytest.raises(Abandoned):
        threads.run(lambda: release.wait(30), Deadline(10), timeout=0.02)
    assert threads._idle == []
    release.set()
    _wait_until(lambda: len(threads._idle) == 1)
    threads.close()


def test_an_async_handler_is_cancelled() -> None:
    handlers = Handlers()
    cancelled = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(Abandoned):
        handlers.run_async(hang, 0.02, Deadline(10))
    assert cancelled.wait(60)
    handlers.close()


def test_no_handler_is_begun_when_there_is_no_time_left() -> None:
    handlers = Handlers()
    begun: list[str] = []

    async def wait() -> None:
        begun.append("async")

    with pytest.raises(Abandoned):
        handlers.run_async(wait, 0, Deadline(30))
    with pytest.raises(Abandoned):
        handlers.run("v", lambda: begun.append("plain"), 0, Deadline(30))
    assert handlers.run_async(_nothing, 30, Deadline(30)) is None, "what was queued before has had its turn"
    assert begun == []
    handlers.close()


async def _nothing() -> None:
    return None


class Slow(BaseModel):
    """Takes its time to become JSON."""

    x: int

    @field_serializer("x")
    def _late(self, x: int) -> int:
        threading.Event().wait(0.9)
        return x


def test_the_time_of_an_async_tool_covers_what_its_output_takes(world: World) -> None:
    @define_tool(id="test.slow", risk="read", timeout=1.2)
    async def slow(ctx: ToolContext) -> Slow:
        await asyncio.sleep(0.8)
        return Slow(x=1)

    answer = json.loads(world.bridge(slow).call("test.slow", b"{}", 1))
    assert answer["code"] == "timeout"


def test_async_handlers_share_one_loop() -> None:
    handlers = Handlers()

    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert handlers.run_async(loop, 10, Deadline(10)) is handlers.run_async(loop, 10, Deadline(10))
    handlers.close()


def test_threads_are_reused() -> None:
    handlers = Handlers()
    names = {handlers.threads.run(threading.get_ident, Deadline(10)) for _ in range(20)}
    assert len(names) == 1
    handlers.close()


def test_a_quick_handler_moves_to_the_calling_thread_and_back() -> None:
    handlers = Handlers()
    here = threading.get_ident()
    assert handlers.run("v1", threading.get_ident, 10, Deadline(10)) != here
    # On a busy machine a quick one may look slow several times.
    assert any(handlers.run("v1", threading.get_ident, 10, Deadline(10)) == here for _ in range(1000))
    slow = threading.Event()
    handlers.run("v1", lambda: slow.wait(0.05), 10, Deadline(10))
    assert handlers.run("v1", threading.get_ident, 10, Deadline(10)) != here
    handlers.close()


def test_an_interrupt_cancels_and_waits_for_the_end() -> None:
    threads, deadline = ExpendableThreads(), Deadline(10)

    def job() -> str:
        _thread.interrupt_main()
        _wait_until(lambda: deadline.cancelled)
        return "ended"

    assert threads.run(job, deadline) == "ended"
    threads.close()


def _wait_until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.001)
