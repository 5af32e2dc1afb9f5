"""A format string reads what the snippet itself could read, and no more."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R4")
@payloads_of("format strings")
def test_a_format_string_reads_nothing_of_the_host(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
