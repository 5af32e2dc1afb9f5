"""`coilclaw doctor` on the layers of the restricted engine."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.conftest import Command
from tests.cli.terminal import on_terminal

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


def findings(coilclaw: Command, check: str, **environment: str) -> tuple[int, list[dict[str, Any]]]:
    done = coilclaw("doctor", "--json", **environment)
    return done.code, [each for each in done.json if each["check"] == check]


def test_a_private_and_writable_home_is_ok(coilclaw: Command) -> None:
    coilclaw("init")
    code, found = findings(coilclaw, "home")
    assert (code, [each["state"] for each in found]) == (0, ["ok"])
    assert not list(coilclaw.home.glob(".coilclaw-doctor*"))
    assert not list(coilclaw.workspace.glob(".coilclaw-doctor*"))


@pytest.mark.parametrize(("name", "mode"), [("", 0o777), ("", 0o750), ("keys", 0o755)])
def test_a_folder_that_others_can_enter_fails_with_the_command_that_closes_it(
    coilclaw: Command, name: str, mode: int
) -> None:
    coilclaw("init")
    place = coilclaw.home / name
    place.chmod(mode)
    code, found = findings(coilclaw, "home")
    assert code == 1
    assert f"(mode {mode:o})" in found[0]["detail"]
    assert subprocess.run(["sh", "-c", found[0]["hint"]], check=True).returncode == 0
    assert findings(coilclaw, "home")[0] == 0
    assert place.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["coilclaw.db", "config.toml", "secrets.toml", "keys/receipts.key"])
def test_a_file_that_others_can_read_fails_with_the_command_that_closes_it(coilclaw: Command, name: str) -> None:
    coilclaw("init")
    coilclaw("secret", "set", "TOKEN", stdin="COILCLAW-PLANTED-doctor")
    (coilclaw.home / name).chmod(0o644)
    (coilclaw.home / name).parent.chmod(0o755)
    code, found = findings(coilclaw, "home")
    assert code == 1
    hints = [each["hint"] for each in found]
    assert f"chmod 600 {coilclaw.home / name}" in hints
    for hint in hints:
        subprocess.run(["sh", "-c", hint], check=True)
    assert findings(coilclaw, "home")[0] == 0


def in_namespace(coilclaw: Command, script: str) -> subprocess.CompletedProcess[str]:
    """Run doctor where a file system of its own can be mounted."""
    command = ["unshare", "--mount", "--map-root-user", "sh", "-ec", f"{script}\n{coilclaw.line[0]} doctor --json"]
    return subprocess.run(command, env=coilclaw.environment, cwd=coilclaw.folder, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        ("mount -o remount,ro,bind {place}", "Read-only file system"),
        ("dd if=/dev/zero of={place}/filler bs=4096 2>/dev/null || true", "No space left on device"),
    ],
)
@pytest.mark.parametrize("name", ["home", "workspace"])
def test_a_folder_that_cannot_be_written_fails(coilclaw: Command, name: str, prepare: str, reason: str) -> None:
    coilclaw("init")
    place = coilclaw.home if name == "home" else coilclaw.workspace
    kept = coilclaw.folder / "kept"
    script = f"cp -a {place} {kept}; mount -t tmpfs -o size=8m,mode=700 none {place}; cp -a {kept}/. {place}\n"
    done = in_namespace(coilclaw, script + prepare.format(place=place))
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr[:200]}")
    assert done.returncode == 1
    found = {each["check"]: each for each in json.loads(done.stdout) if each["state"] == "error"}
    assert found[name]["detail"] == f"cannot write in {place}: {reason}"


def test_a_damaged_database_is_one_line_among_the_others(coilclaw: Command) -> None:
    coilclaw("init")
    (coilclaw.home / "coilclaw.db").write_bytes(b"not a database at all" * 1000)
    done = coilclaw("doctor", "--json")
    assert done.code == 1
    states = {each["check"]: each["state"] for each in done.json}
    assert states["receipts"] == states["tools"] == "error"
    assert states["workspace"] == states["home"] == states["sandbox"] == "ok"


def test_a_check_that_dies_is_a_line_and_the_others_are_made(
    examine: Examination, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise ZeroDivisionError("odd\nreason")

    monkeypatch.setattr("coilclaw.sandbox.restricted.survey", die)
    code, layers = examine("")
    assert code == 1
    (finding,) = layers.values()
    assert finding["detail"] == "the check itself failed: ZeroDivisionError: odd\\nreason"


TWICE = '''
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="a.b", risk="read")
def b(ctx: ToolContext) -> int:
    """Return one."""
    return 1
'''


def test_findings_and_warnings_fit_the_terminal(coilclaw: Command) -> None:
    coilclaw("init")
    coilclaw.tool("a/one.py", TWICE)
    coilclaw.tool("a/two.py", TWICE)
    for line in (("doctor",), ("run", coilclaw.workspace / "hello.py")):
        shown = on_terminal(coilclaw, *line, answers=[])
        assert any("… " in row for row in shown.rows), shown.screen
        assert max(map(len, shown.rows)) <= 80, shown.screen
