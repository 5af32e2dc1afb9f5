"""How long a run still has, on a clock that moves only when it is told to."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from coilclaw.sandbox import Cancelled, Deadline, RunEnded, TimedOut


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


def test_a_run_is_over_when_its_time_is(clock: Clock) -> None:
    deadline = Deadline(10)
    clock.now += 9
    assert (deadline.remaining, deadline.over, deadline.outcome) == (1, False, None)
    clock.now += 1
    assert (deadline.remaining, deadline.over, deadline.outcome) == (0, True, TimedOut(seconds=10))


def test_a_cancelled_run_is_over_at_once(clock: Clock) -> None:
    deadline = Deadline(10)
    deadline.cancel()
    assert (deadline.over, deadline.expired, deadline.outcome) == (True, False, Cancelled())
    with pytest.raises(RunEnded):
        deadline.end_if_over()


def test_time_stands_still_during_a_pause_and_goes_on_behind_it(clock: Clock) -> None:
    deadline = Deadline(10)
    with deadline.paused():
        clock.now += 100
        assert (deadline.remaining, deadline.over) == (10, False)
    assert deadline.remaining == 10
    clock.now += 4
    assert deadline.remaining == 6


def test_pauses_that_overlap_count_once_and_from_the_first(clock: Clock) -> None:
    """Several calls may wait for a person at once."""
    deadline = Deadline(10)
    with deadline.paused():
        clock.now += 30
        with deadline.paused():
            clock.now += 20
        assert deadline.remaining == 10
        clock.now += 5
        assert deadline.remaining == 10
    assert deadline.remaining == 10
    clock.now += 10
    assert deadline.over


def test_preparation_does_not_count(clock: Clock) -> None:
    deadline = Deadline(10)
    clock.now += 60
    deadline.restart()
    assert deadline.remaining == 10
