"""The event feed in an event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest
from tests.evidence.conftest import kinds, numbers, of_run, progress

from coilclaw.evidence import (
    Event,
    EventFeed,
    RunOutput,
)
from coilclaw.receipts import ReceiptLog
from coilclaw.store import Database


def test_events_are_iterated_in_an_event_loop(log: ReceiptLog, feed: EventFeed) -> None:
    async def main() -> list[Event]:
        output, reader = feed.output("run-1"), feed.of_run("run-1")

        async def work() -> None:
            log.append(of_run("started"))
            for number in range(5):
                output(1, f"{number} ")
                log.append(progress(number))
                await asyncio.sleep(0)
            log.append(of_run("finished", status="completed"))

        task = asyncio.create_task(work())
        events = [event async for event in reader]
        await task
        return events

    events = asyncio.run(main())
    assert numbers(events) == list(range(5))
    assert "".join(event.text for event in events if isinstance(event, RunOutput)) == "0 1 2 3 4 "
    assert (kinds(events)[0], kinds(events)[-1]) == ("run.started", "run.finished")


def test_a_reader_whose_task_is_cancelled_loses_nothing(log: ReceiptLog, feed: EventFeed) -> None:
    async def main() -> list[int]:
        reader, found = feed.follow(feed.end()), []
        for number in range(30):
            log.append(progress(number))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.0001 * (number % 5)):
                    while True:
                        found.append(await anext(reader))
        async with asyncio.timeout(30):
            while len(found) < 30:
                found.append(await anext(reader))
        return numbers(found)

    assert asyncio.run(main()) == list(range(30))


def test_an_event_loop_is_not_blocked_by_the_disk(database: Database, log: ReceiptLog, feed: EventFeed) -> None:
    async def main() -> list[int]:
        log.append(*map(progress, range(3)))
        reader = feed.follow()
        with database._read_lock:  # As if another thread read for long.
            task = asyncio.create_task(anext(reader))
            for _ in range(100):
                await asyncio.sleep(0)
            assert not task.done()
        return numbers([await task, await anext(reader)])

    assert asyncio.run(main()) == [0, 1]


def test_a_reader_with_much_to_read_lets_others_have_their_turn(log: ReceiptLog, feed: EventFeed) -> None:
    log.append(progress(0))
    begun = threading.Event()
    first_one = feed.follow(feed.end(), wake=begun.set)
    assert begun.wait(60)
    reader = feed.follow(feed.end())
    log.append(*map(progress, range(2000)))
    feed.catch_up()
    assert feed.has(first_one.cursor)
    assert feed.has(reader.cursor)

    async def main() -> int:
        turns, done = 0, False

        async def other() -> None:
            nonlocal turns
            while not done:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        for _ in range(2000):
            await anext(reader)
        done = True
        await task
        return turns

    assert asyncio.run(main()) >= 5
