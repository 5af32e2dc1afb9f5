"""The event feed: `python benchmarks/events.py [--rounds 7] [--events 20000] [--appends 400]`.

With a real database and its syncs, each in every round, so that ratios are taken within a round:

- what an append costs its thread with a feed that nobody reads, with one reader and with fifty, beside one without a
  feed: CPU time, because the sync takes a hundred times as long and changes with the machine's other work;
- what a relaxed append costs with one reader, beside one without: time, because both share the interpreter;
- events a second that are delivered to one reader and to fifty, from the first append to the last delivery;
- the time from the return of an append to the delivery of its event, in this process and in another one.

Writes a table to stdout and `events.json` to `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from suite.record import machine

from coilclaw.evidence import EventFeed, EventReader
from coilclaw.receipts import MIGRATIONS, Draft, ReceiptLog, now
from coilclaw.store import Database

_FOLDER: Final = Path(__file__).resolve().parent
_KEY: Final = b"k" * 32
_LAST: Final = "run-last"

_ELSEWHERE: Final = """
import sys, time
from pathlib import Path
from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.store import Database
with Database(Path(sys.argv[1])) as database, ReceiptLog(database, b"k" * 32) as log:
    for line in sys.stdin:
        log.append(Draft("tool.call.started", "allowed", now(), "run-1", None, "call-1", "a.b"))
        print(time.monotonic_ns(), flush=True)
