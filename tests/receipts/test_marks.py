"""Sealed marks: a run is proven without the receipts of others, and nothing about it can be forged."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import KEY

from coilclaw.receipts import (
    GENESIS,
    MIGRATIONS,
    DamagedReceipt,
    Draft,
    LogUnwritable,
    ReceiptLog,
    digest,
    found_log,
    marks,
)
from coilclaw.receipts.seal import seal
from coilclaw.store import Database

RUN = "run-1"
SEGMENT = 8


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks every few receipts, so that an attack can be tried at every place."""
    monkeypatch.setattr(marks, "SEGMENT", SEGMENT)


@contextmanager
def opened(path: Path, key: bytes = KEY) -> Iterator[ReceiptLog]:
    with Database(path, MIGRATIONS) as database, ReceiptLog(database, key) as log:
        yield log


def draft(run_id: str | None, number: int = 0) -> Draft:
    return Draft("tool.call.succeeded", "allowed", "2026-05-12T14:00:00.000000Z", run_id, payload={"number": number})


def fill(log: ReceiptLog, *run_ids: str | None) -> None:
    log.append(*(draft(run_id, number) for number, run_id in enumerate(run_ids)))


def proven(path: Path, run_id: str = RUN, after: int = 0) -> list[bytes]:
    with opened(path) as log:
        return [body for body, _ in log.tail(after, run_id).read()]


def plainly(path: Path, run_id: str | None = RUN) -> list[bytes]:
    return [bytes(body) for (body,) in rows(path, "SELECT body FROM receipts WHERE run_id IS ? ORDER BY seq", run_id)]


