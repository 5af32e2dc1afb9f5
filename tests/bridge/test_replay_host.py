"""A run that is repeated has to do everything it did before."""

from __future__ import annotations

import pytest
from tests.conftest import World

from coilclaw.bridge import ReplayHost
from coilclaw.bridge.journal import read_journal
from coilclaw.bridge.prior_calls import PriorCall
from coilclaw.sandbox import Cancelled, Completed, Diverged, RunClock
from coilclaw.store import Database

MADE = PriorCall(number=1, tool="a.b", tool_version="v1", args_hash="h", state="requested")


def repetition(world: World, database: Database, *prior: PriorCall) -> ReplayHost:
    calls = {each.number: each for each in prior}
    return ReplayHost(world.bridge(), read_journal(database, "run-test"), calls, RunClock())


def test_a_run_that_ends_before_it_did_all_it_did_diverges(world: World, database: Database) -> None:
    ended = repetition(world, database, MADE).judged(Completed(value=1))
    assert isinstance(ended, Diverged)
    assert "call 1" in ended.error.message


@pytest.mark.parametrize(("prior", "outcome"), [((), Completed(value=1)), ((MADE,), Cancelled())])
def test_any_other_end_is_its_own(
    world: World, database: Database, prior: tuple[PriorCall, ...], outcome: Completed | Cancelled
) -> None:
    assert repetition(world, database, *prior).judged(outcome) is outcome
