"""Running handlers so that nobody has to wait for one that does not come back.

A plain function runs on a thread of its own and is left alone when its time is up: Python cannot
end a thread, so an abandoned handler may still finish what it was doing. An async handler runs on
one event loop shared by all, where it is cancelled.

Changing threads costs more than most of the path of a call. A function that has proven quick is
therefore called where it stands; should it ever hang after all, the run ends at its deadline,
because runs themselves are on threads that can be left alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from coilclaw.sandbox import POLL_SECONDS, Deadline

if TYPE_CHECKING:
    import asyncio  # Imported where it is used: it takes longer to load than a snippet takes to run.

__all__ = ["Abandoned", "Handlers"]

_MOST_IDLE_WORKERS: Final = 8
_QUICK_SECONDS: Final = 0.0005
_PROOFS: Final = 2


class Abandoned(Exception):
    """The handler was not waited for any longer: its time, or the run's, was up."""


class _Worker:
    """A thread that runs one job at a time. Two bare locks, because an Event costs three times as much."""

    def __init__(self) -> None:
        self._wanted = threading.Lock()
        self._wanted.acquire()
        self.finished = threading.Lock()
        self.finished.acquire()
        self._job: Callable[[], Any] | None = None
        self.result: Any = None
        self.error: BaseException | None = None
        self.abandoned = False
        threading.Thread(target=self._work, name="coilclaw-handler", daemon=True).start()

    def start(self, job: Callable[[], Any] | None) -> None:
        self._job, self.result, self.error = job, None, None
        self._wanted.release()

    def _work(self) -> None:
        while True:
            self._wanted.acquire()
            if self._job is None:
                return
            try:
                self.result = self._job()
            except BaseException as error:
                self.error = error
            self._job = None
            self.finished.release()
            if self.abandoned:
                return


class Handlers:
    """The threads and the event loop of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._proofs: dict[str, int] = {}

    def run_handler(self, version: str, job: Callable[[], Any], timeout: float, deadline: Deadline) -> Any:
        """Run the handler of this tool version: on another thread, until it has proven quick."""
        quick = self._proofs.get(version, 0) >= _PROOFS
        began = time.monotonic()
        try:
            return job() if quick else self.run(lambda: self._timed(version, job), timeout, deadline)
        finally:
            if quick and time.monotonic() - began > 10 * _QUICK_SECONDS:
                self._proofs[version] = 0

    def _timed(self, version: str, job: Callable[[], Any]) -> Any:
        began = time.monotonic()
        try:
            return job()
        finally:
            quick = time.monotonic() - began < _QUICK_SECONDS
            self._proofs[version] = self._proofs.get(version, 0) + 1 if quick else 0

    def run(self, job: Callable[[], Any], timeout: float, deadline: Deadline, grace: float = 0.0) -> Any:
        """Run a plain function and return what it returns.

        `Abandoned` when it takes longer than `timeout`, or goes on for `grace` seconds after the run
        is over. An interrupt of the waiting thread cancels the run, and the waiting goes on.
        """
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        worker = worker or _Worker()
        worker.start(job)
        ends = time.monotonic() + timeout
        while not _acquired(worker.finished, min(POLL_SECONDS, ends - time.monotonic()), deadline):
            if deadline.over:
                ends = min(ends, time.monotonic() + grace)
            if time.monotonic() >= ends:
                worker.abandoned = True
                raise Abandoned
        result, error = worker.result, worker.error
        worker.result = worker.error = None
        with self._lock:
            keep = not self._closed and len(self._idle) < _MOST_IDLE_WORKERS
            if keep:
                self._idle.append(worker)
        if not keep:
            worker.start(None)
        if error is not None:
            raise error
        return result

    def run_async(self, coroutine: Coroutine[Any, Any, Any], timeout: float, deadline: Deadline) -> Any:
        """Run a coroutine on the shared loop; it is cancelled when it takes too long."""
        import asyncio

        future = asyncio.run_coroutine_threadsafe(coroutine, self._event_loop())
        ends = time.monotonic() + timeout
        while True:
            try:
                return future.result(timeout=max(0.0, min(POLL_SECONDS, ends - time.monotonic())))
            except TimeoutError:
                if future.done():
                    return future.result()  # The handler's own TimeoutError.
                if time.monotonic() >= ends or deadline.over:
                    future.cancel()
                    raise Abandoned from None

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._run_loop, args=(self._loop,), name="coilclaw-loop", daemon=True).start()
            return self._loop

    @staticmethod
    def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.close()

    def close(self) -> None:
        """Let idle threads end. A handler that hangs keeps its (daemon) thread."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            loop, self._loop = self._loop, None
        for worker in idle:
            worker.start(None)
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)


def _acquired(lock: threading.Lock, seconds: float, deadline: Deadline) -> bool:
    try:
        return lock.acquire(timeout=max(0.0, seconds))
    except KeyboardInterrupt:
        deadline.cancel()
        return False
