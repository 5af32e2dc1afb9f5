"""Watching `tools/` while a call that may write is under way."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from coilclaw.receipts import Draft, LogUnwritable, ReceiptLog, Row
from coilclaw.sdk import ToolFailure
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
        # What is held back already is not what was there before: the call could bring it to light.
        seen, judge = self.ledger.examine(self.read)
        held = judge(seen)
        return GuardedCall(self, call_id, origin, {name: seen[name] for name in seen if name not in held}, seen)

    def note_written(self, call_id: str, data: bytes) -> None:
        self.ledger.note_written(call_id, data)


class GuardedCall:
    """One call. Its handler may outlive the answer: what it changed is attributed when it really ends."""

    def __init__(
        self, guard: WriteGuard, call_id: str, origin: Draft, before: Mapping[str, str], seen: Mapping[str, str]
    ) -> None:
        self._guard = guard
        self._call_id = call_id
        self._mark = secrets.token_hex(8)
        self._origin = origin
        self._before = before
        self._seen = seen
        self._lock = threading.Lock()
        self._begun = False
        self._settled = False
        self._found: tuple[list[Draft], list[Row]] | None = None
        self.rows, self.contents = guard.ledger.begun(self._mark, call_id, before)

    def run(self, job: Callable[[], T]) -> T:
        """Run a plain handler."""
        self._begin()
        try:
            return job()
        finally:
            self._end()

    async def run_async(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run an async one."""
        try:
            self._begin()
        except ToolFailure:
            coroutine.close()
            raise
        try:
            return await coroutine
        finally:
            self._end()

    def settle(self) -> tuple[list[Draft], list[Row]]:
        """What goes to disk with the end of the call, as far as it is known."""
        with self._lock:
            self._settled = True
            if not self._begun:
                return [], self._guard.ledger.released(self._mark)
            return self._found or ([], [])

    def _begin(self) -> None:
        with self._lock:
            if self._settled:
                # Its time was up before its turn came, and by now nobody watches what it would write.
                raise ToolFailure("the call was given up before it began", code="cancelled")
            self._begun = True

    def _end(self) -> None:
        try:
            after = self._guard.read()
            found = self._guard.ledger.ended(
                self._mark, self._call_id, self._before, after, self._origin, seen=self._seen
            )
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
