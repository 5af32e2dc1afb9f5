"""An asyncio event loop whose only source of events is the host."""

from __future__ import annotations

import asyncio
import concurrent.futures
import concurrent.futures.thread
from asyncio import base_events, events
from collections.abc import Callable
from typing import Any

from coilclaw.sandbox.guest.tools import Completions

__all__ = ["InlineExecutor", "SnippetLoop", "use_snippet_loops"]


class SnippetLoop(base_events.BaseEventLoop):
    """Runs callbacks and timers; when there is nothing to run, the host waits for calls and time."""

    def __init__(self, completions: Completions) -> None:
        super().__init__()
        self._completions = completions
        self._selector = self

    def select(self, timeout: float | None) -> list[Any]:
        if self._completions.pending:
            self._completions.receive(timeout)
        elif timeout is None:
            raise RuntimeError("every task waits for something that nothing will ever set")
        elif timeout > 0:
            self._completions.host.sleep(int(timeout * 1e9))
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        return None

    def _write_to_self(self) -> None:
        return None  # There is no other thread that could be waiting.

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        return asyncio.wrap_future(InlineExecutor().submit(func, *args), loop=self)


class InlineExecutor(concurrent.futures.Executor):
    """Runs what it is given at once: the sandbox has no threads. Parallel calls are made with `.start()`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        return None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


# Private from 3.14 on, and deprecated under the public names.
_events: Any = events
_policy_base = getattr(_events, "_AbstractEventLoopPolicy", None) or _events.AbstractEventLoopPolicy
_set_policy = getattr(_events, "_set_event_loop_policy", None) or _events.set_event_loop_policy


def use_snippet_loops(completions: Completions) -> None:
    """Make `asyncio.run`, `asyncio.new_event_loop` and thread pools work on this loop."""

    class Policy(_policy_base):  # type: ignore[misc,valid-type]
        _current: asyncio.AbstractEventLoop | None = None

        def get_event_loop(self) -> asyncio.AbstractEventLoop:
            if self._current is None:
                raise RuntimeError("there is no current event loop: use `await` at the top level or asyncio.run()")
            return self._current

        def set_event_loop(self, loop: asyncio.AbstractEventLoop | None) -> None:
            self._current = loop

        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            return SnippetLoop(completions)

    _set_policy(Policy())
    concurrent.futures.ThreadPoolExecutor = InlineExecutor  # type: ignore[misc,assignment]
    concurrent.futures.thread.ThreadPoolExecutor = InlineExecutor  # type: ignore[misc,assignment]
    concurrent.futures.ProcessPoolExecutor = InlineExecutor  # type: ignore[misc,assignment]