def rows(path: Path, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    found = connection.execute(sql, values).fetchall()
    connection.close()
    return found


def refused(path: Path) -> bool:
    """Whether the run is not proven any more."""
    try:
        proven(path)
    except DamagedReceipt:
        return True
    return False


# Receipt 1 to 8, 9 to 16, 17 to 24, 25 to 32, and some that have no mark yet. The third segment has nothing of the run.
OWN = [2, 5, 8, 9, 15, 26, 31, 34]
PLACES = [RUN if number in OWN else f"run-{number % 3 + 2}" for number in range(1, 37)]


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("untouched") / "log.db"
    with pytest.MonkeyPatch.context() as patch, opened(place) as log:
        patch.setattr(marks, "SEGMENT", SEGMENT)
        for run_id in PLACES:
            fill(log, run_id)
    return place


@pytest.fixture
def path(untouched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(untouched, tmp_path / "log.db"))


def test_a_mark_stands_behind_every_segment_and_the_run_is_proven_by_them(path: Path) -> None:
    assert [seq for (seq,) in rows(path, "SELECT seq FROM receipt_marks")] == [8, 16, 24, 32]
    assert proven(path) == plainly(path)
    assert len(plainly(path)) == len(OWN)
    with opened(path) as log:
        assert log.verify().ok
        assert [each.seq for each in log.of_run(RUN)] == OWN
        assert [each.seq for each in log.latest(3, RUN)] == OWN[-3:]


@pytest.mark.parametrize("after", range(37))
def test_it_can_be_read_from_any_place(path: Path, after: int) -> None:
    later = [body for number, body in zip(OWN, plainly(path), strict=True) if number > after]
    assert proven(path, after=after) == later


def test_what_is_appended_is_read_on(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as log:
        tail, seen = log.tail(0, RUN), []
        for run_id in PLACES:
            fill(log, run_id)
            seen += [body for body, _ in tail.read()]
    assert seen == plainly(tmp_path / "log.db")


def test_others_are_not_looked_at(path: Path) -> None:
    """Which is what marks are for; `verify` looks at all of them."""
    expected = plainly(path)
    rows(path, "DELETE FROM receipts WHERE seq BETWEEN 17 AND 24")
    assert proven(path) == expected
    with opened(path) as log:
        assert log.verify().first_bad == 17


# Receipts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seq", OWN)
@pytest.mark.parametrize("rehashed", [False, True])
def test_an_edited_receipt_of_the_run_is_noticed(path: Path, seq: int, rehashed: bool) -> None:
    ((body,),) = rows(path, "SELECT body FROM receipts WHERE seq = ?", seq)
    edited = bytes(body).replace(b'"allowed"', b'"refused"')
    rows(path, "UPDATE receipts SET body = ? WHERE seq = ?", edited, seq)
    if rehashed:
        rows(path, "UPDATE receipts SET receipt_hash = ? WHERE seq = ?", digest(edited), seq)
    assert refused(path)


@pytest.mark.parametrize("seq", OWN)
def test_a_missing_receipt_of_the_run_is_noticed(path: Path, seq: int) -> None:
    rows(path, "DELETE FROM receipts WHERE seq = ?", seq)
    assert refused(path)


@pytest.mark.parametrize(("one", "two"), [(2, 5), (2, 9), (5, 6), (26, 31), (2, 34), (31, 34)])
def test_receipts_that_changed_places_are_noticed(path: Path, one: int, two: int) -> None:
    for seq, to in ((one, -1), (two, one), (-1, two)):
        rows(path, "UPDATE receipts SET seq = ? WHERE seq = ?", to, seq)
    assert refused(path)


@pytest.mark.parametrize("seq", range(1, 37))
def test_a_receipt_that_is_filed_under_the_run_adds_nothing_to_it(path: Path, seq: int) -> None:
    expected = plainly(path)
    ((body,),) = rows(path, "SELECT body FROM receipts WHERE seq = 2")
    forged = bytes(body).replace(b'"number":0', b'"number":7')
    rows(
        path,
        "UPDATE receipts SET run_id = ?, body = ?, receipt_hash = ? WHERE seq = ?",
        RUN,
        forged,
        digest(forged),
        seq,
    )
    assert refused(path) or proven(path) == expected
    with opened(path) as log:
        assert not log.verify().ok


@pytest.mark.parametrize("last", range(1, 36))
def test_a_run_that_was_cut_back_is_noticed(path: Path, last: int) -> None:
    """As if it had not come so far, so that what it did would be done again."""
    rows(path, "DELETE FROM receipts WHERE seq > ? AND run_id = ?", last, RUN)
    assert refused(path) == (last < OWN[-1])


@pytest.mark.parametrize("last", range(1, 36))
def test_a_log_that_was_cut_back_is_noticed(path: Path, last: int) -> None:
    rows(path, "DELETE FROM receipts WHERE seq > ?", last)
    rows(path, "DELETE FROM receipt_marks WHERE seq > ?", last)
    assert refused(path)


# Marks ------------------------------------------------------------------------------------------------

EDITS: dict[str, str] = {
    "a receipt of the run less": "runs = CAST(replace(runs, ',', '-') AS BLOB)",
    "the run left out": "runs = CAST(replace(runs, '\"run-1\"', '\"run-0\"') AS BLOB)",
    "all runs left out": "runs = x''",
    "another digest": "runs = CAST(replace(runs, 'a', 'b') AS BLOB)",
    "runs that are no bytes": "runs = 7",
    "another hash": "receipt_hash = '" + "0" * 64 + "'",
    "a hash that is longer": "receipt_hash = receipt_hash || ':'",
    "no hash": "receipt_hash = x'00'",
    "another seal": "seal = '" + "0" * 64 + "'",
    "no seal": "seal = ''",
    "a seal that is no text": "seal = x'00ff'",
    "a seal of odd letters": "seal = 'é'",
}


@pytest.mark.parametrize("seq", [8, 16, 24, 32])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_mark_is_noticed(path: Path, seq: int, edit: str) -> None:
    before = rows(path, "SELECT * FROM receipt_marks")
    rows(path, f"UPDATE receipt_marks SET {EDITS[edit]} WHERE seq = ?", seq)
    if edit != "the run left out" or seq != 24:  # Which has nothing of the run.
        assert rows(path, "SELECT * FROM receipt_marks") != before
        assert refused(path)
        with opened(path) as log:
            assert log.verify().first_bad == seq


@pytest.mark.parametrize("edit", EDITS)
def test_no_mark_follows_one_that_was_edited(path: Path, edit: str) -> None:
    rows(path, f"UPDATE receipt_marks SET {EDITS[edit]} WHERE seq = 32")
    with opened(path) as log, pytest.raises(LogUnwritable, match="the mark behind receipt 32"):
        fill(log, *["run-9"] * SEGMENT)


@pytest.mark.parametrize(("one", "two"), [(8, 16), (8, 24), (16, 24), (24, 32), (8, 32)])
def test_marks_that_changed_places_are_noticed(path: Path, one: int, two: int) -> None:
    for seq, to in ((one, -1), (two, one), (-1, two)):
        rows(path, "UPDATE receipt_marks SET seq = ? WHERE seq = ?", to, seq)
    assert refused(path)
    with opened(path) as log:
        assert log.verify().first_bad == one


@pytest.mark.parametrize(("one", "two"), [(24, 16), (24, 8), (24, 32), (8, 16), (16, 8)])
def test_a_mark_that_was_copied_over_another_is_noticed(path: Path, one: int, two: int) -> None:
    rows(
        path,
        "UPDATE receipt_marks SET (receipt_hash, runs, seal) = "
        "(SELECT receipt_hash, runs, seal FROM receipt_marks WHERE seq = ?) WHERE seq = ?",
        one,
        two,
    )
    assert refused(path)
    with opened(path) as log:
        assert log.verify().first_bad == two


@pytest.mark.parametrize(("to", "seq"), [(9, 8), (23, 24), (33, 32), (40, 32), (0, 8), (-8, 8)])
def test_a_mark_that_was_moved_is_noticed(path: Path, to: int, seq: int) -> None:
    rows(path, "UPDATE receipt_marks SET seq = ? WHERE seq = ?", to, seq)
    with opened(path) as log:
        assert not log.verify().ok
    # Without its mark the last segment is looked at as a whole, and so is a mark that is nowhere near.
    assert refused(path) or proven(path) == plainly(path)


@pytest.mark.parametrize("gone", [(8,), (16,), (24,), (8, 16), (16, 24), (8, 24)])
def test_a_mark_that_is_missing_is_noticed(path: Path, gone: tuple[int, ...]) -> None:
    for seq in gone:
        rows(path, "DELETE FROM receipt_marks WHERE seq = ?", seq)
    assert refused(path)
    with opened(path) as log:
        assert not log.verify().ok


@pytest.mark.parametrize("first", [32, 24, 16, 8])
@pytest.mark.parametrize("seq", [None, 2, 15, 31])
def test_without_the_last_marks_all_receipts_are_looked_at_and_they_are_made_again(
    path: Path, first: int, seq: int | None
) -> None:
    before, expected = rows(path, "SELECT * FROM receipt_marks"), plainly(path)
    rows(path, "DELETE FROM receipt_marks WHERE seq >= ?", first)
    if seq is not None:
        rows(path, "DELETE FROM receipts WHERE seq = ?", seq)
        assert refused(path)
        return
    assert proven(path) == expected
    with opened(path) as log:
        fill(log, *["run-9"] * SEGMENT)
        if first == 8:  # Nothing says that there were any.
            assert log.verify().ok
            return
        assert rows(path, "SELECT * FROM receipt_marks WHERE seq <= 32") == before
        assert log.verify().ok


def test_the_mark_of_another_log_is_noticed(path: Path, tmp_path: Path) -> None:
    """Same key, same runs at the same places, another log."""
    other = tmp_path / "other.db"
    with opened(other) as log:
        fill(log, *PLACES)
    for seq in (8, 16, 24, 32):
        copy = tmp_path / f"{seq}.db"
        shutil.copy(path, copy)
        take_mark(other, copy, seq)
        assert refused(copy)
        with opened(copy) as log:
            assert log.verify().first_bad == seq


def take_mark(source: Path, target: Path, seq: int) -> None:
    ((receipt_hash, runs, mark),) = rows(
        source, "SELECT receipt_hash, runs, seal FROM receipt_marks WHERE seq = ?", seq
    )
    rows(
        target,
        "UPDATE receipt_marks SET receipt_hash = ?, runs = ?, seal = ? WHERE seq = ?",
        receipt_hash,
        runs,
        mark,
        seq,
    )


@pytest.mark.parametrize("taken", [(24,), (32,), (24, 32)])
def test_marks_of_the_same_log_before_it_was_put_back_are_noticed(tmp_path: Path, taken: tuple[int, ...]) -> None:
    """They have true seals: the log went on in two ways from one backup. In one of them the run did something."""
    kept, other = tmp_path / "kept.db", tmp_path / "other.db"
    with opened(kept) as log:
        fill(log, *PLACES[:18])
    shutil.copy(kept, other)
    with opened(other) as log:
        fill(log, *["run-9"] * 20)
    with opened(kept) as log:
        fill(log, *[RUN] * 3, *["run-8"] * 17)
    assert not refused(kept)
    for seq in taken:
        take_mark(other, kept, seq)
    assert refused(kept)


def test_the_seal_of_a_head_passes_for_no_mark(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with opened(path) as log:
        fill(log, *["run-2"] * 7, RUN)
        head = log.sealed_head()
        fill(log, *["run-2"] * 3)
    assert not refused(path)
    for forged in (
        seal(KEY, **head._asdict()),
        seal(KEY, log_id=head.log_id, seq=8, receipt_hash=head.receipt_hash + ":"),
        seal(KEY, log_id=head.log_id, seq=8, receipt_hash=f"{head.receipt_hash}:{GENESIS}"),  # What a mark says.
    ):
        rows(path, "UPDATE receipt_marks SET runs = x'', seal = ?", forged)
        assert refused(path)


@pytest.mark.parametrize("key", [b"", bytes(32), b"x" * 32])
def test_marks_that_somebody_made_without_the_key_are_noticed(path: Path, key: bytes) -> None:
    """All of them, so that they fit to each other and to the head, and none names the run."""
    with opened(path) as log:
        log_id = log.sealed_head().log_id
    forged, own_key = None, marks._key_of_marks(key)
    for first in range(1, 33, SEGMENT):
        found = rows(path, "SELECT run_id, receipt_hash FROM receipts WHERE seq BETWEEN ? AND ?", first, first + 7)
        hidden = [("run-9" if run_id == RUN else run_id, receipt_hash) for run_id, receipt_hash in found]
        forged = marks._made(own_key, log_id, first + 7, hidden, forged)
        rows(path, "DELETE FROM receipt_marks WHERE seq = ?", forged.seq)
        rows(path, "INSERT INTO receipt_marks VALUES (?, ?, ?, ?)", *forged)
    assert refused(path)


def test_the_seal_of_a_mark_passes_for_no_head(path: Path) -> None:
    ((receipt_hash, mark),) = rows(path, "SELECT receipt_hash, seal FROM receipt_marks WHERE seq = 8")
    rows(path, "DELETE FROM receipts WHERE seq > 8")
    rows(path, "DELETE FROM receipt_marks WHERE seq > 8")
    for text in ("", ":", receipt_hash):
        rows(path, "UPDATE receipt_head SET seq = 8, receipt_hash = ?, seal = ?", receipt_hash + text, mark)
        assert refused(path)


@pytest.mark.parametrize("seq", [40, 33, 4096])
def test_a_mark_of_what_is_yet_to_come_is_refused(path: Path, seq: int) -> None:
    ((receipt_hash, runs, mark),) = rows(path, "SELECT receipt_hash, runs, seal FROM receipt_marks WHERE seq = 24")
    rows(path, "INSERT INTO receipt_marks VALUES (?, ?, ?, ?)", seq, receipt_hash, runs, mark)
    with opened(path) as log:
        assert log.verify().first_bad == seq
        with pytest.raises(LogUnwritable, match=f"the mark behind receipt {seq}"):
            fill(log, *["run-9"] * SEGMENT)


# Writing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lots", [[36], [7, 1, 1, 7, 8, 9, 3], [9, 9, 9, 9], [1] * 36, [8, 8, 8, 8, 4]])
@pytest.mark.parametrize("writers", [1, 2, 3])
def test_whoever_writes_the_marks_are_the_same(tmp_path: Path, path: Path, lots: list[int], writers: int) -> None:
    copy, at = tmp_path / "copy.db", 0
    with opened(copy) as log:
        log.append()
    ((log_id,),) = rows(path, "SELECT log_id FROM receipt_head")
    head = (log_id, "0" * 64, seal(KEY, log_id=log_id, seq=0, receipt_hash="0" * 64))
    rows(copy, "UPDATE receipt_head SET log_id = ?, receipt_hash = ?, seal = ?", *head)
    databases = [Database(copy, MIGRATIONS) for _ in range(writers)]
    logs = [ReceiptLog(database, KEY) for database in databases]
    for turn, count in enumerate(lots):
        logs[turn % writers].append(*(draft(run_id, 0) for run_id in PLACES[at : at + count]))
        at += count
    for log, database in zip(logs, databases, strict=True):
        log.close()
        database.close()
    assert rows(copy, "SELECT * FROM receipt_marks") == rows(path, "SELECT * FROM receipt_marks")


@pytest.mark.parametrize("seq", range(33, 36))
@pytest.mark.parametrize(
    "statement", ["DELETE FROM receipts WHERE seq = ?", "UPDATE receipts SET body = body || ' ' WHERE seq = ?"]
)
def test_no_mark_is_made_of_receipts_that_were_changed(path: Path, seq: int, statement: str) -> None:
    rows(path, statement, seq)
    with opened(path) as log:
        with pytest.raises(LogUnwritable, match=f"receipt {seq} was changed or is missing"):
            fill(log, *["run-9"] * SEGMENT)
        assert log.verify().first_bad == seq


def test_a_writer_that_stays_marks_what_it_wrote_and_not_what_it_finds(path: Path) -> None:
    with opened(path) as log:
        fill(log, *["run-9"] * 5)  # Across a boundary: from here on it knows.
        rows(path, "UPDATE receipts SET body = body || ' ' WHERE seq = 41")
        fill(log, *["run-9"] * 8)
        assert log.verify().first_bad == 41
    with pytest.raises(DamagedReceipt):
        proven(path, "run-9")


def test_a_new_log_has_no_marks_of_a_lost_one(path: Path, tmp_path: Path) -> None:
    rows(path, "DELETE FROM receipts")
    rows(path, "DELETE FROM receipt_head")
    key_path = tmp_path / "keys" / "log.key"
    with Database(path, MIGRATIONS) as database, ReceiptLog(database, found_log(database, key_path)) as log:
        fill(log, *PLACES)
        assert log.verify().ok
        assert len(list(log.tail(0, RUN).read())) == len(OWN)


# Logs that are older than marks -----------------------------------------------------------------------


@pytest.fixture(params=[3, 8, 20, 24])
def grown(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A log that was begun by a version without marks, and continued by this one."""
    place, count = tmp_path / "grown.db", request.param
    with opened(place) as log:
        fill(log, *PLACES[:count])
    rows(place, "DELETE FROM receipt_marks")
    with opened(place) as log:
        fill(log, *PLACES[count:])
    assert rows(place, "SELECT min(seq) FROM receipt_marks") == [(count // SEGMENT * SEGMENT + SEGMENT,)]
    return place


def test_what_is_older_than_marks_is_looked_at_as_a_whole(grown: Path) -> None:
    assert proven(grown) == plainly(grown)
    with opened(grown) as log:
        assert log.verify().ok
        assert [each.seq for each in log.of_run(RUN)] == OWN


@pytest.mark.parametrize("seq", OWN)
def test_a_missing_receipt_in_the_part_before_marks_is_noticed(grown: Path, seq: int) -> None:
    rows(grown, "DELETE FROM receipts WHERE seq = ?", seq)
    assert refused(grown)


@pytest.mark.parametrize("seq", OWN)
def test_an_edited_receipt_in_the_part_before_marks_is_noticed(grown: Path, seq: int) -> None:
    rows(grown, "UPDATE receipts SET body = CAST(replace(body, 'allowed', 'refused') AS BLOB) WHERE seq = ?", seq)
    assert refused(grown)


def test_a_file_of_an_older_version_that_cannot_be_written_can_be_read(path: Path, tmp_path: Path) -> None:
    expected = plainly(path)
    rows(path, "DROP TABLE receipt_marks")
    rows(path, "DELETE FROM schema_version WHERE name = 'receipt-marks'")
    path.chmod(0o400)
    with opened(path) as log:
        assert log.verify().ok
        assert [body for body, _ in log.tail(0, RUN).read()] == expected
        assert [each.seq for each in log.of_run(RUN)] == OWN


# Any runs at any places -------------------------------------------------------------------------------

NAMES = [None, "null", RUN, "run-11", 'x","run-1', '\n"run-1" ', "run-1 ", "ü€😀", '"', "\\", "", "run"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lots=st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=20), min_size=1, max_size=6))
def test_every_run_is_found_and_proven_whatever_it_is_called(
    tmp_path_factory: pytest.TempPathFactory, lots: list[list[str | None]]
) -> None:
    path = tmp_path_factory.mktemp("marks") / "log.db"
    with opened(path) as log:
        for lot in lots:
            fill(log, *lot)
        for name in NAMES[1:]:
            expected = plainly(path, name)
            assert [body for body, _ in log.tail(0, name).read()] == expected
            assert [each.run_id for each in log.of_run(str(name))] == [name] * len(expected)
        assert log.verify().ok


def test_segments_are_as_long_as_it_says_in_the_decision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    with opened(tmp_path / "log.db") as log:
        fill(log, *[RUN, "run-2"] * 1030)
        assert log.verify().ok
        assert len(list(log.tail(0, RUN).read())) == 1030
    assert rows(tmp_path / "log.db", "SELECT seq FROM receipt_marks") == [(1024,), (2048,)]
