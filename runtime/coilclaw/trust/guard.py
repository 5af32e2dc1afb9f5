"""Watching `tools/` while a call that may write is under way."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from coilclaw.receipts import Draft, LogUnwritable, ReceiptLog, Row
from coilclaw.trust.ledger import TrustLedger

__all__ = ["GuardedCall", "WriteGuard"]

_logger = logging.getLogger(__name__)

T = TypeVar("T")


class WriteGuard:
    """Looks at the tool files before and after a call. `read` gives their names and hashes."""

    def __init__(self, ledger: TrustLedger, log: ReceiptLog, read: Callable[[], Mapping[str, str]]) -> None:
        self.ledger = ledger
        self.log = log
        self.read = read

    def begin(self, call_id: str, origin: Draft) -> GuardedCall:
        return GuardedCall(self, call_id, origin, self.read())

    def note_written(self, call_id: str, data: bytes) -> None:
        self.ledger.note_written(call_id, data)


class GuardedCall:
    """One call. Its handler may outlive the answer: what it changed is attributed when it really ends."""

    def __init__(self, guard: WriteGuard, call_id: str, origin: Draft, before: Mapping[str, str]) -> None:
        self._guard = guard
        self._call_id = call_id
        self._origin = origin
        self._before = before
        self._lock = threading.Lock()
        self._begun = False
        self._settled = False
        self._found: tuple[list[Draft], list[Row]] | None = None
        self.rows, self.contents = guard.ledger.begun(call_id, before)

    def run(self, job: Callable[[], T]) -> T:
        """Run a plain handler."""
        self._begun = True
        try:
            return job()
        finally:
            self._end()

    async def run_async(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run an async one."""
        self._begun = True
        try:
            return await coroutine
        finally:
            self._end()

    def settle(self) -> tuple[list[Draft], list[Row]]:
        """What goes to disk with the end of the call, as far as it is known."""
        with self._lock:
            self._settled = True
            if not self._begun:
                return [], self._guard.ledger.released(self._call_id)
            return self._found or ([], [])

    def _end(self) -> None:
        try:
            after = self._guard.read()
            found = self._guard.ledger.ended(self._call_id, self._before, after, self._origin)
        except Exception:
            # Not looked at, so not released: what changed stays held back.
            _logger.exception("the tool files could not be looked at after %s", self._call_id)
            return
        with self._lock:
            self._found = found
            late = self._settled
        if late:
            drafts, rows = found
            try:
                self._guard.log.append(*drafts, rows=rows)
            except LogUnwritable:
                _logger.warning("what %s changed is attributed by the next process", self._call_id)
