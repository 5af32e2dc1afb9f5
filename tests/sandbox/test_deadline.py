"""A run's time: it stands still while a person decides, whoever else decides meanwhile."""

from __future__ import annotations

import types

import pytest

from coilclaw.sandbox import Cancelled, Deadline, RunEnded, TimedOut, deadline


class Clock:
    """The monotonic clock of a test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(deadline, "time", types.SimpleNamespace(monotonic=made.monotonic))
    return made


def test_time_stands_still_while_it_is_paused(clock: Clock) -> None:
    limit = Deadline(10)
    clock.now += 4
    with limit.paused():
        clock.now += 100
        assert limit.remaining == 6
    assert limit.remaining == 6
    clock.now += 6
    assert limit.outcome == TimedOut(seconds=10)


def test_a_pause_within_a_pause_counts_neither_twice_nor_from_its_own_start(clock: Clock) -> None:
    limit = Deadline(10)
    with limit.paused():
        clock.now += 100
        with limit.paused():
            assert limit.remaining == 10  # The time of the first pause is not lost when the second begins,
            clock.now += 50
        assert limit.remaining == 10  # and the first goes on when the second ends.
        clock.now += 25
    assert limit.remaining == 10
    clock.now += 3
    assert limit.remaining == 7


def test_the_first_of_two_pauses_may_end_first(clock: Clock) -> None:
    limit = Deadline(10)
    first, second = limit.paused(), limit.paused()
    first.__enter__()
    clock.now += 20
    second.__enter__()
    clock.now += 20
    first.__exit__(None, None, None)
    clock.now += 20
    assert limit.remaining == 10
    second.__exit__(None, None, None)
    clock.now += 1
    assert limit.remaining == 9


def test_a_restart_counts_from_now(clock: Clock) -> None:
    limit = Deadline(10)
    clock.now += 9
    limit.restart()
    assert limit.remaining == 10


def test_a_cancelled_run_is_over_at_once(clock: Clock) -> None:
    limit = Deadline(10)
    limit.cancel()
    assert (limit.over, limit.expired, limit.outcome) == (True, False, Cancelled())
    with pytest.raises(RunEnded):
        limit.end_if_over()
