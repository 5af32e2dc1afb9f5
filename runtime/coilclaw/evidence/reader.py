"""A reader of the event feed: every event behind a cursor, once and in order, for `for` and for `async for`."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from coilclaw.evidence.events import Event, RunDisplayed, RunDiverged, RunFinished, RunOutput, RunSuspended
from coilclaw.evidence.live import OutputBuffer, Printed
from coilclaw.receipts import Place
from coilclaw.sandbox import DISPLAY_STREAM, DisplayedOutput

if TYPE_CHECKING:
    from coilclaw.evidence.feed import EventFeed

__all__ = ["EventReader"]

_logger = logging.getLogger(__name__)

_AT_ONCE: Final = 256
"""Events that a reader holds at most; what it has not taken yet stays in the feed's buffer or in the log."""


class _Found(NamedTuple):
    """The result of one look: events, the place behind them, and how many characters of output are among them."""

    events: Sequence[Event]
    position: str
    characters: int
    is_end: bool
    awaits_commits: bool
    """Whether there is output whose place in the log is not reached yet."""


class _Merged:
    """Events of receipts and of output, in the order in which they happened."""

    def __init__(self, run_id: str | None, cursor: str) -> None:
        self._run_id = run_id
        self._cursor = cursor
        self._characters = 0
        self.events: list[Event] = []
        self.printed: deque[Printed] = deque()

    def add(self, event: Event) -> None:
        """Add an event behind the output that was printed before it."""
        self.add_printed(lambda place: place.is_before(event.cursor))
        self.events.append(event)
        self._cursor = event.cursor

    def add_printed(self, is_due: Callable[[Place], bool]) -> None:
        while self.printed and is_due(self.printed[0].place):
            printed = self.printed.popleft()
            self._characters += len(printed.text)
            self.events.append(self._event(printed))

    def _event(self, printed: Printed) -> Event:
        _, when, stream, text, _ = printed
        if stream != DISPLAY_STREAM:
            return RunOutput(when=when, cursor=self._cursor, run_id=self._run_id, stream=stream, text=text)
        mime, _, data = text.partition("\n")
        shown = DisplayedOutput(mime=mime, data=data).facts()
        return RunDisplayed(when=when, cursor=self._cursor, run_id=self._run_id, **shown)

    def found(self, position: str, *, is_end: bool) -> _Found:
        return _Found(self.events, position, self._characters, is_end, bool(self.printed))


