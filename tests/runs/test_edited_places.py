"""Rows of runs that somebody has edited hide nothing that receipts tell."""

from __future__ import annotations

import pytest
from tests.conftest import cache_folder

from coilclaw.app import CoilClaw
from coilclaw.runs import NotCancellable


@pytest.mark.parametrize("place", [2, 3, 10_000])
def test_an_edited_place_in_the_log_hides_nothing_of_a_run(place: int) -> None:
    with CoilClaw.temporary(cache=cache_folder(), pool=0) as claw:
        run_id = claw.call("time.now", {}).report.run_id
        before, activity = claw.runs.show(run_id), claw.runs.activity(run_id)
        with claw._parts.stores.database.transaction() as connection:
            connection.execute("UPDATE runs SET first_seq = ?", (place,))
        assert claw.runs.show(run_id) == before
        assert claw.runs.activity(run_id) == activity


def test_a_run_that_is_over_is_not_cancelled_because_its_row_says_that_it_waits() -> None:
    with CoilClaw.temporary(cache=cache_folder(), pool=0) as claw:
        run_id = claw.call("time.now", {}).report.run_id
        with claw._parts.stores.database.transaction() as connection:
            connection.execute("UPDATE runs SET status = 'suspended'")
        with pytest.raises(NotCancellable, match="completed"):
            claw.runs.cancel(run_id, by="ada")
        assert claw.runs.show(run_id).status == "completed"
