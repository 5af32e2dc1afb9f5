"""Thread pools, where there are no threads: tools are called at once, everything else in turn."""

from __future__ import annotations

import asyncio
import concurrent.futures
import concurrent.futures.thread
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from coilclaw.sandbox.guest.pending_calls import PendingCall, Waiting
from coilclaw.sandbox.guest.run_warnings import run_warnings
from coilclaw.sandbox.guest.tools import Tools, snippet_line

__all__ = ["CallFuture", "InlineExecutor", "settled", "to_thread", "use_inline_executors"]


class CallFuture(concurrent.futures.Future[Any]):
    """The future of a tool that was given to a pool: its call is under way."""

    def __init__(self, call: PendingCall) -> None:
        super().__init__()
        self._call = call
        call.tell(self._finish)

    def _finish(self, result: Any) -> None:
        if not self.done():  # A snippet may have set a result of its own.
            self.set_result(result)

    def result(self, timeout: float | None = None) -> Any:
        return self._call.result()

    def exception(self, timeout: float | None = None) -> None:
        self._call.result()

    def cancel(self) -> bool:
        return self._call.cancel()


class InlineExecutor(concurrent.futures.Executor):
    """Starts the calls of tools that it is given; runs any other function at once, as the sandbox has no threads."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._calls: list[CallFuture] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        if (tool := _tool(fn)) is not None:
            self._calls.append(CallFuture(tool.start(*args, **kwargs)))
            return self._calls[-1]
        warn_of_threads()
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for call in self._calls if cancel_futures else ():
            call.cancel()
        if wait:
            settled(self._calls)


def _tool(function: Any) -> Tools | None:
    return function if type(function) is Tools else None


def warn_of_threads() -> None:
    """Say once that functions given to threads run one after the other."""
    import sys

    told = "there are no threads here: functions run one after the other; "
    how = "for calls at once, `await asyncio.gather(*[tools.a.b.start(...) for ...])`"
    run_warnings.add("no_threads", told + how, snippet_line(sys._getframe(1)))


def to_thread(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
    """`asyncio.to_thread`: a tool's call is started right away."""
    if (tool := _tool(func)) is not None:
        return Waiting(tool.start(*args, **kwargs))
    warn_of_threads()
    return _run_inline(func, args, kwargs)


async def _run_inline(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def settled(futures: Iterable[Any]) -> list[Any]:
    """These futures, once the calls among them have their answers."""
    given = list(futures)
    for each in given:
        if type(each) is CallFuture:
            each.result()
    return given


def use_inline_executors() -> None:
    """Make thread pools and `asyncio.to_thread` work this way."""
    concurrent.futures.ThreadPoolExecutor = InlineExecutor  # type: ignore[misc,assignment]
    concurrent.futures.thread.ThreadPoolExecutor = InlineExecutor  # type: ignore[misc,assignment]
    concurrent.futures.ProcessPoolExecutor = InlineExecutor  # type: ignore[misc,assignment]
    asyncio.to_thread = asyncio.threads.to_thread = to_thread  # type: ignore[assignment]
    wait, as_completed = concurrent.futures.wait, concurrent.futures.as_completed
    concurrent.futures.wait = lambda fs, *args, **options: wait(settled(fs), *args, **options)  # type: ignore[assignment]
    concurrent.futures.as_completed = lambda fs, timeout=None: as_completed(settled(fs), timeout)  # type: ignore[assignment]
