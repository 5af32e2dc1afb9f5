"""A database that an older version has written is carried over, and one of a newer version is left alone."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from coilclaw.bridge import find_run, list_runs, read_journal
from coilclaw.policy import ApprovalStore, approval_store
from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.runs import MIGRATIONS, report_of
from coilclaw.store import Database, Migration, StoreError
from coilclaw.trust import TrustLedger

DUMP = Path(__file__).with_name("database_before_marks.sql")
"""Written by the version before marks: a direct call that completed, three that were suspended, one of them denied
since, a tool file that was loaded, one that was trusted, and a call under way."""
OLD_NAMES = {"receipts-log", "tool-trust", "tool-trust-attempts", "approvals-with-evidence", "run-journal"}
KEY = b"k" * 32


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "coilclaw.db"
    connection = apsw.Connection(str(place))
    connection.execute(DUMP.read_text())
    ((asked,),) = connection.execute("SELECT min(created_at) FROM approvals")
    monkeypatch.setattr(approval_store, "_seconds", lambda: int(asked) + 60)
    connection.close()
    return place


def applied(path: Path, table: str) -> set[str]:
    connection = apsw.Connection(str(path))
    names = {str(name) for (name,) in connection.execute(f"SELECT name FROM {table}")}
    connection.close()
    return names


@pytest.mark.req("R565")
def test_everything_is_there_again(path: Path) -> None:
    assert applied(path, "migrations") == OLD_NAMES
    with Database(path, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        assert log.verify().ok
        assert log.verify().count == 21
        runs = list_runs(database).runs
        assert [each.state for each in runs] == ["suspended", "suspended", "suspended", "completed"]
        assert [each.header.workspace for each in runs] == ["/w"] * 4
        assert read_journal(database, runs[-1].run_id).rows == 1
        report = report_of(database, log, runs[-1].run_id)
        assert report is not None
        assert report.status == "completed"
        assert report.unkept == {"value", "stdout"}
        book = ApprovalStore(database, log)
        assert [each.run_id for each in book.list("pending", "denied")] == [each.run_id for each in runs[2::-1]]
        assert [each.status for each in book.list("pending", "denied")] == ["denied", "pending", "pending"]
        assert book.is_proven(book.list("denied")[0])
        ledger = TrustLedger(database, log, Path("/w/tools"))
        assert ledger.in_force("shelf/a.py") == b"A = 1"
        _, judge = ledger.examine(lambda: None)
        assert set(judge({"shelf/c.py": "c"})) == {"shelf/c.py"}, "a call is under way"
    assert applied(path, "schema_version") >= {each.name for each in MIGRATIONS} | OLD_NAMES


def test_it_is_written_to_as_if_it_had_always_been_so(path: Path) -> None:
    with Database(path, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        book = ApprovalStore(database, log)
        first, second = book.list("pending")
        book.decide(second.id, approved=True, decided_by="me")
        assert book.is_proven(book.get(second.id))
        log.append(*(Draft("x", "allowed", now(), first.run_id) for _ in range(2100)))
        assert len(log.of_run(first.run_id)) == len(list(log.tail(0, first.run_id).read())) > 2100
        assert log.verify().ok
        ledger = TrustLedger(database, log, Path("/w/tools"))
        rows, contents = ledger.begun("mark-2", "call-2-1", {})
        log.append(rows=rows, contents=contents)
        ledger.recover(dict)
        assert database.read("SELECT mark, number FROM guarded_calls") == [("mark-2", 2)]
    with Database(path, MIGRATIONS) as database:
        assert find_run(database, first.run_id).state == "suspended"


def test_the_version_that_wrote_it_refuses_it_from_then_on(path: Path) -> None:
    """It looks for names that it does not know in the table where it kept them."""
    Database(path, MIGRATIONS).close()
    assert applied(path, "migrations") - OLD_NAMES == {"schema-version"}


def test_a_new_database_is_refused_by_old_versions_as_well(tmp_path: Path) -> None:
    Database(tmp_path / "new.db", MIGRATIONS).close()
    assert applied(tmp_path / "new.db", "migrations") == {"schema-version"}


def test_a_database_of_a_newer_version_is_not_opened(path: Path) -> None:
    Database(path, [*MIGRATIONS, Migration(99, "later", "CREATE TABLE later (x TEXT)")]).close()
    with pytest.raises(StoreError, match=r"newer version of CoilClaw \(later\)"):
        Database(path, MIGRATIONS)


def test_names_are_used_once() -> None:
    names = [each.name for each in MIGRATIONS]
    assert len(names) == len(set(names))


def test_a_new_database_and_one_that_was_carried_over_have_the_same_tables(path: Path, tmp_path: Path) -> None:
    """But for what only the old one needed, and for words that mean nothing any more."""

    def columns(database: Database) -> dict[str, list[str]]:
        tables = database.read("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'sqlite_sequence'")
        return {name: [row[1] for row in database.read(f"PRAGMA table_info({name})")] for (name,) in tables}

    with Database(path, MIGRATIONS) as old, Database(tmp_path / "new.db", MIGRATIONS) as new:
        assert columns(old) == columns(new)
        indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
        assert old.read(indexes) == new.read(indexes)
