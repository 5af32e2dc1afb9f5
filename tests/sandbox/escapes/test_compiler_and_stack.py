"""Source that hurts a parser, a compiler or a stack hurts the sandbox alone."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R19")
@payloads_of("compiler and stack")
def test_hostile_source_hurts_the_sandbox_alone(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
