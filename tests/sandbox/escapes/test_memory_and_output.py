"""What takes or prints too much ends, and ends alone."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R19")
@payloads_of("memory and output")
def test_what_takes_too_much_ends_alone(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
