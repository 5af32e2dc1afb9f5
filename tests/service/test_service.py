"""Service files and the supervisors that read them."""

from __future__ import annotations

import plistlib
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tests.service.supervisors import StandIn

from coilclaw.sdk import OperatorError
from coilclaw.service import (
    NoSupervisor,
    ServiceDefinition,
    ServiceFailed,
    Supervisor,
    choose_supervisor,
    service_name,
)

AWKWARD = "/srv/a b/%h 100%/$HOME ${X}/\"q\" 'p' \\n é"


def definition(program: str = "/opt/coil claw/coilclaw", home: str = AWKWARD) -> ServiceDefinition:
    return ServiceDefinition(name="coilclaw", command=(program, "serve"), home=Path(home))


def chosen(tmp_path: Path, platform: str, given: ServiceDefinition | None = None) -> tuple[Supervisor, StandIn]:
    stand_in = StandIn(tmp_path / "bin", "launchctl" if platform == "darwin" else "systemctl")
    environment = {"HOME": str(tmp_path / "user"), "PATH": str(stand_in.folder), "ANTHROPIC_API_KEY": "sk-planted"}
    return (
        choose_supervisor(given or definition(), platform=platform, user=501, environment=environment),
        stand_in,
    )


@pytest.mark.req("R425")
def test_a_unit_file_quotes_what_systemd_would_expand(tmp_path: Path) -> None:
    found, _ = chosen(tmp_path, "linux")
    lines = found.contents.decode().splitlines()
    assert 'ExecStart=":/opt/coil claw/coilclaw" "serve"' in lines
    assert 'Environment="COILCLAW_HOME=/srv/a b/%%h 100%%/$HOME ${X}/\\"q\\" \'p\' \\\\n é"' in lines


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_itself_accepts_the_unit_file_of_an_awkward_path(tmp_path: Path) -> None:
    program = tmp_path / "100%n a b" / "$HOME" / "coilclaw"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found, _ = chosen(tmp_path, "linux", definition(str(program)))
    unit = tmp_path / "coilclaw.service"
    unit.write_bytes(found.contents)
    checked = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.req("R425")
def test_a_property_list_holds_the_very_paths(tmp_path: Path) -> None:
    found, _ = chosen(tmp_path, "darwin")
    read = plistlib.loads(found.contents)
    assert read["ProgramArguments"] == ["/opt/coil claw/coilclaw", "serve"]
    assert read["EnvironmentVariables"] == {"COILCLAW_HOME": AWKWARD}
    assert read["StandardErrorPath"] == f"{AWKWARD}/serve.log"


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_no_secret_of_the_environment_reaches_a_service_file(tmp_path: Path, platform: str) -> None:
    found, _ = chosen(tmp_path, platform)
    found.install()
    assert "sk-planted" not in found.file.read_text()
    assert stat.S_IMODE(found.file.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["/a\nExecStartPre=/bin/evil", "/a\rb", "/a\x00b", "/a\u2028b", ""])
def test_a_path_that_could_begin_a_line_of_its_own_is_refused(text: str) -> None:
    with pytest.raises(OperatorError, match="cannot stand in a service file"):
        definition(program=text)


def test_a_program_that_systemd_would_refuse_is_refused_first(tmp_path: Path) -> None:
    with pytest.raises(ServiceFailed, match="a quote or a backslash"):
        chosen(tmp_path, "linux", definition("/opt/o'brien/coilclaw"))


def test_every_home_has_a_service_of_its_own(tmp_path: Path) -> None:
    default = tmp_path / ".coilclaw"
    assert service_name(default, default) == "coilclaw"
    first, second = service_name(tmp_path / "a", default), service_name(tmp_path / "b", default)
    assert first != second
    assert first.startswith("coilclaw-")
    assert service_name(tmp_path / "b/../a", default) == first


@pytest.mark.req("R425", "R426", "R427", "R428")
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_service_is_installed_started_stopped_and_removed(tmp_path: Path, platform: str) -> None:
    found, _ = chosen(tmp_path, platform)
    assert not found.state().installed
    found.install()
    state = found.state()
    assert (state.installed, state.enabled, state.running, state.pid) == (True, True, False, None)
    found.start()
    state = found.state()
    assert (state.running, state.pid) == (True, 4711)
    found.stop()
    assert not found.state().running
    found.start()
    found.uninstall()
    state = found.state()
    assert (state.installed, state.enabled, state.running) == (False, False, False)
    assert not found.file.exists()


def test_launchd_is_not_asked_to_load_what_it_has_loaded(tmp_path: Path) -> None:
    found, stand_in = chosen(tmp_path, "darwin")
    found.install()
    found.start()
    found.start()
    assert stand_in.commands("bootstrap") == [["bootstrap", "gui/501", str(found.file)]]


def test_a_service_that_somebody_else_loads_meanwhile_is_no_error(tmp_path: Path) -> None:
    found, stand_in = chosen(tmp_path, "darwin")
    found.install()
    stand_in.set("raced")
    found.start()
    assert found.state().running


@pytest.mark.parametrize(("platform", "program"), [("linux", "systemctl"), ("darwin", "launchctl")])
def test_a_machine_without_a_supervisor_is_told_what_to_do_instead(tmp_path: Path, platform: str, program: str) -> None:
    environment = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
    with pytest.raises(NoSupervisor, match=program) as refused:
        choose_supervisor(definition(), platform=platform, user=501, environment=environment)
    assert "coilclaw serve" in str(refused.value.hint)


def test_a_systemd_that_does_not_answer_says_so(tmp_path: Path) -> None:
    program = tmp_path / "systemctl"
    program.write_text("#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n")
    program.chmod(0o755)
    environment = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:/bin"}
    with pytest.raises(NoSupervisor, match=r"does not answer for this user \(Failed to connect to bus") as refused:
        choose_supervisor(definition(), platform="linux", user=501, environment=environment)
    assert "coilclaw serve" in str(refused.value.hint)


def test_a_step_that_fails_says_which_and_why(tmp_path: Path) -> None:
    found, stand_in = chosen(tmp_path, "linux")
    (stand_in.folder / "systemctl").write_text("#!/bin/sh\necho 'Access denied' >&2\nexit 4\n")
    with pytest.raises(ServiceFailed, match=r"`systemctl --user start coilclaw.service` failed: Access denied"):
        found.start()
