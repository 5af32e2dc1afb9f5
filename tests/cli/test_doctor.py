"""`coilclaw doctor` on the layers of the restricted engine."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.conftest import Command

from coilclaw.cli.doctor import doctor
from coilclaw.confinement import landlock
from coilclaw.sandbox.restricted import LAYERS


class Examination:
    """The command in this process, where a kernel can be made to lack something."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def __call__(self, configuration: str) -> tuple[int, dict[str, dict[str, Any]]]:
        (self._home / "config.toml").write_text(configuration)
        done = CliRunner().invoke(doctor, ["--json"], env={"COILCLAW_HOME": str(self._home)})
        findings = [finding for finding in json.loads(done.stdout) if finding["check"] == "restricted"]
        return done.exit_code, {finding["detail"].partition(":")[0]: finding for finding in findings}


@pytest.fixture
def examine(coilclaw: Command) -> Examination:
    return Examination(coilclaw.home)


@pytest.fixture
def without_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> int:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(landlock, "syscall", refuse)


def test_every_layer_is_listed(coilclaw: Command) -> None:
    lines = [line for line in coilclaw("doctor").out.splitlines() if " restricted " in line]
    assert [line.split()[2] for line in lines] == [f"{layer}:" for layer in LAYERS]


def test_a_layer_that_is_off_is_no_problem(examine: Examination) -> None:
    code, layers = examine('[sandbox.restricted]\noff = ["landlock"]')
    assert code == 0
    assert layers["landlock"]["state"] == "ok"
    assert layers["landlock"]["detail"] == "landlock: off (on purpose)"


@pytest.mark.usefixtures("without_landlock")
def test_a_missing_layer_is_a_warning_with_the_reason(examine: Examination) -> None:
    code, layers = examine("")
    assert code == 0
    assert layers["landlock"]["state"] == "warning"
    assert "unavailable (Landlock is disabled at boot" in layers["landlock"]["detail"]


@pytest.mark.usefixtures("without_landlock")
def test_a_missing_layer_that_is_required_is_an_error(examine: Examination) -> None:
    code, layers = examine('[sandbox.restricted]\nrequire = ["landlock", "rlimits"]')
    assert code == 1
    assert layers["landlock"]["state"] == "error"
    assert "sandbox.restricted.require" in layers["landlock"]["hint"]
    assert layers["rlimits"]["state"] == "ok"
