"""Reading on from a cursor, and being told that there is more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.conftest import KEY

from coilclaw.receipts import BadCursor, DamagedReceipt, Draft, ReceiptLog, cursor_of, now
from coilclaw.receipts.commits import Entry
from coilclaw.store import BadLimit, Database


def drafts(count: int, run_id: str = "run-1") -> list[Draft]:
    return [Draft("x.y", "done", now(), run_id, payload={"number": number}) for number in range(count)]


@contextmanager
def busy(log: ReceiptLog) -> Iterator[None]:
    """As if another thread were writing: what is appended meanwhile is written when it is done."""
    log._commits._leading = True
    yield
    log._commits._hand_over((), Entry())


def test_a_page_has_the_receipts_behind_its_cursor_and_says_where_the_next_begins(log: ReceiptLog) -> None:
    ids = log.append(*drafts(7))
    page = log.after(None, 3)
    assert [each.id for each in page.receipts] == ids[:3]
    assert page.cursor == cursor_of(page.receipts[-1])
    page = log.after(page.cursor, 300)
    assert [each.id for each in page.receipts] == ids[3:]
    assert page.cursor == log.end()
    assert log.after(page.cursor, 3) == ([], log.end())


def test_pages_are_longer_than_one_query_of_the_log(log: ReceiptLog) -> None:
    ids = log.append(*drafts(700))
    assert [each.id for each in log.after(None, 600).receipts] == ids[:600]


def test_an_empty_log_has_a_cursor_that_holds_when_it_is_begun(log: ReceiptLog) -> None:
    cursor = log.end()
    assert log.after(None, 5) == ([], cursor)
    ids = log.append(*drafts(2))
    assert [each.id for each in log.after(cursor, 5).receipts] == ids


def test_a_page_of_one_run_looks_past_the_others(log: ReceiptLog) -> None:
    log.append(*drafts(3, "run-2"))
    mine = log.append(*drafts(2))
    log.append(*drafts(3, "run-2"))
    # One that only mentions the run does not belong to it.
    log.append(Draft("x.y", "done", now(), "run-3", payload={"about": {"run_id": "run-1", "seq": 1}}))
    start = log.start_of("run-1")
    page = log.after(start, 100, run_id="run-1")
    assert [each.id for each in page.receipts] == mine
    assert page.cursor == log.end()
    assert [each.id for each in log.after(start, 1).receipts] == mine[:1]
    assert log.start_of("run-4") is None


def test_nothing_is_flushed_to_be_read(log: ReceiptLog) -> None:
    """Readers would otherwise cost the writer a sync each."""
    log.append(*drafts(1))
    with log._commits._lock:  # So that nobody else can flush it.
        cursor = log.end()
        assert len(log.after(None, 5).receipts) == 1
    log.append_relaxed(*drafts(1))
    log.flush()
    assert len(log.after(cursor, 5).receipts) == 1


def test_a_cursor_of_another_log_is_refused(database: Database, log: ReceiptLog) -> None:
    log.append(*drafts(3))
    cursor = log.end()
    with database.transaction() as connection:
        connection.execute("DELETE FROM receipts")
        connection.execute("DELETE FROM receipt_head")
    with pytest.raises(BadCursor):
        log.after(cursor, 1)
    with ReceiptLog(database, KEY) as begun_again:
        begun_again.append(*drafts(5))
        with pytest.raises(BadCursor):
            begun_again.after(cursor, 1)


@pytest.mark.parametrize("seq", [0, 1, 2, 3])
def test_a_cursor_with_another_hash_is_no_place_in_the_log(log: ReceiptLog, seq: int) -> None:
    log.append(*drafts(3))
    given = (log.after(None, seq)).cursor
    assert log.after(given, 0).cursor == given
    other = given[:-1] + ("1" if given[-1] == "0" else "0")
    for limit in (0, 9):
        with pytest.raises(BadCursor):
            log.after(other, limit)


def test_a_cursor_before_a_receipt_that_was_changed_is_not_to_blame(database: Database, log: ReceiptLog) -> None:
    log.append(*drafts(3))
    cursor = log.after(None, 1).cursor
    for change in ("receipt_hash = 'x'", "body = CAST('{}' AS BLOB)"):
        with database.transaction() as connection:
            connection.execute(f"UPDATE receipts SET {change} WHERE seq = 2")
        with pytest.raises(DamagedReceipt):
            log.after(cursor, 1)


@pytest.mark.parametrize("cursor", ["", "x", "0", "00000000-0-", 7, b"x", 1.5])
def test_what_is_no_cursor_is_refused(log: ReceiptLog, cursor: Any) -> None:
    log.append(*drafts(3))
    with pytest.raises(BadCursor):
        log.after(cursor, 1)


@pytest.mark.parametrize("limit", [-1, 1.5, "3", None])
def test_what_is_no_limit_is_refused(log: ReceiptLog, limit: Any) -> None:
    log.append(*drafts(3))
    for read in (lambda: log.after(None, limit), lambda: log.latest(limit), lambda: log.latest(limit, "run-1")):
        with pytest.raises(BadLimit):
            read()


def test_any_whole_number_is_a_limit(log: ReceiptLog) -> None:
    ids = log.append(*drafts(3))
    for run_id in (None, "run-1"):
        assert [each.id for each in log.latest(10**30, run_id)] == ids
        assert log.latest(0, run_id) == []
    assert len(log.after(None, 10**30).receipts) == 3


def test_receipts_without_a_head_are_not_read(database: Database, log: ReceiptLog) -> None:
    log.append(*drafts(3))
    with database.transaction() as connection:
        connection.execute("DELETE FROM receipt_head")
    with pytest.raises(DamagedReceipt):
        log.after(None, 1)
    with pytest.raises(DamagedReceipt):
        log.end()


def test_a_log_whose_seal_does_not_fit_is_not_read(database: Database, log: ReceiptLog) -> None:
    log.append(*drafts(3))
    with ReceiptLog(database, b"x" * 32) as other, pytest.raises(DamagedReceipt):
        other.after(None, 1)


def test_a_log_that_was_cut_off_is_noticed_at_its_end(database: Database, log: ReceiptLog) -> None:
    log.append(*drafts(3))
    with database.transaction() as connection:
        connection.execute("DELETE FROM receipts WHERE seq = 3")
    assert len(log.after(None, 2).receipts) == 2
    with pytest.raises(DamagedReceipt):
        log.after(None, 3)


def test_a_listener_is_called_after_the_commit_until_it_is_removed(log: ReceiptLog) -> None:
    seen: list[int] = []
    stop = log.listen(lambda: seen.append(len(log.after(None, 10).receipts)))
    log.append(*drafts(1))
    log.append(*drafts(2))
    assert seen == [1, 3]
    stop()
    stop()
    log.append(*drafts(1))
    assert seen == [1, 3]


def test_each_listener_is_removed_for_itself(log: ReceiptLog) -> None:
    calls = [threading.Event(), threading.Event()]
    stops = [log.listen(each.set) for each in calls]
    stops[0]()
    log.append(*drafts(1))
    assert [each.is_set() for each in calls] == [False, True]


def test_a_place_is_behind_what_was_appended_before_and_before_what_comes(log: ReceiptLog) -> None:
    log.append(*drafts(2))
    idle = log.place()
    with busy(log):
        log.append_relaxed(*drafts(1))
        queued = log.place()
        assert log.place() is queued, "nothing was appended in between"
        log.append_relaxed(*drafts(1))
        last = log.place()
    log.append(*drafts(1))
    cursors = [cursor_of(receipt) for receipt in log.after(None, 9).receipts]
    for place, before in ((idle, 2), (queued, 3), (last, 4)):
        assert [not place.is_before(cursor) for cursor in cursors] == [number < before for number in range(5)]
        assert [place.is_reached(cursor) for cursor in cursors] == [number + 1 >= before for number in range(5)]


def test_a_place_is_not_known_before_everything_that_it_is_behind_is_written(log: ReceiptLog) -> None:
    log.append(*drafts(1))
    with busy(log):
        log.append_relaxed(*drafts(1))
        place = log.place()
        assert place.seq is None
    log.flush()
    assert place.seq is not None
    assert place.is_reached(log.end())


def test_asking_for_a_place_writes_nothing(log: ReceiptLog, monkeypatch: pytest.MonkeyPatch) -> None:
    log.append(*drafts(1))
    with busy(log):
        monkeypatch.setattr(log._database, "transaction", None)
        places = [log.place() for _ in range(3)]
        assert (log._commits._queue, log._commits._flush_due) == ([], False)
    assert {place.seq for place in places} == {1}


def test_a_place_in_a_log_that_cannot_be_written_is_given_all_the_same(log: ReceiptLog) -> None:
    log.append(*drafts(1))
    log.close()
    assert log.place().is_reached(log.end())


def test_whoever_finds_a_receipt_on_disk_knows_the_places_before_it(
    log: ReceiptLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(*drafts(1))
    seen: list[tuple[int, bool]] = []

    @contextmanager
    def observed() -> Iterator[object]:
        with Database.transaction(log._database) as connection:
            yield connection
        seen.append((len(log.after(None, 9).receipts), place.seq is not None))  # Right behind the commit.

    with busy(log):
        monkeypatch.setattr(log._database, "transaction", observed)
        log.append_relaxed(*drafts(1))
        place = log.place()
        log.append_relaxed(*drafts(1))
    log.flush()
    assert (3, True) in seen
    assert (3, False) not in seen
