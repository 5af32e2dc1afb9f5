"""An asyncio event loop whose only source of events is the host."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import sys
import weakref
from asyncio import base_events, events, tasks
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from coilclaw.sandbox.guest.executor import InlineExecutor, use_inline_executors
from coilclaw.sandbox.guest.pending_calls import Completions, PendingCall, Waiting
from coilclaw.sandbox.guest.run_warnings import run_warnings
from coilclaw.sandbox.guest.tracebacks import line_of

__all__ = [
    "Deadlock",
    "SnippetLoop",
    "end_tasks",
    "loops",
    "new_loop",
    "run_loop",
    "use_snippet_loops",
    "warn_of_lost",
]


class Deadlock(RuntimeError):
    """Every task waits for something that nothing will ever set."""


Deadlock.__name__ = Deadlock.__qualname__ = "RuntimeError"  # What a snippet sees of it.


class _InOrder(weakref.WeakKeyDictionary[Any, None]):
    """A set of objects that are alive, in the order in which they came: the order of addresses is nobody's."""

    def add(self, each: Any) -> None:
        self[each] = None

    def discard(self, each: Any) -> None:
        self.pop(each, None)


class SnippetLoop(base_events.BaseEventLoop):
    """Runs callbacks and timers; when there is nothing to run, the host waits for calls and time."""

    def __init__(self, completions: Completions) -> None:
        super().__init__()
        self._completions = completions
        self._selector = self
        self._asyncgens = _InOrder()
        self._tasks = _InOrder()
        self.closing = _InOrder()
        """The tasks that close asynchronous generators: clean-up, which is not cancelled."""

    def select(self, timeout: float | None) -> list[Any]:
        if self._completions.pending:
            self._completions.receive(timeout)
        elif timeout is None:
            raise Deadlock("every task waits for something that nothing will ever set")
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

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:  # type: ignore[override]
        if not asyncio.iscoroutine(coro) and inspect.isawaitable(coro):
            coro = Waiting(coro)
        task = super().create_task(coro, **options)
        self._tasks.add(task)
        return task

    def _asyncgen_finalizer_hook(self, agen: Any) -> None:
        self._asyncgens.discard(agen)
        if not self.is_closed():
            # At once, and not when the loop runs next: it may have nothing else to run for.
            self.closing.add(self.create_task(agen.aclose()))

    def close(self) -> None:
        if not self.is_closed() and not self.is_running():
            with _set_aside():
                end_tasks(self)
        super().close()

    def forget(self, hopeless: Iterable[asyncio.Task[Any]]) -> None:
        """Stop counting tasks that will never end."""
        for task in hopeless:
            self._tasks.discard(task)

    def unfinished(self) -> list[asyncio.Task[Any]]:
        """The tasks that have not ended, in the order in which they were made."""
        return [task for task in list(self._tasks) if not task.done()]

    def run_until_ended(self, waited_for: Iterable[asyncio.Task[Any]]) -> None:
        """Run until these tasks have ended, however they end. Raises Deadlock if they never will."""
        left = dict.fromkeys(waited_for)

        def ended(task: asyncio.Task[Any]) -> None:
            left.pop(task, None)
            if not left:
                self.stop()

        for task in list(left):
            task.add_done_callback(ended)
        if left:
            self.run_forever()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self.get_exception_handler() is not None:
            super().call_exception_handler(context)
        elif (error := context.get("exception")) is not None:
            warn_of_lost(error)

    def warn_of_lost_exceptions(self) -> None:
        """Warn of the tasks that failed and that nobody has asked for it."""
        for task in list(self._tasks):
            unasked: Any = task
            if task.done() and not task.cancelled() and unasked._log_traceback and (error := task.exception()):
                warn_of_lost(error)


def warn_of_lost(error: BaseException, what: str = "a task that nobody awaited failed") -> None:
    """Warn of an exception that nobody has seen."""
    told = type(error).__name__
    with contextlib.suppress(BaseException):  # What gives its text is the snippet's own code.
        told = f"{told}: {text}" if (text := str(error)) else told
    run_warnings.add("lost_exception", f"{what}: {told}", line_of(error))


# Private from 3.14 on, and deprecated under the public names.
_events: Any = events
_policy_base = getattr(_events, "_AbstractEventLoopPolicy", None) or _events.AbstractEventLoopPolicy
_set_policy = getattr(_events, "_set_event_loop_policy", None) or _events.set_event_loop_policy


