"""What does not end by itself is ended, and ends alone."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R19")
@payloads_of("never stopping")
def test_what_never_stops_is_stopped(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
