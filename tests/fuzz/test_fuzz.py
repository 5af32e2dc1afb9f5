"""Short runs of the fuzzers; `make fuzz` gives them as long as you like."""

from __future__ import annotations

import importlib.util
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sampling import repetitions

FOLDER = Path(__file__).parent
TARGETS = ("policy", "format", "protocol")


def one_input_of(target: str) -> Callable[[bytes], None]:
    spec = importlib.util.spec_from_file_location(f"fuzz_{target}", FOLDER / f"fuzz_{target}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[[bytes], None] = module.one_input
    return function


INPUTS = {target: one_input_of(target) for target in TARGETS}


@given(st.binary(max_size=40))
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_the_policy_admits_has_no_unguarded_special_name(data: bytes) -> None:
    INPUTS["policy"](data)


@given(st.binary(max_size=12))
@settings(max_examples=1500, deadline=None)
def test_guarded_formatting_is_formatting_without_a_way_out(data: bytes) -> None:
    INPUTS["format"](data)


@given(st.binary(max_size=30))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_bytes_confuse_a_conversation(data: bytes) -> None:
    logging.disable(logging.ERROR)
    try:
        INPUTS["protocol"](data)
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris has no build for this Python")
def test_a_few_seconds_of_coverage_guided_fuzzing_find_nothing(target: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(FOLDER / f"fuzz_{target}.py"),
        f"-max_total_time={repetitions(2, 8)}",
        "-verbosity=0",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=90)
    assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")[-3000:]
