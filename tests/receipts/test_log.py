"""Appending: order, durability, threads, and what happens when the disk says no."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.conftest import KEY

from coilclaw.receipts import (
    MIGRATIONS,
    Conflict,
    Draft,
    LogUnwritable,
    NoSuchReceipt,
    ReceiptLog,
    Row,
    UnwritableReceipt,
    digest,
    now,
)
from coilclaw.store import Database


def draft(kind: str = "tool.call.requested", **fields: Any) -> Draft:
    return Draft(type=kind, status="pending", timestamp=now(), **fields)


def test_the_receipts_of_a_conversation_are_found_behind_a_place(log: ReceiptLog) -> None:
    forged = {"conversation_id": "talk-1", "id": "x"}
    log.append(draft(conversation_id="talk-1"), draft(conversation_id="talk-11"), draft(payload={"a": forged}))
    found, last = log.of_conversation("talk-1")
    assert ([each.seq for each in found], last) == ([1], 3)
    log.append(draft(conversation_id="talk-1"), draft(conversation_id='talk-1","id":'))
    assert [each.seq for each in log.of_conversation("talk-1", last)[0]] == [4]
    assert [each.seq for each in log.of_conversation('talk-1","id":')[0]] == [5]


@pytest.mark.req("R369", "R370", "R377", "R378", "R379", "R380", "R87")
def test_receipts_form_a_chain(log: ReceiptLog) -> None:
    ids = log.append(draft(tool="a.b", run_id="run-1"), draft(tool="a.c", run_id="run-1"))
    first, second = log.of_run("run-1")
    assert [first.id, second.id] == ids
    assert (first.seq, second.seq) == (1, 2)
    assert first.previous_hash == "0" * 64
    assert second.previous_hash == first.receipt_hash
    assert first.id.startswith("receipt-")
    assert first.timestamp.endswith("Z")
    assert first.ts.tzinfo is not None
    lines = list(log.export())
    import json

    fields = json.loads(lines[0])
    claimed = fields.pop("receipt_hash")
    assert digest(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()) == claimed


@pytest.mark.req("R35")
def test_what_was_appended_stays_as_it_is(log: ReceiptLog) -> None:
    lines: list[bytes] = []
    for number in range(20):
        (log.append_relaxed if number % 3 else log.append)(draft(tool=f"a.b{number}", run_id="run-1"))
        later = list(log.export())
        assert later[: len(lines)] == lines
        assert len(later) == len(lines) + 1
        lines = later


def test_relaxed_receipts_come_before_a_later_durable_one(log: ReceiptLog) -> None:
    log.append_relaxed(draft("one"))
    log.append_relaxed(draft("two"))
    log.append(draft("three"))
    assert [receipt.type for receipt in log.latest(10)] == ["one", "two", "three"]


def test_relaxed_receipts_reach_the_disk_by_themselves(log: ReceiptLog, database: Database) -> None:
    log.append_relaxed(draft())
    arrived = threading.Event()

    def watch() -> None:
        while not database.read("SELECT 1 FROM receipts"):
            pass
        arrived.set()

    threading.Thread(target=watch, daemon=True).start()
    assert arrived.wait(60)


def test_contents_are_kept_beside_the_log_once(log: ReceiptLog) -> None:
    content_hash = digest(b"{}")
    log.append(draft(args_hash=content_hash), contents={content_hash: b"{}"})
    log.append(draft(args_hash=content_hash), contents={content_hash: b"{}"})
    assert log.contents(content_hash) == b"{}"
    assert log.contents("other") is None


def test_many_threads_share_one_chain(log: ReceiptLog) -> None:
    def append(number: int) -> None:
        for _ in range(25):
            log.append(draft(run_id=f"run-{number}"))
            log.append_relaxed(draft(run_id=f"run-{number}"))

    threads = [threading.Thread(target=append, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = log.verify()
    assert result.ok, result.problem
    assert result.count == 16 * 50


@pytest.mark.req("R130")
def test_a_receipt_is_found_by_id_or_number(log: ReceiptLog) -> None:
    (receipt_id,) = log.append(draft(tool="a.b"))
    assert log.find("1").id == receipt_id
    assert log.find(receipt_id).tool == "a.b"
    for wrong in ("2", "x", "receipt-other-1", "", "-1"):
        with pytest.raises(NoSuchReceipt):
            log.find(wrong)


def test_a_closed_log_refuses(database: Database) -> None:
    log = ReceiptLog(database, KEY)
    log.append_relaxed(draft())
    log.close()
    log.close()
    with pytest.raises(LogUnwritable, match="closed"):
        log.append(draft())
    with pytest.raises(LogUnwritable, match="closed"):
        log.append_relaxed(draft())
    assert database.read("SELECT count(*) FROM receipts") == [(1,)]


class _Faulty(apsw.VFS):
    """The default file system, until it is told to fail."""

    def __init__(self) -> None:
        super().__init__("faulty", "unix", makedefault=True)
        self.fault: tuple[str, type[Exception]] | None = None

    def xOpen(self, name: Any, flags: list[int]) -> _FaultyFile:
        return _FaultyFile(self, name, flags)


class _FaultyFile(apsw.VFSFile):
    def __init__(self, vfs: _Faulty, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._vfs = vfs

    def _fail(self, operation: str) -> None:
        if self._vfs.fault and self._vfs.fault[0] == operation:
            raise self._vfs.fault[1]("injected")

    def xWrite(self, data: bytes, offset: int) -> None:
        self._fail("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._fail("sync")
        super().xSync(flags)


@pytest.fixture
def faulty() -> Iterator[_Faulty]:
    vfs = _Faulty()
    yield vfs
    vfs.fault = None
    vfs.unregister()


@pytest.mark.parametrize(
    ("operation", "error", "words"),
    [("write", apsw.FullError, "disk is full"), ("write", apsw.ReadOnlyError, "read-only"), ("sync", apsw.IOError, "")],
)
def test_a_failed_write_poisons_the_log(
    faulty: _Faulty, tmp_path: Path, operation: str, error: type[Exception], words: str
) -> None:
    with Database(tmp_path / "x.db", MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        log.append(draft("before"))
        faulty.fault = (operation, error)
        with pytest.raises(LogUnwritable, match=f"no tool runs.*{words}"):
            log.append(draft("lost"))
        faulty.fault = None
        with pytest.raises(LogUnwritable):
            log.append(draft("after"))  # Not retried: nobody knows what the failed sync left behind.
        assert [receipt.type for receipt in log.latest(10)] == ["before"]
    with Database(tmp_path / "x.db", MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        log.append(draft("next process"))
        assert log.verify().ok


def test_waiting_callers_all_learn_of_a_failure(faulty: _Faulty, tmp_path: Path) -> None:
    with Database(tmp_path / "x.db", MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        log.append(draft("before"))
        faulty.fault = ("sync", apsw.IOError)
        failures: list[LogUnwritable] = []

        def append() -> None:
            try:
                log.append(draft("lost"))
            except LogUnwritable as error:
                failures.append(error)

        threads = [threading.Thread(target=append) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        faulty.fault = None
        assert len(failures) == 8


def test_a_claim_that_fails_takes_back_the_claims_before_it(log: ReceiptLog, database: Database) -> None:
    with database.transaction() as connection:
        connection.execute("CREATE TABLE stock (name TEXT, count INTEGER); INSERT INTO stock VALUES ('a', 1), ('b', 0)")
    take = "UPDATE stock SET count = count - 1 WHERE name = ? AND count > 0"
    both = [Row(take, ("a",), claims=True), Row(take, ("b",), claims=True)]
    with pytest.raises(Conflict):
        log.append(draft(), rows=[*both, Row("INSERT INTO stock VALUES ('c', 1)", ())])
    assert database.read("SELECT name, count FROM stock") == [("a", 1), ("b", 0)]
    assert log.latest(10) == []
    log.append(draft(), rows=both[:1])
    assert database.read("SELECT count FROM stock WHERE name = 'a'") == [(0,)]


@pytest.mark.parametrize("way", ["append", "append_relaxed"])
@pytest.mark.parametrize(
    ("wrong", "rows"),
    [
        (draft(tool="\ud800"), ()),
        (draft(payload={"reason": "half a character: \ud800"}), ()),
        (draft(payload={"number": 2**60}), ()),
        (draft(tool=5), ()),
        (draft(), [Row("SELECT ?", ("\ud800",))]),
        (draft(), [Row("SELECT ?", (2**63,))]),
        (draft(), [Row("SELECT ?", (("a", "list"),))]),  # type: ignore[arg-type]
    ],
)
def test_a_receipt_that_no_log_could_write_fails_for_its_caller_alone(
    log: ReceiptLog, way: str, wrong: Draft, rows: list[Row]
) -> None:
    log.append_relaxed(draft("before"))
    with pytest.raises(UnwritableReceipt):
        getattr(log, way)(draft("with it"), wrong, rows=rows)
    log.append(draft("after"))
    assert [receipt.type for receipt in log.latest(10)] == ["before", "after"]
    assert log.verify().ok
