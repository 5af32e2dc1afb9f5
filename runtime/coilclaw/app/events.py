"""Events of one run: what its receipts say and what it prints, in one stream."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final

from coilclaw.receipts import ReceiptLog, now
from coilclaw.sdk import Receipt

__all__ = ["Output", "Recorded", "RunEvents", "RunOutput"]

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


class RunOutput:
    """What one run prints, kept for whoever reads its events."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.pieces: list[Output] = []
        self.ended = threading.Event()

    def add(self, stream: int, text: str) -> None:
        self.pieces.append(Output(run_id=self.run_id, when=now(), stream=stream, text=text))


class RunEvents:
    """The events of a run from its beginning to its end. Iterate over it with `for` or with `async for`."""

    def __init__(self, output: RunOutput, log: ReceiptLog, after: int) -> None:
        self._output = output
        self._log = log
        self._after = after

    def __iter__(self) -> Iterator[Output | Recorded]:
        reader = _Reader(self._output, self._log, self._after)
        while True:
            ended = self._output.ended.wait(_POLL_SECONDS)
            yield from reader.new()
            if ended:
                return

    async def __aiter__(self) -> AsyncIterator[Output | Recorded]:
        reader = _Reader(self._output, self._log, self._after)
        while True:
            ended = self._output.ended.is_set()
            for event in reader.new():
                yield event
            if ended:
                return
            await asyncio.sleep(_POLL_SECONDS)


class _Reader:
    def __init__(self, output: RunOutput, log: ReceiptLog, after: int) -> None:
        self._output = output
        self._log = log
        self._after = after
        self._printed = 0

    def new(self) -> list[Output | Recorded]:
        pieces = self._output.pieces[self._printed :]
        self._printed += len(pieces)
        receipts = self._log.of_run(self._output.run_id, since=f"-{self._after + 1}")
        if receipts:
            self._after = receipts[-1].seq
        events = [Recorded(run_id=self._output.run_id, when=each.timestamp, receipt=each) for each in receipts]
        return sorted([*pieces, *events], key=lambda event: event.when)
