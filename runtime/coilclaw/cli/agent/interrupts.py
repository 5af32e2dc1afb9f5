"""Ctrl-C: once ends the exchange that is under way, twice the process; otherwise it is an ordinary interrupt."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeVar

from coilclaw.cli.terminal import say

__all__ = ["Interrupts"]

R = TypeVar("R")

_INTERRUPTED: Final = 130


class Interrupts:
    """What Ctrl-C means now. While it is watched, an exchange is ended by the first and the process by the second."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._cancel: Callable[[], None] = lambda: None
        self._asked = False

    @contextmanager
    def watched(self) -> Iterator[Interrupts]:
        before = signal.getsignal(signal.SIGINT)
        if before is signal.default_int_handler:  # What our parent ignores for us stays ignored.
            signal.signal(signal.SIGINT, self._interrupted)
        try:
            yield self
        finally:
            signal.signal(signal.SIGINT, before)

    async def run(self, exchange: Coroutine[Any, Any, R], cancel: Callable[[], None]) -> R:
        """Await an exchange; an interrupt cancels it, and whatever of it waits for a person. Raises CancelledError."""
        self._loop, self._cancel, self._asked = asyncio.get_running_loop(), cancel, False
        task: asyncio.Task[R] = self._loop.create_task(exchange)
        self._task = task
        try:
            return await task
        finally:
            self._task = None

    def cancel(self) -> None:
        """End the exchange that is under way, if there is one."""
        if self._task is not None and self._loop is not None:
            self._cancel()
            self._loop.call_soon_threadsafe(self._task.cancel)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._task is None or self._loop is None:
            raise KeyboardInterrupt
        if self._asked:
            os._exit(_INTERRUPTED)  # Everything that counts is on disk; whatever does not end is not waited for.
        self._asked = True
        self.cancel()
        # Nothing is printed from here: the interrupt may have come in the middle of a line.
        self._loop.call_soon_threadsafe(_tell)


def _tell() -> None:
    say(err=True)
    say("Interrupted. Once more ends the process at once.", err=True)
