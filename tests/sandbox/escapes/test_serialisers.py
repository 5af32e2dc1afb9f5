"""What crosses between a snippet and the host is JSON, in both directions."""

from __future__ import annotations

import json

import pytest
from tests.conftest import World
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R4")
@payloads_of("serialisers")
def test_no_serialised_value_runs(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)


def test_the_value_of_a_run_is_plain_data(world: World) -> None:
    source = (
        "import enum\nclass N(int): pass\nclass S(str): pass\n[N(5), S('x'), {S('k'): (1, 2)}, {3}, b'bytes', 1j, ...]"
    )
    report = world.run(source)
    kinds = {type(each) for each in report.value}
    assert kinds <= {int, str, dict, list}
    assert json.loads(json.dumps(report.value)) == report.value
