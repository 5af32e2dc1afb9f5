"""Selections of tests that mutations of several layers share."""

from __future__ import annotations

from typing import Final

__all__ = ["AUTHORS", "BINDINGS", "BRIDGE", "ESTOP", "FACTS", "FENCE", "KEPT", "POLICY", "REPLAY", "WAITING", "WINDOWS"]

POLICY: Final = "tests/policy/test_policy.py tests/policy/test_decisions.py"
WAITING: Final = "tests/runs/test_waiting.py"
BINDINGS: Final = "tests/runs/test_bindings.py"
WINDOWS: Final = "tests/policy/test_windows.py -k 'not processes'"
BRIDGE: Final = "tests/bridge/test_bridge.py"
ESTOP: Final = "tests/bridge/test_estop.py tests/policy/test_estop.py"
REPLAY: Final = "tests/runs/test_replay.py tests/runs/test_waiting.py tests/runs/test_mutations.py"
FENCE: Final = (
    "tests/runs/test_races.py::test_a_process_that_lost_its_run_starts_nothing_and_writes_no_outcome "
    "tests/runs/test_races.py::test_what_a_process_requests_after_it_lost_its_run_does_not_count "
    "tests/runs/test_races.py::test_what_a_process_reads_after_it_lost_its_run_casts_no_doubt_on_it "
    "tests/runs/test_races.py::test_of_many_that_resume_a_run_one_does"
)
FACTS: Final = "tests/bridge/test_decision_facts.py"
KEPT: Final = "tests/bridge/test_evidence_budget.py"
AUTHORS: Final = "tests/bridge/test_hostile_authors.py"