loops: Final[list[SnippetLoop]] = []
"""The loops of this run whose tasks are waited for at its end."""


def new_loop(completions: Completions) -> SnippetLoop:
    """A loop whose tasks are not lost, whoever runs it."""
    loops.append(SnippetLoop(completions))
    return loops[-1]


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
            return new_loop(completions)

    def run(main: Any, *, debug: bool | None = None, loop_factory: Any = None) -> Any:
        if not inspect.isawaitable(main):
            raise TypeError(f"asyncio.run() takes what can be awaited, not {type(main).__name__}")
        with _set_aside():
            return run_loop(SnippetLoop(completions), main)

    _set_policy(Policy())
    asyncio.run = asyncio.runners.run = run  # type: ignore[assignment]
    # `asyncio.Runner` ends its tasks as `asyncio.run` does here: they are cancelled only when something failed.
    asyncio.runners._cancel_all_tasks = lambda loop: end_tasks(loop, cancel=sys.exc_info()[1] is not None)  # type: ignore[attr-defined]
    asyncio.wait = tasks.wait = _wait  # type: ignore[assignment]
    for name in ("ensure_future", "_ensure_future"):  # The second is what the library itself calls before 3.12.
        if hasattr(tasks, name):
            setattr(tasks, name, _ensure_future)
    asyncio.ensure_future = _ensure_future  # type: ignore[assignment]
    use_inline_executors()


@contextlib.contextmanager
def _set_aside() -> Iterator[None]:
    """Let another loop run inside the one that runs: `asyncio.run` works below a top-level `await`, too."""
    outer = events._get_running_loop()
    task = asyncio.current_task(outer) if outer is not None else None
    library: Any = tasks
    if task is not None:
        library._leave_task(outer, task)
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(outer)
        if task is not None:
            library._enter_task(outer, task)


def run_loop(loop: SnippetLoop, main: Any) -> Any:
    """Run something on the loop, and then the tasks that it has left; its result."""
    task = loop.create_task(main)
    try:
        result = loop.run_until_complete(task)
    except BaseException:
        end_tasks(loop, cancel=True)
        raise
    end_tasks(loop)
    return result


def end_tasks(loop: SnippetLoop, *, cancel: bool = False) -> None:
    """Wait for the tasks that are left, then close the asynchronous generators, as `asyncio.run` does.

    Tasks that wait for something that nothing will set are cancelled, and with `cancel` all are that are no clean-up.
    """
    if loop.is_closed():
        return
    while left := loop.unfinished():
        if not cancel:
            loop._completions.host.linger(", ".join(map(_shown, left[:5])))
        for task in left:
            if cancel and task not in loop.closing:
                task.cancel()
        try:
            loop.run_until_ended(left)
            continue
        except Deadlock:
            pass
        for task in left:
            task.cancel()
        try:
            loop.run_until_ended(left)
        except Deadlock:
            loop.forget(left)
    if loop._asyncgens:
        with contextlib.suppress(Deadlock):
            loop.run_until_ended([loop.create_task(loop.shutdown_asyncgens())])


def _shown(task: asyncio.Task[Any]) -> str:
    code = getattr(task.get_coro(), "cr_code", None)
    return f"{code.co_qualname}() of line {code.co_firstlineno}" if code is not None else task.get_name()


_real_wait = asyncio.wait
_real_ensure_future: Any = getattr(tasks, "_ensure_future", None) or asyncio.ensure_future


def _ensure_future(awaited: Any, *, loop: Any = None) -> Any:
    """`asyncio.ensure_future`. A call has a future of its own: no task is needed to wait for it."""
    return awaited.future() if type(awaited) is PendingCall else _real_ensure_future(awaited, loop=loop)


async def _wait(fs: Iterable[Any], **options: Any) -> Any:
    """`asyncio.wait`, which by itself takes futures and tasks only."""
    given = {asyncio.ensure_future(each): each for each in fs}
    done, pending = await _real_wait(list(given), **options)

    def named(found: Any) -> set[Any]:
        """A call that was given is found again as itself, everything else as the task that waits for it."""
        return {given[each] if type(given[each]) is PendingCall else each for each in found}

    return named(done), named(pending)
