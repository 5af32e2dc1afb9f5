"""No walk over attributes leads out of a snippet's own values."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R4")
@payloads_of("attribute walks")
def test_no_walk_over_attributes_leads_out(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
