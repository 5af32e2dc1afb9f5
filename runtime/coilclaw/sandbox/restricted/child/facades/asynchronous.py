"""`asyncio` and what belongs to it, on a loop whose only events come from the host."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from asyncio import base_futures
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from coilclaw.sandbox.guest.ending import exits, use_exits
from coilclaw.sandbox.guest.executor import InlineExecutor, settled, to_thread
from coilclaw.sandbox.guest.loop import use_snippet_loops
from coilclaw.sandbox.restricted.child.facades.facade import Facade, take
from coilclaw.sandbox.restricted.child.services import Services
from coilclaw.sandbox.restricted.child.stand_ins import make_stand_in, register_stand_in

__all__ = ["asynchronous_facades"]

_ASYNCIO = (
    "gather sleep wait_for timeout timeout_at TaskGroup create_task shield wait as_completed "
    "iscoroutinefunction iscoroutine isfuture Queue LifoQueue PriorityQueue QueueEmpty QueueFull QueueShutDown "
    "Lock Event "
    "Condition Semaphore BoundedSemaphore Barrier BrokenBarrierError CancelledError TimeoutError InvalidStateError "
    "FIRST_COMPLETED FIRST_EXCEPTION ALL_COMPLETED"
)


def asynchronous_facades(services: Services) -> dict[str, Facade]:
    """The modules; none of them hands out an event loop."""
    use_snippet_loops(services.completions)
    use_exits()
    _recognise_real_futures_only()
    future = make_stand_in("Future", asyncio.Future, lambda: asyncio.get_running_loop().create_future())
    task = make_stand_in("Task", asyncio.Task)
    # The real ones take a loop, to which they hand what they know.
    register_stand_in(future, asyncio.Future, *asyncio.Future.__subclasses__())
    register_stand_in(task, asyncio.Task)
    register_stand_in(make_stand_in("Handle", asyncio.Handle), asyncio.Handle, asyncio.TimerHandle)
    members: dict[str, dict[str, Any]] = {
        "asyncio": {
            **take(asyncio, _ASYNCIO),
            "run": _run,
            "current_task": lambda: asyncio.current_task(),
            "all_tasks": lambda: asyncio.all_tasks(),
            "Future": future,
            "Task": task,
            "ensure_future": _ensure_future,
            "to_thread": to_thread,
            "get_running_loop": _running_loop,
            "get_event_loop": _running_loop,
        },
        "atexit": {"register": exits.register, "unregister": exits.unregister},
        "threading": {
            **take(threading, "Lock RLock"),
            "Event": _Flag,
            "Thread": _no_thread,
            "Timer": _no_thread,
        },
    }
    futures = take(concurrent.futures, "Future as_completed wait CancelledError TimeoutError")
    futures.update({name: _of_real_futures(futures[name]) for name in ("as_completed", "wait")})
    futures.update({"ThreadPoolExecutor": InlineExecutor, "ProcessPoolExecutor": InlineExecutor})
    facades = {name: Facade(name, found) for name, found in members.items()}
    facades["concurrent.futures"] = Facade("concurrent.futures", futures)
    facades["concurrent"] = Facade("concurrent", {"futures": facades["concurrent.futures"]})
    return facades


def _recognise_real_futures_only() -> None:
    """The library takes whatever has a certain attribute for a future, and hands its own callbacks to it."""

    def isfuture(obj: Any) -> bool:
        return issubclass(type(obj), asyncio.Future)

    for module in (asyncio, asyncio.futures, base_futures):
        module.__dict__["isfuture"] = isfuture


def _of_real_futures(function: Callable[..., Any]) -> Callable[..., Any]:
    """These register objects of the library with each future they are given."""

    def checked(fs: Any, *args: Any, **options: Any) -> Any:
        given = list(fs)
        if not all(issubclass(type(future), concurrent.futures.Future) for future in given):
            raise TypeError("futures are made by an executor")
        return function(settled(given), *args, **options)

    return checked


def _run(main: Any, /, *, debug: bool | None = None) -> Any:
    return asyncio.run(main)


def _ensure_future(work: Any, /) -> asyncio.Future[Any]:
    made: asyncio.Future[Any] = asyncio.ensure_future(work)
    return made


class _RunningLoop:
    """The few methods of an event loop that a snippet has a use for."""

    def time(self) -> float:
        return asyncio.get_running_loop().time()

    def create_task(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        return asyncio.create_task(work)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().create_future()

    def call_soon(self, callback: Callable[..., object], *args: Any) -> asyncio.Handle:
        return asyncio.get_running_loop().call_soon(callback, *args)

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(delay, callback, *args)

    def run_in_executor(self, executor: Any, function: Callable[..., Any], *args: Any) -> Any:
        return to_thread(function, *args)

    def run_until_complete(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(work)


def _running_loop() -> _RunningLoop:
    return _RunningLoop()


class _Flag:
    """`threading.Event` where there is one thread: waiting for what is not set would be for ever."""

    def __init__(self) -> None:
        self._set = False

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        self._set = True

    def clear(self) -> None:
        self._set = False

    def wait(self, timeout: float | None = None) -> bool:
        if not self._set and timeout is None:
            raise RuntimeError("no other thread could ever set this event")
        return self._set


def _no_thread(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("can't start new thread")
