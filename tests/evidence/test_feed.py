"""The event feed: every event once, in order, whoever wrote it and however slowly it is read."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest
from tests.conftest import World
from tests.evidence.conftest import first, kinds, look, numbers, of_run, progress, send

from coilclaw.evidence import (
    ApprovalAsked,
    ApprovalDecided,
    Event,
    EventFeed,
)
from coilclaw.evidence import (
    feed as feed_module,
)
from coilclaw.policy import ApprovalStore, Autonomy
from coilclaw.receipts import BadCursor, DamagedReceipt, ReceiptLog
from coilclaw.store import Database

# Reading -------------------------------------------------------------------------------------------------------


def test_pages_that_are_read_one_after_the_other_are_the_whole_log(log: ReceiptLog, feed: EventFeed) -> None:
    log.append(*map(progress, range(25)))
    found: list[Event] = []
    cursor = None
    while page := feed.read(cursor, 10):
        assert len(page) <= 10
        found += page
        cursor = page[-1].cursor
    assert numbers(found) == list(range(25))


def test_a_reader_gets_what_was_there_and_what_comes(log: ReceiptLog, feed: EventFeed) -> None:
    log.append(*map(progress, range(3)))
    reader = feed.follow()
    assert numbers(first(reader, 3)) == [0, 1, 2]
    log.append(progress(3))
    assert numbers(first(reader, 1)) == [3]
    log.append_relaxed(progress(4))
    assert numbers(first(reader, 1)) == [4]


def test_a_reader_that_waits_is_woken_by_a_commit_of_this_process_at_once(
    log: ReceiptLog, feed: EventFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "_POLL_SECONDS", 3600)  # So that nothing but the commit can wake it.
    log.append(progress(0))
    reader = feed.follow()
    assert numbers(first(reader, 1)) == [0]
    for number in range(1, 4):
        later = threading.Timer(0.01, log.append, (progress(number),))
        later.start()
        assert numbers(first(reader, 1)) == [number]
        later.join()


def test_a_reader_continues_behind_any_event_of_another_reader(log: ReceiptLog, feed: EventFeed) -> None:
    log.append(*map(progress, range(12)))
    for stop in range(12):
        reader = feed.follow()
        first(reader, stop)
        again = feed.follow(reader.cursor)
        assert numbers(first(again, 12 - stop)) == list(range(stop, 12))


def test_a_reader_from_the_end_gets_only_what_is_new(log: ReceiptLog, feed: EventFeed) -> None:
    log.append(*map(progress, range(5)))
    reader = feed.follow(feed.end())
    assert not reader.take()
    log.append(progress(5))
    assert numbers(first(reader, 1)) == [5]


def test_what_is_on_disk_can_be_taken_without_waiting(log: ReceiptLog, feed: EventFeed) -> None:
    reader = feed.follow()
    assert not reader.take()
    for number in range(50):
        log.append(progress(number))
        assert numbers(list(reader.take())) == [number]


def test_whoever_takes_is_told_that_there_is_more(log: ReceiptLog, feed: EventFeed) -> None:
    more = threading.Event()
    reader = feed.follow(feed.end(), wake=more.set)
    found: list[Event] = []
    for number in range(5):
        log.append(progress(number))
        while len(found) <= number:
            assert more.wait(60)
            more.clear()
            found += reader.take()
    assert numbers(found) == list(range(5))


class _Seen(threading.Event):
    """An event that says when somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.waited_for = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.waited_for.set()
        return super().wait(timeout)


