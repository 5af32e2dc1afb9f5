"""Events of one run: what its receipts say and what it prints, in one stream."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Final

from coilclaw.receipts import ReceiptLog, now
from coilclaw.sdk import Receipt

__all__ = ["LiveRun", "Output", "Recorded", "RunEvents"]

_POLL_SECONDS: Final = 0.02


@dataclass(frozen=True, kw_only=True)
class Output:
    """A piece of what a snippet printed: stream 1 is stdout, 2 is stderr."""

    run_id: str
    when: str
    stream: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """Something that a receipt says."""

    run_id: str
    when: str
    receipt: Receipt


class LiveRun:
    """What one run in this process prints, kept for whoever reads its events."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.pieces: list[Output] = []
        self.ended = threading.Event()

    def listener(self, show: Callable[[int, str], None]) -> Callable[[int, str], None]:
        """Receives output for the events, and passes it on."""

        def both(stream: int, text: str) -> None:
            self.pieces.append(Output(run_id=self.run_id, when=now(), stream=stream, text=text))
            show(stream, text)

        return both

    def end(self) -> None:
        self.ended.set()


class RunEvents:
    """The events of a run from its beginning to its end. Iterate over it with `for` or with `async for`."""

    def __init__(self, live: LiveRun, log: ReceiptLog) -> None:
        self._live = live
        self._log = log
        self._after = log.sealed_head().seq

    def __iter__(self) -> Iterator[Output | Recorded]:
        reader = _Reader(self._live, self._log, self._after)
        while True:
            ended = self._live.ended.wait(_POLL_SECONDS)
            yield from reader.new()
            if ended:
                return

    async def __aiter__(self) -> AsyncIterator[Output | Recorded]:
        reader = _Reader(self._live, self._log, self._after)
        while True:
            ended = self._live.ended.is_set()
            for event in reader.new():
                yield event
            if ended:
                return
            await asyncio.sleep(_POLL_SECONDS)


class _Reader:
    def __init__(self, live: LiveRun, log: ReceiptLog, after: int) -> None:
        self._live = live
        self._log = log
        self._after = after
        self._printed = 0

    def new(self) -> list[Output | Recorded]:
        pieces = self._live.pieces[self._printed :]
        self._printed += len(pieces)
        receipts = self._log.of_run(self._live.run_id, since=f"-{self._after + 1}")
        if receipts:
            self._after = receipts[-1].seq
        events = [Recorded(run_id=self._live.run_id, when=each.timestamp, receipt=each) for each in receipts]
        return sorted([*pieces, *events], key=lambda event: event.when)
