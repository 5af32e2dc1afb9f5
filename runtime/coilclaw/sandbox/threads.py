"""Threads that can be left alone, with stacks deep enough for a guest.

Python cannot end a thread. Whatever might never return, a handler or a run, is therefore done on a
thread of this kind: when it is not wanted any longer, nobody waits for it, and the thread is free
once the job has ended.

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


class _Task:
    """One job, and what became of it. Bare locks, because an Event costs three times as much."""

    def __init__(self, job: Callable[[], Any]) -> None:
        self._job = job
        self.is_taken = threading.Lock()
        """Locked by the thread that does it, or by the caller who no longer wants it: whoever comes first."""
        self._ended = threading.Lock()
        self._ended.acquire()
        self._has_ended = False
        self.is_handed_out = False
        self.result: Any = None
        self.error: BaseException | None = None

    def do(self) -> None:
        try:
            self.result = self._job()
        except BaseException as error:
            self.error = error

    def end(self) -> None:
        self._has_ended = True
        self._ended.release()

    def has_ended(self, seconds: float) -> bool:
        """Wait for its end; returns whether it has come."""
        # Whether the lock was acquired does not tell: an interrupt may come right behind that, and take the result.
        if not self._has_ended:
            self._ended.acquire(timeout=max(0.0, seconds))
        return self._has_ended


class _JobThread:
    """A thread that does one task at a time, as long as `is_kept` says that it is wanted for another."""

    def __init__(self, is_kept: Callable[[_JobThread], bool]) -> None:
        self._is_kept = is_kept
        self._wanted = threading.Lock()
        self._wanted.acquire()
        self._task: _Task | None = None
        with _starting:  # The size is a setting of the whole process.
            before = threading.stack_size(STACK_BYTES)
            try:
                threading.Thread(target=self._work, name="coilclaw-worker", daemon=True).start()
            finally:
                threading.stack_size(before)

    def start(self, task: _Task | None) -> None:
        self._task = task
        self._wanted.release()

    def _work(self) -> None:
        _here.expendable = True
        kept = True
        while kept:
            self._wanted.acquire()
            task, self._task = self._task, None
            if task is None:
                return
            is_mine = task.is_taken.acquire(blocking=False)
            if is_mine:
                task.do()
            kept = self._is_kept(self)  # First, so that whoever waits for the end finds it idle.
            if is_mine:
                task.end()
            del task


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
        deadline is over. While the run's time stands still, so does the job's. An interrupt of the waiting thread
        cancels the run, and the waiting goes on.
        """
        task, ends, is_over = _Task(job), time.monotonic() + timeout, False
        before, still = deadline.stood_still, 0.0
        while not is_over:
            try:
                self._hand_out(task)
                is_over = task.has_ended(min(POLL_SECONDS, ends + still - time.monotonic()))
            except KeyboardInterrupt:
                deadline.interrupt()
            now = time.monotonic()
            still = deadline.stood_still - before
            if not is_over and deadline.over:
                ends = min(ends, now + grace - still)
            if not is_over and now >= ends + still:
                task.is_taken.acquire(blocking=False)  # If no thread has begun it yet, none will.
                raise Abandoned
        if task.error is not None:
            raise task.error
        return task.result

    def _hand_out(self, task: _Task) -> None:
        if task.is_handed_out:
            return
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        (worker or _JobThread(self._keep)).start(task)
        task.is_handed_out = True  # If an interrupt comes before this, a second thread gets it, and leaves it alone.

    def _keep(self, worker: _JobThread) -> bool:
        with self._lock:
            kept = not self._closed and len(self._idle) < _MOST_IDLE
            if kept:
                self._idle.append(worker)
            return kept

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
        for worker in idle:
            worker.start(None)