def test_what_comes_while_the_feed_begins_to_watch_is_not_missed(
    log: ReceiptLog, feed: EventFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(progress(0))
    appended, end = threading.Event(), log.end

    def late_end() -> str:
        if threading.current_thread() is feed._thread:
            assert appended.wait(60)
        return end()

    monkeypatch.setattr(log, "end", late_end)
    reader, found = feed.follow(feed.end()), []
    reader._woken = waiting = _Seen()
    reader._rouse = waiting.set
    thread = threading.Thread(target=lambda: found.append(next(reader)), daemon=True)
    thread.start()
    assert waiting.waited_for.wait(60)
    log.append(progress(1))
    appended.set()
    thread.join(60)
    assert numbers(found) == [1]


_WRITER = """
import sys
from pathlib import Path
from coilclaw.receipts import MIGRATIONS, Draft, ReceiptLog, now
from coilclaw.store import Database
with Database(Path(sys.argv[1])) as database, ReceiptLog(database, b"k" * 32) as log:
    for number in map(int, sys.argv[2:]):
        facts = {"message": str(number)}
        log.append(Draft("tool.call.progress", "allowed", now(), "run-1", None, "run-1-1", "a.b", payload=facts))
"""


def test_events_of_another_process_are_delivered(database: Database, log: ReceiptLog, feed: EventFeed) -> None:
    log.append(progress(0))
    reader = feed.follow()
    assert numbers(first(reader, 1)) == [0]
    subprocess.run([sys.executable, "-c", _WRITER, str(database.path), "1", "2", "3"], check=True, timeout=60)
    assert numbers(first(reader, 3)) == [1, 2, 3]


# Slow readers --------------------------------------------------------------------------------------------------


def test_a_reader_that_is_behind_the_buffer_loses_nothing(
    log: ReceiptLog, feed: EventFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "_KEPT", 8)
    slow, quick = feed.follow(feed.end()), feed.follow(feed.end())
    for number in range(0, 400, 4):
        log.append(*map(progress, range(number, number + 4)))
        assert numbers(first(quick, 4)) == list(range(number, number + 4))
        if number % 40 == 0:
            assert numbers(first(slow, 1)) == [number // 40]
    # What a slow reader has not read is kept in the log, not in memory.
    assert len(feed._buffer) <= 16
    assert len(feed._places) <= 17
    assert numbers(first(slow, 390)) == list(range(10, 400))
    log.append(progress(400))
    assert numbers([next(slow), next(quick)]) == [400, 400]


def test_a_reader_that_never_reads_holds_nobody_up(
    log: ReceiptLog, feed: EventFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "_KEPT", 8)
    idle = feed.follow(feed.end())
    quick = feed.follow(feed.end())
    for number in range(200):
        log.append(progress(number))
    assert numbers(first(quick, 200)) == list(range(200))
    assert numbers(list(idle.take()))[0] == 0


def test_the_reader_of_a_quiet_run_gets_its_end_however_much_others_wrote(
    log: ReceiptLog, feed: EventFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "_KEPT", 8)
    log.append(of_run("started", "quiet"))
    quiet, idle = feed.of_run("quiet"), feed.of_run("quiet")
    others = feed.follow(feed.end())
    found: list[Event] = []
    thread = threading.Thread(target=lambda: found.extend(quiet))
    thread.start()
    for number in range(100):
        log.append(progress(number, "busy"))
        first(others, 1)
    log.append(of_run("finished", "quiet", "completed"))
    thread.join(60)
    assert kinds(found) == kinds(list(idle)) == ["run.started", "run.finished"]


# One run -------------------------------------------------------------------------------------------------------


def test_the_events_of_a_run_are_its_own_and_end_with_it(log: ReceiptLog, feed: EventFeed) -> None:
    log.append(progress(0, "run-2"), of_run("started"), progress(1), progress(2, "run-2"), progress(3))
    log.append(of_run("finished", status="completed"), progress(4), of_run("finished", "run-2", "failed"))
    found = list(feed.of_run("run-1"))
    assert kinds(found) == ["run.started", "call.progress", "call.progress", "run.finished"]
    assert numbers(found) == [1, 3]
    assert {event.run_id for event in found} == {"run-1"}


def test_the_events_of_a_run_that_has_not_begun_are_waited_for(log: ReceiptLog, feed: EventFeed) -> None:
    log.append(progress(0, "run-2"))
    reader = feed.of_run("run-1")
    log.append(of_run("started"), progress(1, "run-2"), of_run("finished", status="completed"))
    assert kinds(list(reader)) == ["run.started", "run.finished"]


def test_a_run_that_is_suspended_ends_its_events_unless_they_are_wanted_past_that(
    log: ReceiptLog, feed: EventFeed
) -> None:
    log.append(of_run("started"), of_run("suspended", status="suspended"))
    behind = feed.end()
    log.append(of_run("resumed"), of_run("finished", status="completed"))
    assert kinds(list(feed.of_run("run-1"))) == ["run.started", "run.suspended"]
    assert kinds(list(feed.of_run("run-1", behind))) == ["run.resumed", "run.finished"]
    whole = ["run.started", "run.suspended", "run.resumed", "run.finished"]
    assert kinds(list(feed.of_run("run-1", past_suspension=True))) == whole


def test_events_past_a_suspension_go_on_while_the_run_is_suspended(log: ReceiptLog, feed: EventFeed) -> None:
    output = feed.output("run-1")
    log.append(of_run("started"), of_run("suspended", status="suspended"))
    output(1, "printed")
    output.close()
    reader = feed.of_run("run-1", past_suspension=True)
    assert {"run.started", "run.suspended"} < {*kinds(list(reader.take()))}
    assert kinds(list(reader.take())) == []
    log.append(of_run("resumed"), of_run("finished", status="completed"))
    assert kinds(list(reader)) == ["run.resumed", "run.finished"]


def test_a_run_that_diverges_has_ended(log: ReceiptLog, feed: EventFeed) -> None:
    log.append(of_run("started"), of_run("diverged", status="diverged"), progress(1))
    assert kinds(list(feed.of_run("run-1"))) == ["run.started", "run.diverged"]


def test_a_run_is_followed_through_its_suspension_and_approval(
    world: World, log: ReceiptLog, database: Database, feed: EventFeed
) -> None:
    book = ApprovalStore(database, log)
    world.autonomy = Autonomy.SUPERVISED
    world.options |= {"database": database, "approvals": book}
    start = feed.end()
    source = "tools.shelf.look(number=1)\ntools.shelf.send(number=2).value"
    report = world.run(source, look, send)
    (asked,) = book.list("pending")
    book.decide(asked.id, approved=True, decided_by="ada")
    world.runtime().resume(report.run_id, lambda name: world.engine, world.registry(look, send))
    events = list(feed.of_run(report.run_id, start, past_suspension=True))
    assert kinds(events) == [
        "run.started",
        "call.requested",
        "call.started",
        "call.succeeded",
        "call.requested",
        "approval.asked",
        "run.suspended",
        "approval.decided",
        "run.resumed",
        "call.started",
        "call.succeeded",
        "run.finished",
    ]
    question = next(event for event in events if isinstance(event, ApprovalAsked))
    answer = next(event for event in events if isinstance(event, ApprovalDecided))
    assert question.approval == answer.approval == asked.id
    assert answer.approved
    assert answer.decided_by == "ada"


# The end of it -------------------------------------------------------------------------------------------------


def test_closing_the_feed_ends_every_reader_and_its_thread(log: ReceiptLog) -> None:
    before = set(threading.enumerate())
    feed = EventFeed(log)
    reader, other = feed.follow(), feed.of_run("run-1")
    threads = [threading.Thread(target=lambda each=each: [*each]) for each in (reader, other)]
    for thread in threads:
        thread.start()

    async def main() -> list[Event]:
        asyncio.get_running_loop().call_later(0.01, feed.close)
        return [event async for event in feed.follow()]

    assert asyncio.run(main()) == []
    for thread in threads:
        thread.join(60)
    assert set(threading.enumerate()) == before
    assert list(feed.follow()) == []
    feed.close()


def test_closing_a_reader_ends_whoever_waits_for_it(log: ReceiptLog, feed: EventFeed) -> None:
    reader = feed.follow()
    thread = threading.Thread(target=lambda: [*reader])
    thread.start()
    reader.close()
    thread.join(60)
    assert not thread.is_alive()


def test_a_feed_that_nobody_reads_costs_the_log_nothing(
    log: ReceiptLog, feed: EventFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert log._commits._listeners == ()
    monkeypatch.setattr(feed_module, "_LINGER_SECONDS", 0)
    reader = feed.follow()
    log.append(progress(0))
    first(reader, 1)
    thread = feed._thread
    assert thread is not None
    assert len(log._commits._listeners) == 1
    del reader  # Not even closed.
    gc.collect()
    thread.join(60)
    assert log._commits._listeners == ()
    log.append(progress(1))
    assert numbers(first(feed.follow(), 2)) == [0, 1]


# What does not hold --------------------------------------------------------------------------------------------


def damage(database: Database, seq: int) -> None:
    with database.transaction() as connection:
        sql = "UPDATE receipts SET body = CAST(replace(CAST(body AS TEXT), '\"a.b\"', '\"a.c\"') AS BLOB) WHERE seq = ?"
        connection.execute(sql, (seq,))


@pytest.mark.parametrize("seq", [1, 3, 5])
def test_a_changed_receipt_is_no_event(database: Database, log: ReceiptLog, feed: EventFeed, seq: int) -> None:
    log.append(*map(progress, range(5)))
    damage(database, seq)
    with pytest.raises(DamagedReceipt):
        feed.read()
    with pytest.raises(DamagedReceipt):
        first(feed.follow(), 5)


def test_a_reader_that_waits_learns_that_the_log_was_changed(
    database: Database, log: ReceiptLog, feed: EventFeed
) -> None:
    log.append(progress(0))
    reader = feed.follow()
    first(reader, 1)
    errors: list[BaseException] = []

    def read() -> None:
        try:
            next(reader)
        except DamagedReceipt as error:
            errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    with database.transaction() as connection:
        connection.execute("UPDATE receipt_head SET seq = 2")
    thread.join(60)
    assert errors


def test_a_reader_that_waits_learns_of_any_error(
    log: ReceiptLog, feed: EventFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, errors = feed.follow(feed.end()), []

    def read() -> None:
        try:
            next(reader)
        except RecursionError as error:
            errors.append(error)

    def broken(*given: object, **more: object) -> NoReturn:
        raise RecursionError

    thread = threading.Thread(target=read)
    thread.start()
    with monkeypatch.context() as patched:
        patched.setattr(log, "after", broken)
        log.append(progress(0))
        thread.join(30)
    assert errors
    assert numbers([next(reader)]) == [0], "it continues once the error is gone"


def test_a_reader_that_cannot_be_woken_holds_up_no_other(log: ReceiptLog, feed: EventFeed) -> None:
    def broken() -> NoReturn:
        raise ZeroDivisionError

    woken = threading.Event()
    unlucky = [feed.follow(wake=broken) for _ in range(3)]
    reader = feed.follow(wake=woken.set)
    for number in range(3):
        log.append(progress(number))
        assert woken.wait(30)
        woken.clear()
        while numbers(list(reader.take())) != [number]:
            assert woken.wait(30)
            woken.clear()
    assert [numbers(list(each.take())) for each in unlucky] == [[0, 1, 2]] * 3


def test_a_cursor_behind_a_receipt_that_was_replaced_does_not_hold(
    database: Database, log: ReceiptLog, feed: EventFeed, tmp_path: Path
) -> None:
    log.append(*map(progress, range(3)))
    cursor = feed.end()
    other_letter = "0" if cursor[-1] != "0" else "1"
    with pytest.raises(BadCursor):
        feed.read(cursor[:-1] + other_letter)
    log.append(progress(3))
    with pytest.raises(BadCursor):
        feed.read(cursor[:-1] + other_letter)
    assert numbers(list(feed.read(cursor))) == [3]


@pytest.mark.parametrize(
    "cursor", ["", "1", "nonsense", "receipt-12345678-1", "a" * 1000, "ffffffff-1-0123456789abcdef"]
)
def test_a_text_that_is_no_cursor_of_this_log_is_refused(log: ReceiptLog, feed: EventFeed, cursor: str) -> None:
    log.append(progress(0))
    with pytest.raises(BadCursor):
        feed.read(cursor)
    with pytest.raises(BadCursor):
        feed.follow(cursor)


def test_a_cursor_beyond_the_end_is_refused(log: ReceiptLog, feed: EventFeed) -> None:
    log.append(progress(0))
    log_id, _, start = feed.end().split("-")
    with pytest.raises(BadCursor):
        feed.read(f"{log_id}-2-{start}")
