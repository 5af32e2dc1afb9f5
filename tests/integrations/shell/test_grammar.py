"""The grammar, compared with a real bash: what is accepted means the same there, and reaches nothing it must not."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tests.integrations.shell.generated import FORBIDDEN_TEXT, OUTSIDE_TEXT, generated, lay_out
from tests.sampling import sample

from coilclaw.config import Config
from coilclaw.integrations.shell import run
from coilclaw.policy import classify
from coilclaw.sdk import Bounds, Forbid, ToolContext

BASH = shutil.which("bash", path="/usr/bin:/bin")
pytestmark = pytest.mark.skipif(BASH is None, reason="there is no bash to compare with")

ALLOWED = (*Config().security.shell_allow, "env", "xargs", "seq", "tee", "rev", "nosuchprogram")
LINES = generated(1000)
GROUPS = 20
SIZE = len(LINES) // GROUPS
BUILTINS = "enable -n echo printf test [ pwd true false kill\n"


def context(workspace: Path) -> ToolContext:
    bounds = Bounds(shell_allow=ALLOWED, forbidden_paths=(workspace / "bad/private", Path("/etc")), shell_seconds=60)
    return ToolContext(workspace=workspace, bounds=bounds)


def accepted(command: str, workspace: Path) -> bool:
    return not isinstance(classify(run, run.input(command=command), context(workspace)), Forbid)


def tree(folder: Path) -> dict[str, str | bytes]:
    """Every file below the folder, with what it contains or where it leads."""
    found: dict[str, str | bytes] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            mode = path.lstat().st_mode
            what = os.readlink(path) if stat.S_ISLNK(mode) else path.read_bytes() if stat.S_ISREG(mode) else "folder"
            found[str(path.relative_to(folder))] = what
    return found


def by_bash(command: str, workspace: Path, name: str) -> tuple[str, int]:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(workspace), "LANG": "C.UTF-8"}
    ended = subprocess.run(
        [BASH or "", "--noprofile", "--norc", "-c", BUILTINS + command, name],
        cwd=workspace, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
    )  # fmt: skip
    assert OUTSIDE_TEXT.encode() not in ended.stdout + ended.stderr
    assert FORBIDDEN_TEXT.encode() not in ended.stdout + ended.stderr
    return ended.stdout.decode("utf-8", "replace"), ended.returncode


def compare(command: str, folder: Path) -> None:
    """Run the line in bash, which nothing confines, and here, from the same state, and compare what became of it.

    Bash runs under two names, with which it begins its own complaints: where those reach the output, as in
    `missing 2>&1 | wc -c`, there is nothing to compare.
    """
    results = []
    for name in ("bash", "by-another-name"):
        workspace = lay_out(folder)
        before = _apart_from_the_workspace(tree(folder))
        results.append((by_bash(command, workspace, name), tree(folder)))
        assert _apart_from_the_workspace(results[-1][1]) == before, command
        secret = [place for place, what in results[-1][1].items() if FORBIDDEN_TEXT in str(what)]
        assert secret == ["workspace/bad/private/key"], command
    workspace = lay_out(folder)
    outcome = run(context(workspace), command)
    if results[0] == results[1]:
        assert ((outcome.stdout, outcome.exit_code), tree(folder)) == results[0], command


def _apart_from_the_workspace(files: dict[str, str | bytes]) -> dict[str, str | bytes]:
    return {name: what for name, what in files.items() if not name.startswith("workspace/")}


@pytest.mark.req("R352", "R353")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("group", sample(range(GROUPS), 2))
def test_what_is_accepted_means_the_same_as_in_bash(tmp_path: Path, group: int) -> None:
    for line in LINES[group * SIZE : (group + 1) * SIZE]:
        if accepted(line.text, lay_out(tmp_path)):
            assert not line.names_a_bad_path, line.text
            if "env" not in line.text:  # What a program is told about itself differs, and is not compared.
                compare(line.text, tmp_path)


def test_many_of_the_generated_lines_are_accepted(tmp_path: Path) -> None:
    """Otherwise comparing them would say little."""
    workspace = lay_out(tmp_path)
    taken = [line for line in LINES if accepted(line.text, workspace)]
    assert len(LINES) == 1000
    assert len(taken) > 300
    assert sum(any(each in line.text for each in "*?[") for line in taken) > 50
    assert sum(">" in line.text for line in taken) > 50
    assert sum("|" in line.text for line in taken) > 50
