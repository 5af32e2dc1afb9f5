"""Run handlers where they can be given up if they do not return.

A plain function runs on a thread of its own and is left alone when its time is up: it may still
finish what it was doing. An async handler runs on an event loop shared by all, where it is cancelled;
see `loops.py` for one that blocks it.

Changing threads costs more than most of the path of a call. A function that has proven quick is
therefore called where it stands; should it ever hang after all, the run ends at its deadline,
because runs themselves are on threads that can be left alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar

from coilclaw.sandbox import Abandoned, Deadline, ExpendableThreads

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from coilclaw.bridge.loops import Loops  # Imported where it is used: asyncio takes longer to load than a snippet.

__all__ = ["Handlers", "LoopBlocked"]

_QUICK_SECONDS: Final = 0.0005
_PROOFS: Final = 2
_MOST_VERSIONS: Final = 4096


T = TypeVar("T")
Make = Callable[[], Coroutine[Any, Any, Any]]
"""Makes the coroutine of a call, once it is known on which loop it runs."""


class LoopBlocked(Exception):
    """Too many event loops are blocked to start another; names the tools that block them."""


class Handlers:
    """The threads and the event loops of one app."""

    def __init__(self) -> None:
        self.threads = ExpendableThreads()
        self.host_loop: AbstractEventLoop | None = None
        """The loop of the program that uses us, once it has said that async handlers are to run there."""
        self._lock = threading.Lock()
        self._loops: Loops | None = None
        self._proofs: dict[str, int] = {}

    def run(
        self, version: str, job: Callable[[], T], timeout: float, deadline: Deadline, *, in_place: bool = True
    ) -> T:
        """Run the handler of this tool version: on another thread, until it has proven quick.

        Without `in_place`, on another thread all the same: what it gets this time may take longer than ever.
        """
        if timeout <= 0:
            raise Abandoned  # Not begun: there is no time left.
        quick = in_place and self._proofs.get(version, 0) >= _PROOFS
        began = time.monotonic()
        try:
            if quick:
                return job()
            result: T = self.threads.run(lambda: self._timed(version, job), deadline, timeout=timeout, grace=0)
            return result
        finally:
            if quick and time.monotonic() - began > 10 * _QUICK_SECONDS:
                self._proofs[version] = 0

    def _timed(self, version: str, job: Callable[[], T]) -> T:
        began = time.monotonic()
        try:
            return job()
        finally:
            quick = time.monotonic() - began < _QUICK_SECONDS
            if len(self._proofs) >= _MOST_VERSIONS:
                self._proofs.clear()  # Every edit is a new version; the present ones prove themselves again.
            self._proofs[version] = self._proofs.get(version, 0) + 1 if quick else 0

    def run_async(
        self, make: Make, timeout: float, deadline: Deadline, *, tool: str = "a tool", version: str = ""
    ) -> Any:
        """Run the coroutine that `make` makes on the host's loop, or else on one that all handlers share.

        It is cancelled when it takes too long.

        Raises `LoopBlocked` when there is no loop for it.
        """
        from coilclaw.bridge.loops import Loops, run_on_host

        if timeout <= 0:
            raise Abandoned  # Not begun: there is no time left.
        host = self.host_loop
        if host is not None and host.is_running():
            return run_on_host(host, make, timeout, deadline)
        with self._lock:
            if self._loops is None:
                self._loops = Loops()
            loops = self._loops
        return loops.run(tool, version, make, timeout, deadline)

    def close(self) -> None:
        self.threads.close()
        with self._lock:
            loops, self._loops = self._loops, None
        if loops is not None:
            loops.close()
