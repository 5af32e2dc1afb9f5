"""Event loops for async handlers, and what happens when one of them does not answer.

All async handlers share one loop as long as each gives way to the others. A handler that blocks (it sleeps, computes
or reads without `await`) holds up everything on its loop, and Python cannot end it. Whoever waits for a call
therefore asks the loop for a sign of life; one that is overdue is left behind, its blocking tool is named in the
log, and calls that had not begun there begin on another loop. A tool that was seen to block gets a loop of its own
from then on. The number of loops left behind is bounded: beyond it, no other is made and calls are refused.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from coilclaw.bridge.handlers import LoopBlocked, Make
from coilclaw.sandbox import POLL_SECONDS, Abandoned, Deadline

__all__ = ["OVERDUE_SECONDS", "Loops", "run_on_host"]

_logger = logging.getLogger(__name__)

OVERDUE_SECONDS: Final = 1.0
"""How long a loop may take to show a sign of life. On a busy machine, honest work can take half of that."""

_MOST_LEFT_BEHIND: Final = 8
_MOST_BLOCKERS: Final = 1024
_MOST_NAMED: Final = 5


class _Call:
    """One coroutine on its way: begun on a loop, or taken away from it before that."""

    def __init__(self, tool: str, version: str, make: Make) -> None:
        self.tool = tool
        self.version = version
        self._make = make
        self._lock = threading.Lock()
        self._settled: str | None = None

    def _settle(self, as_what: str) -> bool:
        with self._lock:
            first = self._settled is None
            self._settled = self._settled or as_what
            return first

    def take_away(self) -> bool:
        """Prevent the call from starting; False if it has started already."""
        return self._settle("taken away")

    @property
    def taken_away(self) -> bool:
        return self._settled == "taken away"

    async def run(self) -> Any:
        return await self._make() if self._settle("begun") else None


class _Loop:
    """One event loop on a thread of its own."""

    def __init__(self, *, retired: bool) -> None:
        self.loop = asyncio.new_event_loop()
        self.calls: dict[_Call, asyncio.Task[Any] | None] = {}
        """What was submitted and has not ended. Once submitted, a call is entered and removed on the loop's thread."""
        self.retired = retired
        """Ends with the last of its calls."""
        self.reported = False
        self._asked_at: float | None = None
        threading.Thread(target=self._run, name="coilclaw-loop", daemon=True).start()

    def submit(self, call: _Call) -> concurrent.futures.Future[Any]:
        """Run a call on this loop; raises RuntimeError if the loop was closed."""
        self.calls[call] = None
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()

        def begin() -> None:
            if call.taken_away:
                self._forget(call)
                return
            self.calls[call] = task = self.loop.create_task(call.run())
            task.add_done_callback(end)

        def end(task: asyncio.Task[Any]) -> None:
            _hand_over(task, future)
            self._forget(call)

        try:
            self.loop.call_soon_threadsafe(begin)
        except RuntimeError:
            self.calls.pop(call, None)
            raise
        return future

    def _forget(self, call: _Call) -> None:
        del self.calls[call]
        self._stop_if_retired()

    def cancel(self, call: _Call) -> None:
        def cancel() -> None:
            if (task := self.calls.get(call)) is not None:
                task.cancel()

        self.soon(cancel)

    def answers(self) -> bool:
        """Ask for a sign of life, and say whether the last one came in time."""
        moment = time.monotonic()
        asked = self._asked_at
        if asked is None:
            self._asked_at = moment
            self.soon(self._answered)
            return True
        return moment - asked < OVERDUE_SECONDS

    @property
    def blocked(self) -> bool:
        asked = self._asked_at
        return asked is not None and time.monotonic() - asked >= OVERDUE_SECONDS

    def _answered(self) -> None:
        self._asked_at = None

    def suspects(self) -> list[_Call]:
        """The call whose code runs on this loop right now, or all that have begun there."""
        try:
            running = asyncio.current_task(self.loop)
        except RuntimeError:
            running = None
        known = list(self.calls.items())
        begun = [(call, task) for call, task in known if task is not None]
        return [call for call, task in begun if task is running] or [call for call, _ in begun]

    def retire(self) -> None:
        """Take no more calls, and end with the last of those that are here."""
        self.retired = True
        self.soon(self._stop_if_retired)

    def _stop_if_retired(self) -> None:
        if self.retired and not self.calls:
            self.loop.stop()

    def soon(self, job: Callable[[], object]) -> None:
        try:
            self.loop.call_soon_threadsafe(job)
        except RuntimeError:
            _logger.debug("the loop is closed")

    def _run(self) -> None:
        try:
            while True:
                try:
                    self.loop.run_forever()
                    return
                except (SystemExit, KeyboardInterrupt) as error:
                    # Of a task that a handler began: it must not end the loop of the others.
                    _logger.warning("a task of %s raised %s", _named(self.suspects()), type(error).__name__)
        finally:
            self.loop.close()


