"""No binding of whatever kind takes the place of a guard."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R4")
@payloads_of("binding guard names")
def test_no_binding_replaces_a_guard(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
