"""Receipts as events of the log, from the event feed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from coilclaw.evidence import (
    ApprovalAsked,
    ApprovalDecided,
    CallApproved,
    CallDenied,
    CallEvent,
    CallFailed,
    CallRequested,
    CallReused,
    CallSucceeded,
    EstopCleared,
    EstopSet,
    Event,
)
from coilclaw.sdk import CoilClawError

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw

__all__ = ["ReceiptEvents"]

_logger: Final = logging.getLogger(__name__)


class ReceiptEvents:
    """Follows the feed on a thread of its own, and logs what is on disk when it is left."""

    def __init__(self, claw: CoilClaw) -> None:
        self._again = threading.Event()
        self._ended = False
        self._events = claw.feed.follow(claw.feed.end(), wake=self._again.set)
        self._thread = threading.Thread(target=self._follow, name="coilclaw-log", daemon=True)

    def __enter__(self) -> ReceiptEvents:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended = True
        self._again.set()
        self._thread.join()
        self._events.close()

    def _follow(self) -> None:
        with suppress(CoilClawError):  # Whoever uses the log finds out by itself that it does not hold.
            while True:
                ended = self._ended
                self._again.clear()
                while events := self._events.take():
                    for event in events:
                        for name, facts in _logged(event):
                            _logger.info(name, extra={"event": facts})
                if ended:
                    return
                self._again.wait()


def _logged(event: Event) -> Iterator[tuple[str, dict[str, Any]]]:
    if (name := _name_of(event)) is not None:
        yield name, _facts_of(event)
    if event.receipt is not None:
        yield "receipt.written", {"receipt": event.receipt, "kind": event.kind, "run": event.run_id}


def _name_of(event: Event) -> str | None:
    match event:
        case CallRequested():
            return "tool.requested"
        case ApprovalAsked():
            return "tool.pending"
        case CallApproved() | ApprovalDecided(approved=True):
            return "tool.approved"
        case CallDenied() | ApprovalDecided():
            return "tool.denied"
        case CallSucceeded() | CallReused():
            return "tool.completed"
        case CallFailed():
            return "tool.failed"
        case EstopSet():
            return "estop.triggered"
        case EstopCleared():
            return "estop.cleared"
    return None


def _facts_of(event: Event) -> dict[str, Any]:
    facts: dict[str, Any] = {"run": event.run_id}
    if isinstance(event, CallEvent):
        facts = {"tool": event.tool, "call": event.call_id, **facts}
    for name in ("code", "decided_by", "approval", "reason"):
        if (value := getattr(event, name, None)) is not None:
            facts[name] = value
    return {key: value for key, value in facts.items() if value is not None}
