"""An exception carries nothing of the host into a snippet."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R4", "R21")
@payloads_of("exceptions as carriers")
def test_an_exception_carries_nothing_of_the_host(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
