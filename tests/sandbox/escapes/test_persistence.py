"""A run leaves nothing behind: not for the next one, and not on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sandbox.conftest import ENGINES, TRIED
from tests.sandbox.escapes.conftest import Arena, arena_of, payloads_of

from coilclaw.sandbox.escapes import Payload, read_corpus


@pytest.mark.req("R4", "R19")
@payloads_of("persistence")
def test_a_run_leaves_nothing_for_the_next(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)


@pytest.mark.req("R24")
@pytest.mark.parametrize("name", TRIED)
def test_an_engine_that_is_closed_leaves_no_process(name: str, tmp_path: Path) -> None:
    (persistence,) = read_corpus(["persistence"])
    starting = [each for each in persistence.payloads if "fork" in each.snippets[0] or "Thread" in each.snippets[0]]
    assert len(starting) >= 2
    with arena_of(ENGINES[name], tmp_path) as made:
        for payload in starting:
            made.holds(payload)
    assert made.ground.canaries.processes_left() == []