class Loops:
    """The loops of one process. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shared: _Loop | None = None
        self._all: list[_Loop] = []
        self._blockers: set[str] = set()

    def run(self, tool: str, version: str, make: Make, timeout: float, deadline: Deadline) -> Any:
        """Run the coroutine that `make` makes and return its result; it is cancelled when it takes too long."""
        call = _Call(tool, version, make)
        loop, future = self._submitted(call)
        ends = time.monotonic() + timeout
        while not _is_done(future, ends):
            if time.monotonic() >= ends or deadline.over:
                call.take_away()
                loop.cancel(call)
                raise Abandoned
            if not loop.answers():
                self._leave_behind(loop)
                if call.take_away():
                    call = _Call(tool, version, make)
                    loop, future = self._submitted(call)
        return future.result()

    def _submitted(self, call: _Call) -> tuple[_Loop, concurrent.futures.Future[Any]]:
        with self._lock:
            if call.version in self._blockers:
                loop = self._made(retired=True)
            else:
                if self._shared is None or self._shared.loop.is_closed():
                    self._shared = self._made(retired=False)
                loop = self._shared
            return loop, loop.submit(call)

    def _made(self, *, retired: bool) -> _Loop:
        self._all = [each for each in self._all if not each.loop.is_closed()]
        if sum(each.blocked for each in self._all) >= _MOST_LEFT_BEHIND:
            raise LoopBlocked(_named([call for each in self._all if each.blocked for call in each.suspects()]))
        loop = _Loop(retired=retired)
        self._all.append(loop)
        return loop

    def _leave_behind(self, loop: _Loop) -> None:
        """Take a loop that does not answer out of use, name who blocks it, and keep that tool apart from now on."""
        with self._lock:
            if loop.reported:
                return
            loop.reported = True
            loop.retire()
            if self._shared is loop:
                self._shared = None
            suspects = loop.suspects()
            if len(self._blockers) >= _MOST_BLOCKERS:
                self._blockers.clear()
            self._blockers.update(call.version for call in suspects)
        _logger.warning(
            "%s blocks the event loop of async tools: await what takes long, or make the handler a plain function",
            _named(suspects),
        )

    def close(self) -> None:
        with self._lock:
            loops, self._all, self._shared = self._all, [], None
        for loop in loops:
            loop.soon(loop.loop.stop)


def run_on_host(loop: asyncio.AbstractEventLoop, make: Make, timeout: float, deadline: Deadline) -> Any:
    """Run the coroutine that `make` makes on a loop that is not ours and return its result.

    It is cancelled when it takes too long. A loop that does not answer is its owner's concern: the call is abandoned
    when its time is up, like one of a handler that takes too long.
    """

    async def call() -> Any:
        return await make()

    future = asyncio.run_coroutine_threadsafe(call(), loop)
    ends = time.monotonic() + timeout
    while not _is_done(future, ends):
        if time.monotonic() >= ends or deadline.over:
            future.cancel()
            raise Abandoned
    return future.result()


def _is_done(future: concurrent.futures.Future[Any], ends: float) -> bool:
    """Wait for a moment, and no longer than until `ends`; say whether the future is done."""
    with suppress(TimeoutError):  # That of the waiting: `exception` returns the handler's own.
        future.exception(timeout=max(0.0, min(POLL_SECONDS, ends - time.monotonic())))
    return future.done()


def _named(calls: list[_Call]) -> str:
    tools = sorted({call.tool for call in calls})
    return " or ".join(tools[:_MOST_NAMED]) or "a task that a tool left behind"


def _hand_over(task: asyncio.Task[Any], future: concurrent.futures.Future[Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    if task.cancelled():
        future.set_exception(concurrent.futures.CancelledError())
    elif (error := task.exception()) is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())
