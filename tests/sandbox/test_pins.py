"""Clocks and chance are what the host says."""

from __future__ import annotations

import json
import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from coilclaw.sandbox import Cancelled, Crashed, Engine, Pins, RunEnded

if TYPE_CHECKING:
    from tests.sandbox.conftest import Execute


CHANCE = """
import random, uuid, secrets, os, time, datetime
[random.random(), random.getrandbits(64), str(uuid.uuid4()), secrets.token_hex(8), os.urandom(4).hex(),
 random.SystemRandom().random(), random.sample(range(1000), 3), time.time_ns(), time.monotonic_ns(), time.perf_counter(),
 datetime.datetime.now().isoformat(), datetime.date.today().isoformat(), time.localtime().tm_year, hash("text"),
 list({"a", "b", "c"})]
"""


def pinned(seed: int, seconds: int = 1_700_000_000) -> Pins:
    return Pins(
        seed=bytes([seed]) * 32, wall_clock=lambda: seconds * 10**9, monotonic_clock=lambda: (seconds - 10**9) * 10**9
    )


def test_the_same_pins_give_the_same_values(execute: Execute) -> None:
    assert execute(CHANCE, pins=pinned(1)).value == execute(CHANCE, pins=pinned(1)).value


def test_even_addresses_are_the_same_where_memory_is_the_sandboxs_own(execute: Execute, engine: Engine) -> None:
    if engine.name == "restricted":
        pytest.skip("a process is laid out anew each time; ids and default reprs are not pinned there")
    source = "[str(object()), id([])]"
    assert execute(source, pins=pinned(1)).value == execute(source, pins=pinned(1)).value


def test_the_same_pins_give_the_same_values_whatever_ran_before(engine: Engine, execute: Execute) -> None:
    first = execute(CHANCE, pins=pinned(1)).value
    execute("import random\nrandom.seed(5)\n[random.random() for _ in range(99)]", pins=pinned(3))
    execute("x = [object() for _ in range(9999)]")
    assert execute(CHANCE, pins=pinned(1)).value == first


def test_different_seeds_give_different_values(execute: Execute) -> None:
    one, two = execute(CHANCE, pins=pinned(1)).value, execute(CHANCE, pins=pinned(2)).value
    assert all(a != b for a, b in zip(one[:7], two[:7], strict=True))
    assert one[7:13] == two[7:13]


def test_ordinary_runs_differ(execute: Execute) -> None:
    seen = [execute(CHANCE).value[:7] for _ in range(3)]
    for values in zip(*seen, strict=True):
        assert len({json.dumps(value) for value in values}) == 3


def test_time_is_the_pinned_time(execute: Execute) -> None:
    source = "import time, datetime\n[time.time(), datetime.datetime.now(datetime.UTC).isoformat(), time.monotonic()]"
    assert execute(source, pins=pinned(1, 1_234_567_890)).value == [
        1234567890.0,
        "2009-02-13T23:31:30+00:00",
        234567890.0,
    ]


def test_a_clock_that_stands_still_stands_still_inside(execute: Execute) -> None:
    source = "import time\na = time.time(), time.perf_counter(), time.monotonic()\nfor _ in range(10**5): pass\na == (time.time(), time.perf_counter(), time.monotonic())"
    assert execute(source, pins=pinned(1)).value is True


def test_each_reading_of_the_clock_asks_the_pins(execute: Execute) -> None:
    readings = iter(range(10**9, 10**12, 10**9))
    pins = Pins(seed=bytes(32), wall_clock=lambda: next(readings), monotonic_clock=lambda: 0)
    value: list[Any] = execute("import time\n[time.time() for _ in range(3)]", pins=pins).value
    assert [b - a for a, b in pairwise(value)] == [1.0, 1.0]


def test_pinned_runs_on_several_threads_do_not_mix(execute: Execute) -> None:
    expected = {seed: execute(CHANCE, pins=pinned(seed)).value for seed in range(4)}
    found: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: found.update({seed: execute(CHANCE, pins=pinned(seed)).value}))
        for seed in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


@pytest.mark.parametrize("look", ["time.time()", "time.monotonic()", "time.sleep(1)"])
def test_whatever_a_clock_raises_ends_a_run_as_it_says(execute: Execute, look: str) -> None:
    def ended(*_: object) -> int:
        raise RunEnded(Cancelled())

    def failed(*_: object) -> int:
        raise OSError("no clock")

    for clock, outcome in ((ended, Cancelled), (failed, Crashed)):
        pins = Pins(wall_clock=clock, monotonic_clock=clock, asleep=clock)
        ran = execute(f"import time\n{look}", pins=pins)
        assert isinstance(ran.outcome, outcome), ran.outcome
        if isinstance(ran.outcome, Crashed):
            assert "host function" in ran.outcome.reason
