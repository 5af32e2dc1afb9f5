"""The thread on which tool files are imported, so that one that does not end can be given up.

A thread cannot be killed. One that runs Python is sent an exception, which ends it; one that sleeps or waits in C is
left behind as a daemon and gets the exception when it comes back. Nothing it does afterwards is used.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import ModuleType, TracebackType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from coilclaw.workspace_tools.import_streams import ImportStreams, hear

__all__ = ["Finished", "ImportThread", "Place", "Stuck"]

T = TypeVar("T")

_ATTEMPTS: Final = 3
_ATTEMPT_SECONDS: Final = 0.05
_SLOW_SECONDS: Final = 1.0


class Place(NamedTuple):
    """A line that was being executed; `at_top` says whether it stands at the top level of a module."""

    file: str
    line: int
    at_top: bool


class Finished(NamedTuple, Generic[T]):
    """A job that ended, and what it printed."""

    value: T
    printed: str


class Stuck(NamedTuple):
    """A job that was given up, and where it stood, innermost first."""

    seconds: float
    places: tuple[Place, ...]


class GivenUp(SystemExit):
    """Sent to a thread that takes too long. Of this kind because threads end silently with it."""


class ImportThread:
    """Runs jobs one after the other, each for a bounded time.

    The more jobs of it were given up, the less time the next one has: many files that hang must not add up.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._given_up = 0
        self._worker: _Worker | None = None
        self._streams = ImportStreams()
        self._functions: list[tuple[ModuleType, str, Any]] = []
        self.heard: set[str] = set()
        """The files that printed something, which is told once."""

    def run(self, job: Callable[[], T], slow: Callable[[float], None]) -> Finished[T] | Stuck:
        """Run the job, which raises nothing. `slow` is called, with the bound, if it takes long."""
        if self._worker is None:
            self._worker = _Worker()
        worker, seconds = self._worker, self._seconds / (1 + self._given_up)
        task = _Task(job)
        try:
            worker.tasks.put(task)
            if not task.over.wait(min(seconds, _SLOW_SECONDS)):
                slow(seconds)
                task.over.wait(seconds - min(seconds, _SLOW_SECONDS))
            if task.result is not None:
                return task.result
            places = worker.places()
        except BaseException:  # Somebody pressed Ctrl-C while waiting.
            self._give_up(worker)
            raise
        self._give_up(worker)
        return Stuck(seconds, places)

    def _give_up(self, worker: _Worker) -> None:
        self._given_up += 1
        self._worker = None
        if not worker.end():
            self._streams.stay = True

    def __enter__(self) -> ImportThread:
        self._streams.__enter__()
        self._functions = [(module, name, getattr(module, name)) for module, name in _ENDING]
        for (module, name), stand_in in _ENDING.items():
            setattr(module, name, stand_in)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._worker is not None:
            self._worker.tasks.put(None)
        for module, name, function in self._functions if not self._streams.stay else ():
            setattr(module, name, function)
        self._streams.__exit__()


_end_process: Final = os._exit
_own_group: Final = os.getpgrp
_importing: Final[dict[int, int]] = {}
"""The threads that import, and the process they belong to: a fork of it may end as it likes."""


def _stand_in(module: ModuleType, name: str) -> Callable[..., Any]:
    """Stands for a function that ends the process, or becomes another program, while files are imported.

    One of them must not end the command without a word.
    """
    function = getattr(module, name)

    def raise_or_end(*args: Any, **kwargs: Any) -> Any:
        if _importing.get(threading.get_ident()) == os.getpid() and _is_about_us(name, args):
            raise SystemExit(args[0] if name == "_exit" and args else f"{name} would end the command")
        return function(*args, **kwargs)

    return raise_or_end


def _is_about_us(name: str, args: tuple[Any, ...]) -> bool:
    if name not in ("kill", "killpg"):
        return True
    ours = (os.getpid(), 0, -1, -_own_group()) if name == "kill" else (0, _own_group())
    return args[:1] != () and args[0] in ours and args[1:] != (0,)


_ENDING: Final = {
    (module, name): _stand_in(module, name)
    for module, names in ((os, "_exit abort execv execve kill killpg"), (signal, "raise_signal"))
    for name in names.split()
}


class _Task:
    def __init__(self, job: Callable[[], Any]) -> None:
        self._job = job
        self.over = threading.Event()
        self.result: Finished[Any] | None = None

    def run(self) -> None:
        try:
            heard = hear()
            value = self._job()
            self.result = Finished(value, heard.text)
        finally:
            self.over.set()


class _Worker:
    """One thread, and the jobs that wait for it."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._process = os.getpid()
        # Threads that a file starts are daemons too, by inheritance, so that none keeps a command from ending.
        self._thread = threading.Thread(target=self._work, name="coilclaw-import", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            _importing[threading.get_ident()] = self._process
            while (task := self.tasks.get()) is not None:
                task.run()
                if os.getpid() != self._process:
                    _end_process(0)  # The file forked, and this is the copy: there is nothing for it to go on with.
                del task
        finally:
            _importing.pop(threading.get_ident(), None)
            with self._lock:
                self._ended.set()

    def places(self) -> tuple[Place, ...]:
        """Where the thread is, innermost first."""
        found: list[Place] = []
        frame = sys._current_frames().get(self._thread.ident or 0)
        while frame is not None:
            code = frame.f_code
            found.append(Place(code.co_filename, frame.f_lineno or 0, code.co_name == "<module>"))
            frame = frame.f_back
        return tuple(found)

    def end(self) -> bool:
        """Have the thread end; False if it does not, at least not now."""
        import ctypes

        send = ctypes.pythonapi.PyThreadState_SetAsyncExc
        self.tasks.put(None)
        for _ in range(_ATTEMPTS):
            # Under the lock the thread is there: another one cannot have got its number.
            with self._lock:
                if self._ended.is_set():
                    return True
                send(ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(GivenUp))
            if self._ended.wait(_ATTEMPT_SECONDS):
                return True
        return False
