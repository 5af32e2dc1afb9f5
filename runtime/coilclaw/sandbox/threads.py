"""Threads that can be left alone, with stacks deep enough for a guest.

Python cannot end a thread. Whatever might never return, a handler or a run, is therefore done on a
thread of this kind: when it is not wanted any longer, nobody waits for it, and the thread ends by
itself once the job does.

The stacks are deep because CPython in WebAssembly watches one of its two stacks and raises
RecursionError in time; the other one, which is the thread's, must never end first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

from coilclaw.sandbox.deadline import POLL_SECONDS, Deadline

__all__ = ["Abandoned", "ExpendableThreads"]

STACK_BYTES: Final = 48 * 1024 * 1024
"""Reserved, not used: pages are taken as they are touched."""

_MOST_IDLE: Final = 8
_here = threading.local()
_starting = threading.Lock()


class Abandoned(Exception):
    """The job was not waited for any longer: its time, or the run's, was up."""


class _JobThread:
    """A thread that does one job at a time. Two bare locks, because an Event costs three times as much."""

    def __init__(self) -> None:
        self._wanted = threading.Lock()
        self._wanted.acquire()
        self.finished = threading.Lock()
        self.finished.acquire()
        self._job: Callable[[], Any] | None = None
        self.result: Any = None
        self.error: BaseException | None = None
        self.abandoned = False
        with _starting:  # The size is a setting of the whole process.
            before = threading.stack_size(STACK_BYTES)
            try:
                threading.Thread(target=self._work, name="coilclaw-worker", daemon=True).start()
            finally:
                threading.stack_size(before)

    def start(self, job: Callable[[], Any] | None) -> None:
        self._job, self.result, self.error = job, None, None
        self._wanted.release()

    def abandon(self) -> None:
        self.abandoned = True
        if self._wanted.acquire(blocking=False):
            self._job = None  # The thread has not even begun it, and now never will.
        self._wanted.release()  # In case the job has just ended, and the thread waits for another.

    def _work(self) -> None:
        _here.expendable = True
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


class ExpendableThreads:
    """Does jobs on threads of its own, which are kept for the next one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_JobThread] = []
        self._closed = False

    def run(
        self,
        job: Callable[[], Any],
        deadline: Deadline,
        *,
        timeout: float = float("inf"),
        grace: float = float("inf"),
    ) -> Any:
        """Do a job and return what it returns.

        `Abandoned` when it takes longer than `timeout`, or goes on for `grace` seconds after the
        deadline is over. An interrupt of the waiting thread cancels the run, and the waiting goes on.
        """
        with self._lock:
            thread = self._idle.pop() if self._idle else None
        thread = thread or _JobThread()
        thread.start(job)
        ends = time.monotonic() + timeout
        while not _acquired(thread.finished, min(POLL_SECONDS, ends - time.monotonic()), deadline):
            if deadline.over:
                ends = min(ends, time.monotonic() + grace)
            if time.monotonic() >= ends:
                thread.abandon()
                raise Abandoned
        result, error = thread.result, thread.error
        thread.result = thread.error = None
        with self._lock:
            keep = not self._closed and len(self._idle) < _MOST_IDLE
            if keep:
                self._idle.append(thread)
        if not keep:
            thread.start(None)
        if error is not None:
            raise error
        return result

    def run_deep(self, job: Callable[[], Any], deadline: Deadline) -> Any:
        """Do a job on a deep stack that no interrupt reaches: here, if this thread is of that kind."""
        return job() if getattr(_here, "expendable", False) else self.run(job, deadline)

    def run_uninterrupted(self, job: Callable[[], Any], deadline: Deadline) -> Any:
        """Do a job that no interrupt reaches: here, unless this is the main thread, which alone has interrupts."""
        return self.run(job, deadline) if threading.current_thread() is threading.main_thread() else job()

    def close(self) -> None:
        """Let idle threads end. A job that hangs keeps its (daemon) thread."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for thread in idle:
            thread.start(None)


def _acquired(lock: threading.Lock, seconds: float, deadline: Deadline) -> bool:
    try:
        return lock.acquire(timeout=max(0.0, seconds))
    except KeyboardInterrupt:
        deadline.cancel()
        return False
