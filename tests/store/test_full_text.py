"""An index of words: every text can be added and looked for, in the transactions of whoever owns the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from coilclaw.store import Database, FullTextIndex, Migration, words_of

INDEX = FullTextIndex("heard")


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "x.db", [Migration(1, "heard", INDEX.create)])


def add(database: Database, *texts: str) -> None:
    with database.transaction() as connection:
        for place, text in enumerate(texts, start=1):
            INDEX.add(connection, place, text)


def places(database: Database, query: str, *, every: bool = True) -> list[int]:
    return sorted(row.place for row in INDEX.find(database, words_of(query), every=every, limit=100))


def test_rows_are_found_by_every_word_or_by_any(database: Database) -> None:
    add(database, "red apple", "red pear", "green apple")
    assert (places(database, "apple red"), places(database, "apple red", every=False)) == ([1], [1, 2, 3])
    assert places(database, "") == []


def test_a_word_stands_for_all_that_begin_with_it_and_a_sign_for_nothing(database: Database) -> None:
    add(database, "applesauce", "pineapple", "AND OR NOT NEAR")
    assert places(database, '"apple*') == [1]
    assert places(database, "NOT apples") == []
    assert places(database, "and near") == [3]


def test_scripts_without_blanks_are_found_by_any_part(database: Database) -> None:
    add(database, "明天的会议很重要", "会有议论", "議論")
    assert places(database, "会议") == [1]
    assert places(database, "会") == [1, 2]


def test_what_is_added_in_a_transaction_that_fails_is_not_there(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.transaction() as connection:
        INDEX.add(connection, 1, "apple")
        raise ZeroDivisionError
    assert places(database, "apple") == []
    add(database, "apple")
    with database.transaction() as connection:
        INDEX.clear(connection)
    assert places(database, "apple") == []


def test_a_query_has_so_many_words_at_most() -> None:
    assert len(words_of(" ".join(f"w{number}" for number in range(10_000)))) == 32
    assert words_of("a a-b_c \x00d \ud800 é e\u0301") == ["a", "b", "c", "d", "é", "e\u0301"]


def test_what_is_removed_while_overwriting_is_not_in_the_file(database: Database) -> None:
    add(database, *(f"zebra{number}" * 100 for number in range(500)))
    with database.transaction(overwriting=True) as connection:
        INDEX.clear(connection)
    database.shrink(always=True)
    wal = database.path.with_name("x.db-wal")
    assert b"zebra" not in database.path.read_bytes() + wal.read_bytes()
