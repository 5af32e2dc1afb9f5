"""Checking and counting the receipt log beside everything else: at each look, what came since the last one."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from coilclaw.receipts import DamagedReceipt, now
from coilclaw.sdk import CoilClawError
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import BadCursor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coilclaw.receipts import ReceiptLog

__all__ = ["LogState", "LogWatch"]

_PAGE: Final = 512
_WHOLE_SECONDS: Final = 3600.0
"""How often everything is verified again, contents included: what is old may have been changed since."""


class LogState(Frozen):
    """What is known of the log."""

    ok: bool | None = None
    """None until it was verified for the first time."""
    verified_to: int = 0
    """The number of the last receipt that was checked."""
    verified_at: str | None = None
    whole_at: str | None = None
    """When everything was verified, with marks and contents; since then, the chain and the seal."""
    problem: str | None = None
    types: Mapping[str, int] = field(default_factory=dict)
    """How many receipts there are of each type."""


class LogWatch:
    """Knows how the log stands. Thread-safe; whoever asks waits for what came since the last time, and for no more.

    The first look reads everything, on a thread of its own.
    """

    def __init__(self, log: ReceiptLog) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._first = threading.Event()
        self._thread: threading.Thread | None = None
        self._cursor: str | None = None
        self._counts: Counter[str] = Counter()
        self._state = LogState()
        self._whole_due = 0.0

    def state(self, *, patience: float = 2.0) -> LogState:
        """How the log stands now. What takes longer than `patience` seconds is finished in the background."""
        self._begin()
        if self._first.wait(patience) and self._lock.acquire(timeout=patience):
            try:
                self._catch_up()
            finally:
                self._lock.release()
        return self._state

    def _begin(self) -> None:
        with self._starting:
            if self._thread is not None and (self._thread.is_alive() or time.monotonic() < self._whole_due):
                return
            self._whole_due = time.monotonic() + _WHOLE_SECONDS
            self._thread = threading.Thread(target=self._look_at_all, name="coilclaw-verify", daemon=True)
            self._thread.start()

    def _look_at_all(self) -> None:
        try:
            result = self._log.verify()
            with self._lock:
                self._state = replace(self._state, ok=result.ok, problem=result.problem, whole_at=now())
                self._catch_up()
        except CoilClawError as error:  # The app was closed, or the database cannot be read.
            with self._lock:
                self._state = replace(self._state, ok=False, problem=error.message)
        finally:
            self._first.set()

    def _catch_up(self) -> None:
        """Check and count what came since. With the lock."""
        if self._state.ok is False:
            return  # Whole again only if all of it is.
        try:
            while True:
                page = self._log.after(self._cursor, _PAGE)
                self._counts.update(each.type for each in page.receipts)
                seq = page.receipts[-1].seq if page.receipts else self._state.verified_to
                self._state = replace(self._state, verified_to=seq, verified_at=now(), types=dict(self._counts))
                if page.cursor == self._cursor or not page.receipts:
                    return
                self._cursor = page.cursor
        except (DamagedReceipt, BadCursor) as error:
            self._state = replace(self._state, ok=False, problem=error.message)
