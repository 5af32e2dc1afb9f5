"""The file below everything."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest

from coilclaw.store import Database, Migration, StoreError, StoreUnwritable

FIRST = Migration(1, "first", "CREATE TABLE a (x)")
SECOND = Migration(2, "second", "CREATE TABLE b (x); CREATE TABLE c (x)")


def tables(database: Database) -> set[str]:
    return {name for (name,) in database.read("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_migrations_are_applied_once_whatever_their_order(tmp_path: Path) -> None:
    with Database(tmp_path / "x.db", [SECOND]) as database:
        assert {"b", "c"} <= tables(database)
    with Database(tmp_path / "x.db", [FIRST, SECOND]) as database:
        assert {"a", "b", "c"} <= tables(database)
        assert database.read("SELECT name FROM schema_version ORDER BY name") == [("first",), ("second",)]


@pytest.mark.parametrize("writable", [True, False])
def test_a_database_of_a_newer_version_is_not_opened(tmp_path: Path, writable: bool) -> None:
    path = tmp_path / "x.db"
    Database(path, [FIRST, SECOND]).close()
    path.chmod(0o600 if writable else 0o400)
    with pytest.raises(StoreError, match=r"newer version of CoilClaw \(second\)") as refused:
        Database(path, [FIRST])
    assert "upgrade CoilClaw" in str(refused.value.hint)


def test_a_database_of_an_older_version_is_not_one_of_a_newer(tmp_path: Path) -> None:
    Database(tmp_path / "x.db", [FIRST]).close()
    third = Migration(3, "third", "DROP TABLE a; CREATE TABLE e (x)", replaces=("first",))
    with Database(tmp_path / "x.db", [third]) as database:
        assert "e" in tables(database)


@pytest.mark.req("R563", "R565")
def test_versions_say_the_order_and_names_decide_what_is_applied(tmp_path: Path) -> None:
    def fill(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO a VALUES (7)")

    filled, same_version = Migration(2, "filled", fill), Migration(2, "beside", "CREATE TABLE f (x)")
    with Database(tmp_path / "x.db", [filled, same_version, FIRST]) as database:
        assert database.read("SELECT x FROM a") == [(7,)]
        assert database.read("SELECT name, version FROM schema_version ORDER BY name") == [
            ("beside", 2),
            ("filled", 2),
            ("first", 1),
        ]
    with Database(tmp_path / "x.db", [filled, same_version, FIRST]) as database:
        assert database.read("SELECT x FROM a") == [(7,)]


@pytest.mark.req("R563")
def test_a_function_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(connection: apsw.Connection) -> None:
        connection.execute("CREATE TABLE g (x)")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Database(tmp_path / "x.db", [FIRST, Migration(2, "fails", fail)])
    with Database(tmp_path / "x.db", [FIRST]) as database:
        assert not database.has_table("g")
        assert database.has_table("a")


def test_a_failing_migration_leaves_nothing_behind(tmp_path: Path) -> None:
    broken = Migration(2, "broken", "CREATE TABLE d (x); CREATE TABLE d (x)")
    with pytest.raises(StoreError):
        Database(tmp_path / "x.db", [FIRST, broken])
    with Database(tmp_path / "x.db", [FIRST]) as database:
        assert "d" not in tables(database)


def test_two_openers_at_once_migrate_once(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def open_it() -> None:
        try:
            Database(tmp_path / "x.db", [FIRST, SECOND]).close()
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    with Database(tmp_path / "x.db", [FIRST]) as database:
        with pytest.raises(ZeroDivisionError), database.transaction() as connection:
            connection.execute("INSERT INTO a VALUES (1)")
            raise ZeroDivisionError
        with pytest.raises(StoreUnwritable), database.transaction() as connection:
            connection.execute("INSERT INTO a VALUES (1)")
            connection.execute("INSERT INTO nowhere VALUES (1)")
        assert database.read("SELECT * FROM a") == []
        with database.transaction() as connection:
            connection.execute("INSERT INTO a VALUES (2)")
        assert database.read("SELECT * FROM a") == [(2,)]


def test_a_snapshot_does_not_see_later_writes(tmp_path: Path) -> None:
    with Database(tmp_path / "x.db", [FIRST]) as database:
        with database.snapshot() as read:
            assert list(read("SELECT * FROM a")) == []
            with database.transaction() as connection:
                connection.execute("INSERT INTO a VALUES (1)")
            assert list(read("SELECT * FROM a")) == []
        assert database.read("SELECT * FROM a") == [(1,)]


def test_writers_wait_for_each_other(tmp_path: Path) -> None:
    with Database(tmp_path / "x.db", [FIRST]) as one, Database(tmp_path / "x.db", [FIRST]) as two:
        entered = threading.Event()

        def write() -> None:
            entered.set()
            with two.transaction() as connection:
                connection.execute("INSERT INTO a VALUES (2)")

        with one.transaction() as connection:
            connection.execute("INSERT INTO a VALUES (1)")
            thread = threading.Thread(target=write)
            thread.start()
            assert entered.wait(60)
        thread.join()
        assert one.read("SELECT * FROM a") == [(1,), (2,)]


def test_a_closed_database_says_so(tmp_path: Path) -> None:
    database = Database(tmp_path / "x.db", [FIRST])
    database.close()
    database.close()
    with pytest.raises(StoreError, match="closed"):
        database.read("SELECT 1")
    with pytest.raises(StoreUnwritable, match="closed"), database.transaction():
        pass


@pytest.mark.parametrize("kind", ["folder", "text", "below a file"])
def test_what_is_no_database_is_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.db"
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("hello " * 1000)
    else:
        path.write_text("")
        path = path / "inner.db"
    with pytest.raises(StoreError, match=r"x\.db"):
        Database(path, [FIRST])


def test_files_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    with Database(tmp_path / "home/x.db", [FIRST]) as database:
        with database.transaction() as connection:
            connection.execute("INSERT INTO a VALUES (1)")
        for path in (tmp_path / "home").iterdir():
            assert path.stat().st_mode & 0o077 == 0, path


def test_a_wrong_query_is_a_store_error(tmp_path: Path) -> None:
    with Database(tmp_path / "x.db") as database:
        with pytest.raises(StoreError):
            database.read("SELECT * FROM nowhere")
        with pytest.raises(StoreError), database.snapshot() as read:
            read("SELECT * FROM nowhere")


def test_the_bundled_sqlite_is_free_of_the_wal_bug() -> None:
    assert tuple(int(part) for part in apsw.sqlite_lib_version().split(".")) >= (3, 51, 3)
