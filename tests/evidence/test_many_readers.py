"""Fifty readers of one log that two processes write to: each gets every event once and in order."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.sampling import EVERYTHING

from coilclaw.evidence import Event, EventFeed, EventReader
from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.store import Database

EVENTS = 100_000 if EVERYTHING else 6_000
QUICK, SLOW, ASYNC = 40, 4, 5  # With the process that is killed, fifty.
LAST = "run-last"

_WRITER = """
import sys
from pathlib import Path
from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.store import Database
with Database(Path(sys.argv[1])) as database, ReceiptLog(database, b"k" * 32) as log:
    for _ in range(int(sys.argv[2]) // 10):
        log.append_relaxed(*(Draft("x.y", "allowed", now(), "run-there") for _ in range(10)))
"""

# Its position is what it has written down: the last line that is complete.
_READER = """
import os, sys
from pathlib import Path
from coilclaw.evidence import EventFeed
from coilclaw.receipts import ReceiptLog
from coilclaw.store import Database
path, notes, last = sys.argv[1:]
lines = Path(notes).read_text().splitlines()
after = lines[-1].split()[1] if lines else None
file = os.open(notes, os.O_WRONLY | os.O_APPEND)
with Database(Path(path)) as database, ReceiptLog(database, b"k" * 32) as log, EventFeed(log) as feed:
    for number, event in enumerate(feed.follow(after)):
        os.write(file, f"{event.receipt} {event.cursor}\\n".encode())
        if number == 100:
            print("reading", flush=True)
        if event.run_id == last:
            break
"""


def drafts(count: int) -> Iterator[Draft]:
    return (Draft("x.y", "allowed", now(), "run-here") for _ in range(count))


def read(reader: EventReader, *, pause: threading.Event | None = None) -> list[str | None]:
    """Everything up to the last event; with `pause`, a few events, and the rest when everything was written."""
    seen = []
    for number, event in enumerate(reader):
        seen.append(event.receipt)
        if event.run_id == LAST:
            break
        if pause is not None and number % 1000 == 7:
            assert pause.wait(250)
    return seen


async def read_in_loop(reader: EventReader) -> list[str | None]:
    seen: list[str | None] = []
    event: Event
    async for event in reader:
        seen.append(event.receipt)
        if event.run_id == LAST:
            break
    return seen


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", *arguments], stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


def test_each_of_fifty_readers_gets_every_event_once_and_in_order(
    database: Database, log: ReceiptLog, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.touch()
    path, written = str(database.path), threading.Event()
    log.append(*drafts(1))
    with EventFeed(log) as feed, ThreadPoolExecutor(QUICK + SLOW + 1) as threads:
        futures = [threads.submit(read, feed.follow()) for _ in range(QUICK)]
        futures += [threads.submit(read, feed.follow(), pause=written) for _ in range(SLOW)]

        async def main() -> list[list[str | None]]:
            return await asyncio.gather(*(read_in_loop(feed.follow()) for _ in range(ASYNC)))

        in_loop = threads.submit(asyncio.run, main())
        with process(_WRITER, path, str(EVENTS // 2)) as writer, process(_READER, path, str(notes), LAST) as victim:
            half = EVENTS // 2
            for batch in range(half // 10):
                log.append_relaxed(*drafts(10))
                if batch == half // 20:
                    assert victim.stdout is not None
                    assert victim.stdout.readline() == "reading\n"
                    victim.send_signal(signal.SIGKILL)
            assert victim.wait(60) == -signal.SIGKILL
            assert writer.wait(250) == 0
        with process(_READER, path, str(notes), LAST) as restarted:
            log.append(Draft("x.y", "allowed", now(), LAST))
            written.set()
            seen = [future.result(250) for future in futures] + in_loop.result(250)
            assert restarted.wait(250) == 0
    expected = [receipt.id for receipt in log.after(None, 2 * EVENTS).receipts]
    assert len(expected) == EVENTS + 2
    assert len(seen) == QUICK + SLOW + ASYNC
    assert all(each == expected for each in seen)
    assert [line.split()[0] for line in notes.read_text().splitlines()] == expected
