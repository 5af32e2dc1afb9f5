"""Cursors mean something to the list that gave them, and to nobody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coilclaw.store import BadCursor, cursor_at, position_of


@given(position=st.text(min_size=1).filter(lambda text: text.isprintable()))
def test_a_cursor_gives_its_position_back(position: str) -> None:
    cursor = cursor_at("runs", position)
    assert position_of("runs", cursor) == position
    assert cursor.isascii()
    assert not set(cursor) & set("/+= &?#")


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "run-0190", "!!!!", "ä", "cnVucw", cursor_at("runs", "7")[:-3], cursor_at("receipts", "7"), "\0"],
)
def test_a_cursor_that_no_such_list_gave_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursor, match="is not a position in a list of runs"):
        position_of("runs", cursor)
