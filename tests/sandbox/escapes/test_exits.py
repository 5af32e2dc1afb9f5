"""Whatever ends, it is the sandbox and never the host."""

from __future__ import annotations

import os
import threading

import pytest
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox.escapes import Payload


@pytest.mark.req("R3", "R24")
@payloads_of("exits")
def test_an_exit_ends_the_sandbox_alone(arena: Arena, payload: Payload) -> None:
    process, thread = os.getpid(), threading.get_ident()
    arena.holds(payload)
    assert (os.getpid(), threading.get_ident()) == (process, thread)
