"""No frame of the host, and none with the host's names, is reached."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R4")
@payloads_of("frames")
def test_no_frame_is_reached(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
