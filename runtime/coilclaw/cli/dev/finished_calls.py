"""Calls that have ended, in whichever process, read from the event feed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from coilclaw.cli.dev.events import Called, DevEvent, Problem
from coilclaw.evidence import (
    ApprovalDecided,
    CallDenied,
    CallEvent,
    CallFailed,
    CallReused,
    CallStarted,
    CallSucceeded,
    Event,
    EventFeed,
    EventReader,
)
from coilclaw.sdk import CoilClawError

__all__ = ["FinishedCalls"]

_MOST_UNDER_WAY: Final = 10_000
_FIRST_LOOK: Final = 200


class FinishedCalls:
    """Makes one event of the start and the end of a call. `wake` is called when there may be a new one."""

    def __init__(self, feed: EventFeed, wake: Callable[[], None] = lambda: None) -> None:
        self._feed = feed
        self._wake = wake
        self._reader: EventReader | None = None
        self._started: dict[str, datetime] = {}
        self._trouble: str | None = None

    def recent(self) -> Sequence[DevEvent]:
        """Calls that ended before; those of `new` come behind them."""
        return self._guarded(self._first)

    def new(self) -> Sequence[DevEvent]:
        """Some of the calls that ended since; none if there are no more."""
        return self._guarded(self._next)

    def all_new(self) -> Iterator[DevEvent]:
        """All calls that ended since."""
        while events := self.new():
            yield from events

    def _first(self) -> Sequence[DevEvent]:
        events = self._feed.recent(_FIRST_LOOK)
        self._reader = self._feed.follow(events[-1].cursor if events else self._feed.end(), wake=self._wake)
        return self._ended(events)

    def _next(self) -> Sequence[DevEvent]:
        if self._reader is None:
            self._reader = self._feed.follow(self._feed.end(), wake=self._wake)
        while events := self._reader.take():
            if ended := self._ended(events):
                return ended
        return []

    def _guarded(self, read: Callable[[], Sequence[DevEvent]]) -> Sequence[DevEvent]:
        try:
            events = read()
        except CoilClawError as error:
            # Said once, not at every look.
            known, self._trouble = self._trouble, error.message
            problem = Problem(message=f"the receipts cannot be read: {error.message}", hint=error.hint)
            return [] if known == error.message else [problem]
        self._trouble = None
        return events

    def _ended(self, events: Iterable[Event]) -> list[DevEvent]:
        found: list[DevEvent] = []
        for event in events:
            match event:
                case CallStarted():
                    if len(self._started) >= _MOST_UNDER_WAY:  # Calls of processes that died never end.
                        self._started.pop(next(iter(self._started)))
                    self._started[event.call_id] = event.when
                case CallSucceeded() | CallReused():
                    found.append(self._called(event, "succeeded"))
                case CallFailed():
                    found.append(self._called(event, "failed", event.code, event.message))
                case CallDenied():
                    found.append(self._called(event, "denied", event.code, event.message))
                case ApprovalDecided(approved=False):
                    found.append(self._called(event, "denied", "approval_denied", event.message))
        return found

    def _called(self, event: CallEvent, status: str, code: str | None = None, message: str | None = None) -> Called:
        started = self._started.pop(event.call_id, None)
        took = max(0.0, (event.when - started).total_seconds() * 1000) if started else None
        return Called(
            when=event.when.astimezone(),
            tool=event.tool,
            status=status,
            milliseconds=round(took, 3) if took is not None else None,
            code=code,
            message=message,
            run_id=event.run_id,
            receipt=event.receipt or "",
        )
