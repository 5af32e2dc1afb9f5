"""Guests that are made ahead of time: the pool gets full again, whatever happened to it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.sandbox.conftest import ENGINES

from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sandbox.wasm.guest import Guest
from coilclaw.sandbox.wasm.pool import GuestPool


@pytest.fixture
def pool() -> Iterator[GuestPool]:
    engine = ENGINES["wasm"]()
    assert isinstance(engine, WasmEngine)
    assert engine.guests.wait_until_full()
    yield engine.guests
    engine.close()


def test_it_is_full_again_after_more_runs_at_once_than_it_has_places(pool: GuestPool) -> None:
    taken = [pool.take() for _ in range(3)]
    assert len({id(guest) for guest in taken}) == 3
    with pool._changed:
        assert pool._changed.wait_for(lambda: pool._ready, 60), "as many as it makes while something runs"
    for guest in taken:
        time.sleep(0.05)  # So that whoever fills it sleeps again.
        pool.discard(guest)
    assert pool.wait_until_full(60)


def test_it_is_full_again_after_a_guest_could_not_be_made(pool: GuestPool, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Guest:
        raise MemoryError

    taken = [pool.take() for _ in range(2)]
    with monkeypatch.context() as patched:
        patched.setattr(pool, "_make", broken)
        pool._ready.clear()
        with pytest.raises(MemoryError):
            pool.take()
    for guest in taken:
        pool.discard(guest)
    assert pool.wait_until_full(60)


def test_it_closes_while_it_gives_a_run_time_to_return(pool: GuestPool) -> None:
    pool.discard(pool.take())
    pool.close()
    assert not pool._ready
    assert not pool._used
