"""No module leads to files, processes or the network."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R4", "R22", "R23", "R24")
@payloads_of("real modules behind allowed names")
def test_no_module_leads_to_the_host(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