class EventReader:
    """Yields events and waits for the next one. It ends with its run, with the feed, or when it is closed.

    Iterate over it with `for`, or with `async for`, which never blocks the event loop; or call `take`, which does not
    wait. One consumer at a time.
    """

    def __init__(
        self,
        feed: EventFeed,
        after: str | None,
        *,
        run_id: str | None = None,
        past_suspension: bool = False,
        wake: Callable[[], None] | None = None,
    ) -> None:
        self._feed = feed
        self._position = feed.checked(after)
        self._ends = (RunFinished, RunDiverged) if past_suspension else (RunFinished, RunDiverged, RunSuspended)
        self._ready: deque[Event] = deque()
        self._output: OutputBuffer | None = None
        self._characters = 0
        self._ended = False
        self._awake = False
        self._woken = threading.Event()
        self._rouse = wake or self._woken.set
        self._signal: asyncio.Event | None = None
        self.run_id = run_id
        self.cursor = self._position
        """Where to continue if this reader is lost: the cursor of the last event it gave."""
        self.awaits_commits = False
        """Whether it wants to be woken when more is on disk, whichever run that is of."""
        self._prepare()
        self._characters = sum(len(each.text) for each in self._unread() if each.place.is_before(self.cursor))
        feed.add(self)

    def wake(self) -> None:
        """Say that there may be more. Called by the feed, on any thread."""
        if not self._awake:
            self._awake = True
            try:
                self._rouse()
            except Exception:  # Somebody else's function: the feed has other readers too.
                _logger.exception("a reader of events could not be woken")

    def take(self) -> Sequence[Event]:
        """The next events that are on disk, or printed, by now; none if there are none. At most a few hundred."""
        self._prepare()
        if not self._ready and not self._is_over:
            self._feed.catch_up()
            self._accept(self._look())
        return [self._next() for _ in range(len(self._ready))]

    def close(self) -> None:
        """End the reader. Whoever waits for its next event waits no longer."""
        self._ended = True
        self._ready.clear()
        self._feed.remove(self)
        self.wake()

    # Looking -----------------------------------------------------------------------------------------------

    @property
    def _is_over(self) -> bool:
        return self._ended or self._feed.closed

    def _next(self) -> Event:
        event = self._ready.popleft()
        self.cursor = event.cursor
        return event

    def _prepare(self) -> None:
        """Forget earlier calls of `wake`, and attach to what the run prints, if it runs here by now."""
        self._awake = False
        output = self._feed.output_of(self.run_id) if self.run_id is not None else None
        if output is not None and output is not self._output and not self._unread():
            self._output, self._characters = output, 0
        self.awaits_commits = self._output is not None

    def _look(self) -> _Found:
        """Find the next events. Changes nothing here, so that the result can be lost when a task is cancelled."""
        is_closed = self._output is not None and self._output.closed
        if is_closed:
            self._feed.catch_up()  # The last receipts of the run are on disk by now.
        merged, position, moves = _Merged(self.run_id, self.cursor), self._position, True
        while moves and not merged.events:
            events, behind = self._feed.behind(position, _AT_ONCE, self.run_id)
            moves, position = behind != position, behind
            # Read behind the events: whatever was printed before one of them is there now.
            merged.printed = deque(self._unread())
            for event in events:
                if self.run_id in (None, event.run_id):
                    merged.add(event)
                    if self.run_id is not None and isinstance(event, self._ends):
                        return merged.found(event.cursor, is_end=True)
        is_all = is_closed and not moves
        merged.add_printed(lambda place: is_all or place.is_reached(position))
        # A run that was suspended here may be resumed, here or elsewhere.
        return merged.found(position, is_end=is_all and not merged.events and RunSuspended in self._ends)

    def _unread(self) -> Sequence[Printed]:
        return self._output.since(self._characters) if self._output is not None else ()

    def _accept(self, found: _Found) -> None:
        self._position = found.position
        self._characters += found.characters
        self._ready.extend(found.events)
        self._ended = self._ended or found.is_end
        self.awaits_commits = found.awaits_commits

    # Iterating ---------------------------------------------------------------------------------------------

    def __iter__(self) -> EventReader:
        return self

    def __next__(self) -> Event:
        while not self._ready:
            if self._is_over:
                self.close()
                raise StopIteration
            self._feed.before_waiting()
            self._woken.clear()
            self._prepare()
            self._accept(self._look())
            if not self._ready and not self._is_over:
                self._woken.wait()
        return self._next()

    def __aiter__(self) -> EventReader:
        return self

    async def __anext__(self) -> Event:
        while not self._ready:
            if self._is_over:
                self.close()
                raise StopAsyncIteration
            signal = self._signal_here()
            signal.clear()
            self._prepare()
            if self._feed.has(self._position):
                self._accept(self._look())
                await asyncio.sleep(0)  # Others get their turn, however much there is to read.
            else:
                self._accept(await asyncio.to_thread(self._look))
            if not self._ready and not self._is_over:
                await signal.wait()
        return self._next()

    async def batch(self) -> Sequence[Event]:
        """Wait for the next event, and return it with those that came along. Raises StopAsyncIteration at the end."""
        first = await anext(self)
        return [first, *(self._next() for _ in range(len(self._ready)))]

    def _signal_here(self) -> asyncio.Event:
        """What this task waits for; `wake` sets it from whichever thread it is called on."""
        if self._signal is None:
            signal, loop = asyncio.Event(), asyncio.get_running_loop()

            def rouse() -> None:
                with suppress(RuntimeError):  # The loop was closed: nobody waits any more.
                    loop.call_soon_threadsafe(signal.set)

            self._signal, self._rouse = signal, rouse
        return self._signal

    def __enter__(self) -> EventReader:
        return self

    def __exit__(self, *ending: object) -> None:
        self.close()
