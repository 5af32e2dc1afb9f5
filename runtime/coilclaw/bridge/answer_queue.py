"""The queue of answers for begun calls, until the snippet reads them."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

from coilclaw.bridge.answers import TOO_MANY_ANSWERS

__all__ = ["AnswerQueue"]

_MOST_UNDELIVERED_BYTES: Final = 16 * 1024 * 1024
_MOST_DELIVERED_BYTES: Final = 8 * 1024 * 1024


class AnswerQueue:
    """Answers in the order in which they came. Threads of calls put, the snippet's own thread waits and takes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._answers: deque[tuple[int, bytes]] = deque()  # With a negative number: not what the call returned.
        self._undelivered = 0

    def __len__(self) -> int:
        return len(self._answers)

    def put(self, number: int, answer: bytes) -> None:
        """Add the answer of a call, or a refusal in its place if too much waits to be read."""
        with self._lock:
            if self._undelivered + len(answer) > _MOST_UNDELIVERED_BYTES:
                number, answer = -number, TOO_MANY_ANSWERS
            self._undelivered += len(answer)
            self._answers.append((number, answer))
            self._arrived.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait for an answer, if there is none."""
        with self._lock:
            if not self._answers:
                self._arrived.wait(seconds)

    def take(self) -> list[tuple[int, bytes]]:
        """Remove and return the oldest answers, as many as are delivered at once."""
        taken, size = [], 0
        with self._lock:
            while self._answers and size < _MOST_DELIVERED_BYTES:
                taken.append(self._answers.popleft())
                size += len(taken[-1][1])
            self._undelivered -= size
        return taken
