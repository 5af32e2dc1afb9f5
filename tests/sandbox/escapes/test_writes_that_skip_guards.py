"""No write changes what others rely on."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R4")
@payloads_of("writes that skip guards")
def test_no_write_skips_the_guards(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