"""


class _Round(NamedTuple):
    bare: float
    unread: float
    one: float
    fifty: float
    relaxed_bare: float
    relaxed_one: float
    to_one: float
    to_fifty: float
    here: list[float]
    there: list[float]


def _draft(run_id: str = "run-1") -> Draft:
    return Draft("tool.call.started", "allowed", now(), run_id, None, "call-1", "a.b")


@contextmanager
def _log() -> Iterator[tuple[Database, ReceiptLog]]:
    folder = Path(tempfile.mkdtemp(prefix=".work-", dir=_FOLDER))
    try:
        with Database(folder / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, _KEY) as log:
            log.append(_draft())
            yield database, log
    finally:
        shutil.rmtree(folder)


@contextmanager
def _readers(log: ReceiptLog, count: int) -> Iterator[None]:
    """Readers that are up to date with the log, each on a thread of its own."""
    with EventFeed(log) as feed:
        threads = [threading.Thread(target=_read, args=(feed.follow(feed.end()),)) for _ in range(count)]
        for thread in threads:
            thread.start()
        yield
        log.append(_draft(_LAST))
        for thread in threads:
            thread.join()


def _read(reader: EventReader) -> None:
    for event in reader:
        if event.run_id == _LAST:
            return


def _append_seconds(log: ReceiptLog, count: int, *, relaxed: bool) -> float:
    clock, append = (time.perf_counter, log.append_relaxed) if relaxed else (time.thread_time, log.append)
    began = clock()
    for _ in range(count):
        append(_draft())
    log.flush()
    return (clock() - began) / count


def _with_readers(count: int | None, appends: int, *, relaxed: bool = False) -> float:
    with _log() as (_, log):
        if count is None:
            return _append_seconds(log, appends, relaxed=relaxed)
        with _readers(log, count):
            return _append_seconds(log, appends, relaxed=relaxed)


def _delivered_per_second(count: int, events: int) -> float:
    with _log() as (_, log):
        began = time.perf_counter()
        with _readers(log, count):
            for _ in range(events // 10):
                log.append_relaxed(*(_draft() for _ in range(10)))
        return count * events / (time.perf_counter() - began)


def _latencies_here(count: int) -> list[float]:
    with _log() as (_, log), EventFeed(log) as feed:
        reader, delivered, found = feed.follow(feed.end()), threading.Semaphore(0), []

        def read() -> None:
            for event in reader:
                found.append(time.monotonic_ns())
                delivered.release()
                if event.run_id == _LAST:
                    return

        thread = threading.Thread(target=read)
        thread.start()
        appended = []
        for number in range(count):
            log.append(_draft(_LAST if number == count - 1 else "run-1"))
            appended.append(time.monotonic_ns())
            delivered.acquire()
        thread.join()
    return [max(0, seen - at) / 1e9 for seen, at in zip(found, appended, strict=True)]


def _latencies_there(count: int) -> list[float]:
    with _log() as (database, log), EventFeed(log) as feed:
        reader, found = feed.follow(feed.end()), []
        command = [sys.executable, "-c", _ELSEWHERE, str(database.path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdin is not None
            assert writer.stdout is not None
            for number in range(count):
                time.sleep(number % 25 / 1000)  # At any moment of the interval in which the feed looks.
                writer.stdin.write("\n")
                writer.stdin.flush()
                next(reader)
                seen = time.monotonic_ns()
                found.append(max(0, seen - int(writer.stdout.readline())) / 1e9)
            writer.stdin.close()
    return found


def _round(events: int, appends: int) -> _Round:
    return _Round(
        bare=_with_readers(None, appends),
        unread=_with_readers(0, appends),
        one=_with_readers(1, appends),
        fifty=_with_readers(50, appends),
        relaxed_bare=_with_readers(None, events, relaxed=True),
        relaxed_one=_with_readers(1, events, relaxed=True),
        to_one=_delivered_per_second(1, events),
        to_fifty=_delivered_per_second(50, events),
        here=_latencies_here(appends),
        there=_latencies_there(40),
    )


def _milliseconds(values: list[float], share: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1000, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the event feed.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--appends", type=int, default=400)
    chosen = parser.parse_args()
    rounds = [_round(chosen.events, chosen.appends) for _ in range(chosen.rounds)]

    def median(of: Callable[[_Round], float], digits: int = 2) -> float:
        return round(statistics.median(map(of, rounds)), digits)

    here = [each for one in rounds for each in one.here]
    there = [each for one in rounds for each in one.there]
    record = {
        "append_cpu_us": median(lambda one: one.bare * 1e6, 1),
        "append_with_unread_feed": median(lambda one: one.unread / one.bare),
        "append_with_1_reader": median(lambda one: one.one / one.bare),
        "append_with_50_readers": median(lambda one: one.fifty / one.bare),
        "relaxed_append_us": median(lambda one: one.relaxed_bare * 1e6, 1),
        "relaxed_append_with_1_reader": median(lambda one: one.relaxed_one / one.relaxed_bare),
        "events_per_second_to_1": median(lambda one: one.to_one, 0),
        "events_per_second_to_50": median(lambda one: one.to_fifty, 0),
        "fifty_times_one": median(lambda one: one.to_fifty / one.to_one),
        "latency_here_median_ms": _milliseconds(here, 0.5),
        "latency_here_p99_ms": _milliseconds(here, 0.99),
        "latency_there_median_ms": _milliseconds(there, 0.5),
        "latency_there_p99_ms": _milliseconds(there, 0.99),
    }
    here_ms = f"{record['latency_here_median_ms']:10} ms, p99 {record['latency_here_p99_ms']}"
    there_ms = f"{record['latency_there_median_ms']:10} ms, p99 {record['latency_there_p99_ms']}"
    lines = (
        ("an append", f"{record['append_cpu_us']:10} us of CPU"),
        ("  with a feed that nobody reads", f"{record['append_with_unread_feed']:10}x"),
        ("  with 1 reader", f"{record['append_with_1_reader']:10}x"),
        ("  with 50 readers", f"{record['append_with_50_readers']:10}x"),
        ("a relaxed append", f"{record['relaxed_append_us']:10} us"),
        ("  with 1 reader", f"{record['relaxed_append_with_1_reader']:10}x"),
        ("delivered to 1 reader", f"{record['events_per_second_to_1']:10.0f} events/s"),
        ("delivered to 50 readers", f"{record['events_per_second_to_50']:10.0f} events/s"),
        ("append until delivery, this process", here_ms),
        ("append until delivery, another process", there_ms),
    )
    for name, line in lines:
        print(f"{name:40} {line}")
    result = {"machine": machine(), "rounds": len(rounds), "measured": record}
    (_FOLDER / "results" / "events.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
