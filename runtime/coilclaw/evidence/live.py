"""Output of a run while it runs. It is in no receipt, so that only this process can deliver it."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from coilclaw.receipts import Place
from coilclaw.sandbox import DISPLAY_STREAM, DisplayedOutput

__all__ = ["OutputBuffer", "Printed"]

_PIECE_CHARACTERS: Final = 4096
_PIECE_TIME: Final = timedelta(milliseconds=50)


class Printed(NamedTuple):
    """Text that a run printed on one stream, or an output that it displayed, and when that began."""

    start: int
    """The number of characters that the run had printed before."""
    when: datetime
    stream: int
    text: str
    place: Place
    """Where among the receipts it was printed."""

    def takes(self, stream: int, moment: datetime, place: Place) -> bool:
        """Whether more that is printed now can be put to it."""
        is_same = self.stream == stream != DISPLAY_STREAM and self.place == place
        return is_same and len(self.text) < _PIECE_CHARACTERS and moment - self.when < _PIECE_TIME


class OutputBuffer:
    """Everything that a run has printed in this process, so that a reader who comes late still gets all of it.

    The run's output limit bounds it. Writing waits for no reader. It is a `Caller.show`, and it lives as long as the
    run, a handle or a reader holds it.
    """

    def __init__(self, run_id: str, place: Callable[[], Place], notify: Callable[[str], None]) -> None:
        self._run_id = run_id
        self._place = place
        self._notify = notify
        self._lock = threading.Lock()
        self._pieces: list[Printed] = []
        self._size = 0
        self.closed = False

    def __call__(self, stream: int, text: str) -> None:
        """Keep what the run has just printed, and wake its readers."""
        moment, place = datetime.now(UTC), self._place()
        with self._lock:
            last = self._pieces[-1] if self._pieces else None
            # Small pieces are put together: a megabyte of single letters would otherwise take a hundred.
            if last is not None and last.takes(stream, moment, place):
                self._pieces[-1] = last._replace(text=last.text + text)
            else:
                self._pieces.append(Printed(self._size, moment, stream, text, place))
            self._size += len(text)
        self._notify(self._run_id)

    def display(self, output: DisplayedOutput) -> None:
        """Keep what the run has just displayed, and wake its readers."""
        self(DISPLAY_STREAM, f"{output.mime}\n{output.data}")

    def since(self, position: int) -> Sequence[Printed]:
        """What was printed behind a number of characters."""
        with self._lock:
            if position >= self._size:
                return []
            at = bisect_right(self._pieces, position, key=lambda piece: piece.start) - 1
            first, *others = self._pieces[at:]
        return [first._replace(start=position, text=first.text[position - first.start :]), *others]

    def close(self) -> None:
        """The run has ended in this process: readers end too, once they have read everything."""
        self.closed = True
        self._notify(self._run_id)
