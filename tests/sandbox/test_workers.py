"""Worker processes: a run in one is like any other, and a process that dies takes its own run with it and no more."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from tests.conftest import cache_folder
from tests.sandbox.conftest import Execution, Tool

from coilclaw.sandbox import Completed, Crashed, Outcome
from coilclaw.sandbox.wasm import WasmEngine

SOURCE = "tools.host.look()\n1 + 1"


@pytest.fixture
def engine() -> Iterator[WasmEngine]:
    made = WasmEngine(cache_folder(), workers=1)
    made.workers.runs_at_least = 1
    assert made.workers.wait_until_ready()
    yield made
    made.close()


def run(engine: WasmEngine, look: Tool) -> Outcome:
    return Execution(tools={"host.look": look}).of(SOURCE, engine).outcome


def test_a_run_takes_place_in_the_worker_which_is_kept(engine: WasmEngine) -> None:
    pids = engine.workers.pids
    assert len(pids) == 1
    for _ in range(2):
        assert run(engine, lambda: len(engine.workers._busy)) == Completed(value=2, stdout="")
    assert engine.workers.pids == pids


def test_a_run_whose_worker_dies_has_crashed_and_the_next_one_completes(engine: WasmEngine) -> None:
    (pid,) = engine.workers.pids
    outcome = run(engine, lambda: os.kill(pid, signal.SIGKILL))
    assert isinstance(outcome, Crashed)
    assert "process ended" in outcome.reason
    assert pid not in engine.workers.pids
    assert run(engine, lambda: None) == Completed(value=2, stdout="")


def test_a_worker_that_died_at_rest_is_given_no_run(engine: WasmEngine) -> None:
    (pid,) = engine.workers.pids
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert run(engine, lambda: None) == Completed(value=2, stdout="")
    assert pid not in engine.workers.pids


def test_no_worker_is_left_after_closing(engine: WasmEngine) -> None:
    (pid,) = engine.workers.pids
    engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
