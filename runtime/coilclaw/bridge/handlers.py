"""Running handlers so that nobody has to wait for one that does not come back.

A plain function runs on a thread of its own and is left alone when its time is up: it may still
finish what it was doing. An async handler runs on one event loop shared by all, where it is cancelled.

Changing threads costs more than most of the path of a call. A function that has proven quick is
therefore called where it stands; should it ever hang after all, the run ends at its deadline,
because runs themselves are on threads that can be left alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from coilclaw.sandbox import POLL_SECONDS, Abandoned, Deadline, ExpendableThreads

if TYPE_CHECKING:
    import asyncio  # Imported where it is used: it takes longer to load than a snippet takes to run.

__all__ = ["Handlers"]

_QUICK_SECONDS: Final = 0.0005
_PROOFS: Final = 2
_MOST_VERSIONS: Final = 4096


class Handlers:
    """The threads and the event loop of one process."""

    def __init__(self) -> None:
        self.threads = ExpendableThreads()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._proofs: dict[str, int] = {}

    def run(self, version: str, job: Callable[[], Any], timeout: float, deadline: Deadline) -> Any:
        """Run the handler of this tool version: on another thread, until it has proven quick."""
        if timeout <= 0:
            raise Abandoned  # Not begun: there is no time left.
        quick = self._proofs.get(version, 0) >= _PROOFS
        began = time.monotonic()
        try:
            if quick:
                return job()
            return self.threads.run(lambda: self._timed(version, job), deadline, timeout=timeout, grace=0)
        finally:
            if quick and time.monotonic() - began > 10 * _QUICK_SECONDS:
                self._proofs[version] = 0

    def _timed(self, version: str, job: Callable[[], Any]) -> Any:
        began = time.monotonic()
        try:
            return job()
        finally:
            quick = time.monotonic() - began < _QUICK_SECONDS
            if len(self._proofs) >= _MOST_VERSIONS:
                self._proofs.clear()  # Every edit is a new version; the present ones prove themselves again.
            self._proofs[version] = self._proofs.get(version, 0) + 1 if quick else 0

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
            if self._loop is None or self._loop.is_closed():
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
        self.threads.close()
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
