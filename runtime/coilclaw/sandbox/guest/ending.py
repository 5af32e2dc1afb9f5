"""The end of a run, so that nothing the snippet has begun is lost.

When the source has run, the calls that it started are waited for, and the tasks that it made; then its clean-up code
runs, as at the end of a Python program: asynchronous generators are closed, and what was registered with `atexit` is
called. Calls that are started meanwhile are waited for as well. All of this belongs to the run and to its time.

A snippet that fails makes no further call: its tasks are cancelled, and calls whose tools have not started are
withdrawn. Those that have started are waited for.
"""

from __future__ import annotations

import asyncio
import atexit
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from coilclaw.sandbox.guest.loop import end_tasks, loops, new_loop, run_loop, warn_of_lost
from coilclaw.sandbox.guest.pending_calls import Completions
from coilclaw.sandbox.guest.run_warnings import run_warnings

__all__ = ["Ending", "Exits", "exits", "use_exits", "warn_of_coroutine"]

_MOST_LOOKED_AT: Final = 1000
_MOST_FAILURES: Final = 100


class Exits:
    """What a snippet has registered to be called at its end; the last is called first."""

    def __init__(self) -> None:
        self._registered: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []

    def register(self, func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        if not callable(func):
            raise TypeError("the first argument must be callable")
        self._registered.append((func, args, kwargs))
        return func

    def unregister(self, func: Callable[..., Any], /) -> None:
        self._registered = [each for each in self._registered if each[0] is not func]

    def run(self) -> bool:
        """Call them all, whatever they raise; whether there were any."""
        found = bool(self._registered)
        while self._registered:
            func, args, kwargs = self._registered.pop()
            try:
                func(*args, **kwargs)
            except SystemExit:
                pass
            except BaseException as error:
                warn_of_lost(error, "a function that was registered with atexit failed")
        return found


exits: Final = Exits()


def use_exits() -> None:
    """Make `atexit` and forgotten coroutines known to the end of the run."""
    atexit.register, atexit.unregister = exits.register, exits.unregister
    warnings._warn_unawaited_coroutine = warn_of_coroutine  # type: ignore[attr-defined]


def warn_of_coroutine(coroutine: Any) -> None:
    """Warn of a coroutine that was made and never awaited."""
    code = coroutine.cr_code
    origin = coroutine.cr_origin
    line = origin[0][1] if origin else code.co_firstlineno
    told = f"{code.co_qualname}() was never awaited, so nothing of it ran: write `await` before the call"
    run_warnings.add("unawaited", told, line)


class Ending:
    """Runs what is asynchronous in one snippet, and brings the run to its end."""

    def __init__(self, completions: Completions, module: types.ModuleType) -> None:
        self._completions = completions
        self._module = module
        loops.clear()
        sys.set_coroutine_origin_tracking_depth(1)

    def run(self, awaited: Any) -> Any:
        """Run something that can be awaited, and then the tasks that it leaves; its result."""
        loop = new_loop(self._completions)
        asyncio.set_event_loop(loop)
        return run_loop(loop, awaited)

    def complete(self) -> None:
        """Wait for everything that was begun, and clean up."""
        self._receive()
        while exits.run():
            self._receive()

    def give_up(self) -> None:
        """End what was begun by a snippet that failed. A clean-up that fails does not keep others from running."""
        for _ in range(_MOST_FAILURES):
            try:
                self._withdraw()
                while exits.run():
                    self._withdraw()
                return
            except BaseException as error:
                warn_of_lost(error, "the clean-up failed")

    def _withdraw(self) -> None:
        for number in self._completions.pending:
            self._completions.host.withdraw(number)
        self._receive(cancel=True)

    def _receive(self, *, cancel: bool = False) -> None:
        """Wait until nothing is left: what ends may begin something else."""
        is_left = True
        while is_left:
            while self._completions.pending:
                self._completions.receive(None)
            for loop in list(loops):
                end_tasks(loop, cancel=cancel)
            is_left = bool(self._completions.pending) or any(loop.unfinished() for loop in loops)

    def warn(self, value: Any) -> None:
        """Collect what was lost without a word. `value` is what the run ended with."""
        self._completions.warn_of_unread()
        for loop in loops:
            loop.warn_of_lost_exceptions()
        for coroutine in self._forgotten():
            warn_of_coroutine(coroutine)
        if value is None and not run_warnings.has_output:
            told = "nothing was printed, and the last line has no value"
            run_warnings.add("no_output", f"{told}: end with an expression, or print what matters")

    def _forgotten(self) -> Iterator[Any]:
        """Coroutines in the snippet's variables, and in lists there, that have not begun."""
        for value in list(self._module.__dict__.values()):
            held: Iterable[Any] = (value,)
            if type(value) in (list, tuple):
                held = value
            elif type(value) is dict:
                held = value.values()
            for each in islice(held, _MOST_LOOKED_AT):
                if inspect.iscoroutine(each) and inspect.getcoroutinestate(each) == inspect.CORO_CREATED:
                    yield each
