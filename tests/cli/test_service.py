"""`coilclaw service`, with a stand-in for systemd in the PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.service.supervisors import StandIn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks for systemd")


@pytest.fixture
def systemctl(coilclaw: Command, tmp_path: Path) -> StandIn:
    stand_in = StandIn(tmp_path / "bin", "systemctl")
    coilclaw.environment["PATH"] = f"{stand_in.folder}:{os.environ['PATH']}"
    return stand_in


def unit(coilclaw: Command) -> Path:
    return Path(coilclaw.environment["HOME"]) / ".config/systemd/user/coilclaw.service"


@pytest.mark.req("R425")
def test_what_is_installed_is_printed_before_anything_is_written(coilclaw: Command, systemctl: StandIn) -> None:
    asked = coilclaw("service", "install")
    assert asked.code == 2
    assert "nobody is there to answer: Install it?" in asked.err
    assert "--yes" in asked.err
    for text in (str(unit(coilclaw)), "ExecStart=", "systemctl --user enable coilclaw.service"):
        assert text.replace(coilclaw.environment["HOME"], "") in asked.out.replace(coilclaw.environment["HOME"], "")
    assert not unit(coilclaw).exists()
    assert not systemctl.commands("enable", "daemon-reload", "start")


@pytest.mark.req("R425", "R426", "R427", "R428")
def test_a_service_lives_from_install_to_uninstall(coilclaw: Command, systemctl: StandIn) -> None:
    assert coilclaw("service", "start").code == 2
    installed = coilclaw("service", "install", "--yes", ANTHROPIC_API_KEY="sk-planted", COILCLAW_WORKSPACE="/x")
    assert installed.code == 0, installed.err
    assert "does not get COILCLAW_WORKSPACE" in installed.err
    assert "sk-planted" not in unit(coilclaw).read_text() + installed.out
    assert f'Environment="COILCLAW_HOME={coilclaw.home}"' in unit(coilclaw).read_text()
    assert "Installed already" in coilclaw("service", "install").out

    stopped = coilclaw("service", "status", "--json")
    assert (stopped.code, stopped.json["installed"], stopped.json["running"]) == (1, True, False)
    assert coilclaw("service", "start").out == "Started, process 4711.\n"
    assert coilclaw("service", "start").out == "Running already, process 4711.\n"
    assert len(systemctl.commands("start")) == 1
    running = coilclaw("service", "status", "--json")
    assert (running.code, running.json["pid"], running.json["supervisor"]) == (0, 4711, "systemd")
    assert running.json["current"]
    assert coilclaw("service", "status").out.startswith("Runs, process 4711.\n")

    assert coilclaw("service", "stop").out == "Stopped.\n"
    assert coilclaw("service", "stop").out == "The service does not run.\n"
    assert coilclaw("service", "uninstall").code == 2
    assert unit(coilclaw).exists()
    assert coilclaw("service", "uninstall", "--yes").code == 0
    assert not unit(coilclaw).exists()
    assert coilclaw("service", "uninstall").out == "The service is not installed.\n"


def test_a_service_that_ends_at_once_is_not_called_started(coilclaw: Command, systemctl: StandIn) -> None:
    coilclaw("service", "install", "--yes")
    systemctl.set("dies")
    done = coilclaw("service", "start")
    assert done.code == 2
    assert "started and ended again" in done.err
    assert "journalctl --user --unit coilclaw.service" in done.err


def test_an_older_service_file_is_said_to_be_old(coilclaw: Command, systemctl: StandIn) -> None:
    coilclaw("service", "install", "--yes")
    unit(coilclaw).write_text("[Service]\nExecStart=/old/coilclaw serve\n")
    assert not coilclaw("service", "status", "--json").json["current"]
    assert "install it again" in coilclaw("service", "start").err
    renewed = coilclaw("service", "install", "--yes")
    assert "`coilclaw service stop` and `start`" in renewed.out
    assert coilclaw("service", "status", "--json").json["current"]


def test_without_a_supervisor_every_command_says_what_to_do(coilclaw: Command, tmp_path: Path) -> None:
    for command in ("install", "start", "stop", "status", "uninstall"):
        done = coilclaw("service", command, PATH=str(tmp_path))
        assert done.code == 2
        assert "there is no systemd here" in done.err
        assert "coilclaw serve" in done.err
    told = coilclaw("service", "status", "--json", PATH=str(tmp_path))
    assert (told.code, told.json["supervisor"], told.json["running"]) == (1, None, False)
    assert "systemctl" in told.json["problem"]
