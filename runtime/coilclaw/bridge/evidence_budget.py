"""The budget of bytes that one run may leave in the store: arguments and results of calls, its source and inputs.

Resuming and replaying need what is kept, so nothing is dropped afterwards: a call whose arguments and largest
possible result no longer fit is refused before it executes. Of a refused call the receipts hold the hash of its
arguments, their size and their beginning, and nothing else is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from coilclaw.bridge.answers import Refusal
from coilclaw.sandbox import POLL_SECONDS

__all__ = ["EvidenceBudget", "is_small", "prefix_facts"]

_SMALL_BYTES: Final = 1024
"""Arguments up to this size are kept with the request, whatever becomes of it."""

_WORTH_REMEMBERING: Final = 4096
"""Contents are stored once by their hash. Only larger ones are recognised here, so that there are few to remember."""

_SET_ASIDE: Final = 8
"""One part in so many is left for receipts, which are always written, refused calls included."""


class EvidenceBudget:
    """Counts the bytes that one run stores, and reserves room for the results of concurrent calls."""

    def __init__(self, most: int, already: Iterable[tuple[str, int]] = ()) -> None:
        self._most = most - most // _SET_ASIDE
        self._lock = threading.Lock()  # Taken by itself where nobody waits: a condition takes five times as long.
        self._changed = threading.Condition(self._lock)
        self._used = 0
        self._held = 0
        self._waiting = 0
        self._counted: set[str] = set()
        for content_hash, size in already:
            self.count(content_hash, size)

    def count(self, content_hash: str, size: int) -> None:
        """Enter something that is kept; the same contents take no more room when they come again."""
        with self._lock:
            self._count(content_hash, size)

    def keep(self, content_hash: str, size: int) -> bool:
        """Enter something if it fits; for what is kept when no call executes any more."""
        with self._lock:
            fits = content_hash in self._counted or self._used + size <= self._most
        if fits:
            self.count(content_hash, size)
        return fits

    def has_room(self, args_hash: str, args_size: int, result_size: int) -> bool:
        """Whether a call fits, once those that execute now have given back what they do not use."""
        with self._lock:
            arguments = 0 if args_hash in self._counted else args_size
            return self._used + arguments + result_size <= self._most

    def hold(self, size: int, is_over: Callable[[], bool]) -> bool:
        """Set room for a result aside, waiting for others that execute now; False if there will be none."""
        with self._lock:
            while self._used + self._held + size > self._most:
                if not self._held or is_over():
                    return False
                self._waiting += 1
                self._changed.wait(POLL_SECONDS)
                self._waiting -= 1
            self._held += size
            return True

    @property
    def is_contended(self) -> bool:
        """Whether calls that execute now have set room aside, of which they may give some back."""
        return self._held > 0

    def release(self, size: int) -> None:
        """Give back what was set aside, once the result is counted or there is none."""
        with self._lock:
            self._held -= size
            if self._waiting:
                self._changed.notify_all()

    def _count(self, content_hash: str, size: int) -> None:
        if size >= _WORTH_REMEMBERING:
            if content_hash in self._counted:
                return
            self._counted.add(content_hash)
        self._used += size

    def refusal(self) -> Refusal:
        return Refusal(
            code="evidence_budget",
            message="not called: the arguments and results kept for this run have no room for another call like this",
            hint="pass and ask for less at a time, or do the rest in another run",
            denied=True,
        )


def is_small(arguments: bytes) -> bool:
    """Whether arguments are kept with the request, before anything is decided about it."""
    return len(arguments) <= _SMALL_BYTES


def prefix_facts(arguments: bytes) -> Mapping[str, Any]:
    """What the receipt of a refused call says of arguments that are not kept: their size and their beginning."""
    if is_small(arguments):
        return {}
    beginning = arguments[:_SMALL_BYTES].decode("utf-8", "ignore")
    return {"arguments_bytes": len(arguments), "arguments_prefix": beginning}
