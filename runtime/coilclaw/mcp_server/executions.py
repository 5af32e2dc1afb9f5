"""Executing what clients ask for: on threads, a bounded number at a time, cancelled with their requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

import anyio
from anyio import CapacityLimiter, create_memory_object_stream, create_task_group
from anyio.abc import ObjectReceiveStream
from anyio.to_thread import run_sync

from coilclaw.app import Deadline

__all__ = ["Executions", "Progress", "TooBusy"]

T = TypeVar("T")
Progress = Callable[[str, str], None]
"""Receives what a tool reports while it runs, on any thread."""
Report = Callable[[int, str], Awaitable[None]]
"""Sends the number and the text of a report to the client."""

_AT_ONCE: Final = 8
_MOST: Final = 64
"""Requests under way and waiting for a thread; beyond that they are refused."""
_MOST_REPORTS: Final = 32
_LONGEST_REPORT: Final = 300


class TooBusy(Exception):
    """More requests are under way than this server takes at a time."""


class Executions:
    """Everything that one server executes. Belongs to its event loop."""

    def __init__(self, *, at_once: int = _AT_ONCE, most: int = _MOST) -> None:
        self._threads = CapacityLimiter(at_once)
        self._looks = CapacityLimiter(at_once)
        self._most = most
        self._under_way = 0

    async def look(self, work: Callable[[], T]) -> T:
        """Read from the store, on a thread, so that the event loop stays free."""
        with _Counted(self):
            return await run_sync(work, limiter=self._looks)

    async def execute(self, work: Callable[[Deadline, Progress], T], seconds: float, report: Report) -> T:
        """Carry out something that runs tools, and wait until it has ended.

        A request that is cancelled cancels the deadline, and still waits: whatever was started has its receipts then.
        """
        deadline = Deadline(seconds)
        done: list[T] = []
        failed: Exception | None = None
        with _Counted(self):
            async with create_task_group() as tasks:
                sending, receiving = create_memory_object_stream[str](_MOST_REPORTS)
                progress = _passed_on(asyncio.get_running_loop(), sending.send_nowait)
                tasks.start_soon(_cancel_with_this_task, deadline)
                tasks.start_soon(_send_reports, receiving, report)
                try:
                    done = [await run_sync(partial(work, deadline, progress), limiter=self._threads)]
                except Exception as error:
                    failed = error  # As it is, and not in a group.
                finally:
                    sending.close()
                    tasks.cancel_scope.cancel()
        if failed is not None:
            raise failed
        return done[0]


class _Counted:
    """One request, while it is under way."""

    def __init__(self, executions: Executions) -> None:
        self._of = executions

    def __enter__(self) -> None:
        if self._of._under_way >= self._of._most:
            raise TooBusy
        self._of._under_way += 1

    def __exit__(self, *error: object) -> None:
        self._of._under_way -= 1


async def _cancel_with_this_task(deadline: Deadline) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        deadline.cancel()


def _passed_on(loop: asyncio.AbstractEventLoop, put: Callable[[str], None]) -> Progress:
    def take(text: str) -> None:
        # A client that reads slowly misses some, and a tool that comes late has nobody to tell.
        with suppress(anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            put(text)

    def progress(tool: str, message: str) -> None:
        with suppress(RuntimeError):  # The loop is closed.
            loop.call_soon_threadsafe(take, f"{tool}: {message}"[:_LONGEST_REPORT])

    return progress


async def _send_reports(reports: ObjectReceiveStream[str], send: Report) -> None:
    number = 0
    async with reports:
        async for text in reports:
            number += 1
            with suppress(Exception):  # A client that is gone is noticed elsewhere; the run is not to end for this.
                await send(number, text)
