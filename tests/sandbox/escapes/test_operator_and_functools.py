"""Callables of the standard library are no way around a guard."""

from __future__ import annotations

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R4")
@payloads_of("operator and functools")
def test_library_callables_are_no_way_around_a_guard(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)
