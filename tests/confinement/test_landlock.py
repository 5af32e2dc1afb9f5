"""Landlock as the shell's supervisor uses it: nothing but what is granted, for good."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coilclaw.confinement import landlock

pytestmark = pytest.mark.skipif(landlock.unavailable() is not None, reason="there is no Landlock here")

SOURCE = str(Path(landlock.__file__).parents[2])
ENTER = """
import ctypes, os, sys
sys.path.append(sys.argv[1])
from coilclaw.confinement import landlock
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
handled, _, others = landlock.rights()
ruleset = landlock.ruleset((handled, 0, others))
for path, rights in {grants}:
    landlock.grant(ruleset, path, rights & handled)
landlock.restrict(ruleset)
def tried(do):
    try:
        return bool(do()) or True
    except OSError:
        return False
print([tried(lambda: open(path, mode).close()) for path, mode in {attempts}])
"""


def attempts(grants: list[tuple[str, int]], *tries: tuple[str, str]) -> list[bool]:
    """Which of these files a bare interpreter can open once it has entered a ruleset with these grants."""
    program = ENTER.format(grants=grants, attempts=list(tries))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, SOURCE], capture_output=True, text=True, timeout=60, check=True
    )
    return [word == "True" for word in ran.stdout.strip(" []\n").split(", ")]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    (tmp_path / "inside").mkdir()
    for name in ("inside/a", "inside/b", "outside"):
        (tmp_path / name).write_text(name)
    return str(tmp_path / "inside"), str(tmp_path / "inside/a"), str(tmp_path / "outside")


def test_nothing_can_be_opened_that_was_not_granted(files: tuple[str, str, str]) -> None:
    _, inside, outside = files
    assert attempts([], (inside, "r"), (outside, "r"), (outside, "a")) == [False, False, False]


def test_a_grant_holds_for_what_is_below_its_folder(files: tuple[str, str, str]) -> None:
    folder, inside, outside = files
    tries = ((inside, "r"), (inside, "a"), (f"{folder}/new", "w"), (outside, "r"))
    assert attempts([(folder, landlock.READ)], *tries) == [True, False, False, False]
    assert attempts([(folder, landlock.ALL)], *tries) == [True, True, True, False]


def test_a_grant_on_a_file_holds_for_that_file_alone(files: tuple[str, str, str]) -> None:
    folder, inside, _ = files
    assert attempts([(inside, landlock.ALL)], (inside, "r"), (f"{folder}/b", "r")) == [True, False]


def test_a_grant_on_what_does_not_exist_is_no_grant(files: tuple[str, str, str]) -> None:
    folder, inside, _ = files
    assert attempts([(f"{folder}/missing", landlock.ALL)], (inside, "r"), (f"{folder}/missing", "w")) == [False, False]
