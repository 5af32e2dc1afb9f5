"""What `find` does with its arguments, compared with what was checked of them."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.integrations.shell.test_reach import judged, workspace

from coilclaw.integrations.shell.arguments import Arguments
from coilclaw.integrations.shell.grammar import Refused
from coilclaw.integrations.shell.places import FOUND, Places
from coilclaw.sdk import Forbid

__all__ = ["workspace"]

LISTS = 3_000
PROBE = "#!/bin/sh\n{ for each; do printf '%s\\0' \"$each\"; done; printf '\\n'; } >> \"$PROBED\"\n"
STARTS = ("-exec", "-exec", "-exec", "-ok", "-execdir", "-okdir")
ENDS = (";", ";", "+", "{} +", "{} ;", "{} +", "{} {} +", "x{} +", "{}x ;", "{} + ;", "+ {} ;", "{} ; +", "-- {} +")
TESTS = (
    "-print", "-true", "-name +", "-name ;", "-name {}", "-path a", "-uid 0", "-uid ;", "-type f", "!", ",", "( -true )", "-o -true", "-not",
    "-fprint out1", "-fprintf out2 %p", "-fprintf out3 ;", "-fls out4", "-fprint ;", "-newer a", "-printf {}", "-perm -exec", "-maxdepth 1",
    "-name -exec", "-name -ok", "+", ";", "{}", "-delete", "-regex -fprint", "-fprint0 -exec", "-samefile +", "-depth", "-prune", "-size +0",
)  # fmt: skip
ROOTS = ("a", "a", "b", ".", ",", ")", "-H ,", "-P a", "-H", "a ,", ", a", "--", "-O2 b", "-", "+", ";", "{}", "")


def generated(numbers: random.Random) -> list[str]:
    words = [numbers.choice(ROOTS)]
    for _ in range(numbers.randint(1, 4)):
        if numbers.random() < 0.5:
            words += [numbers.choice(STARTS), "probe", *numbers.choices(("-x", "y", "+", "a", "-name", "{}"), k=1)]
            words += [*numbers.choices(TESTS, k=numbers.randint(0, 1)), numbers.choice(ENDS)]
        else:
            words.append(numbers.choice(TESTS))
    return " ".join(words).split()


class Checked(Places):
    """Notes the paths that were checked, and with what in mind."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ".", ())
        self.folders, self.written = set[str](), set[str]()

    def check(self, text: str, *, recursive: bool = False, writes: bool = False, near: bool = False) -> None:
        super().check(text, recursive=recursive, writes=writes, near=near)
        self.folders |= {text} if recursive else set()
        self.written |= {text} if writes and not recursive else set()


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    for name in ("a/x", "b/+", "b/;", ",/y", ")/z", "+", "{}/w"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/probe").write_text(PROBE)
    (tmp_path / "bin/probe").chmod(0o755)
    return folder


def observed(arguments: list[str], scratch: Path) -> tuple[list[list[str]], set[str]]:
    """The commands that find starts, and the files that it makes."""
    probed, before = scratch.parent / "probed", {each.name for each in scratch.iterdir()}
    probed.write_text("")
    environment = {"PATH": f"{scratch.parent}/bin:/usr/bin:/bin", "PROBED": str(probed)}
    program = str(shutil.which("find"))
    subprocess.run(
        [program, *arguments], cwd=scratch, env=environment, input=b"y\n" * 99, capture_output=True, check=False
    )
    made = {each.name for each in scratch.iterdir()} - before
    for name in made:
        (scratch / name).unlink()
    return [line.split("\0")[:-1] for line in probed.read_text().splitlines()], made


def is_judged(command: list[str], starts: list[list[str]], folders: set[str]) -> bool:
    """Whether this is one of the commands that were judged, with names below checked folders for what is found."""
    for start in starts:
        _, *fixed = start
        if fixed[-1:] != [FOUND]:
            if command == fixed:
                return True
        elif command[: len(fixed) - 1] == fixed[:-1] and all(
            any(each == folder or each.startswith(f"{folder.rstrip('/')}/") for folder in folders)
            for each in command[len(fixed) - 1 :]
        ):
            return True
    return False


@pytest.mark.req("R353")
@pytest.mark.skipif(shutil.which("find") is None, reason="there is no find")
def test_find_starts_and_writes_nothing_but_what_was_checked(scratch: Path) -> None:
    numbers, started, wrote = random.Random(353), 0, 0
    for _ in range(LISTS):
        arguments, places, starts = generated(numbers), Checked(scratch), list[list[str]]()
        try:
            Arguments(places, starts.append, lambda _: None).check("find", arguments)
        except Refused:
            continue
        commands, made = observed(arguments, scratch)
        assert all(is_judged(each, starts, places.folders) for each in commands), (arguments, commands, starts)
        assert made <= places.written, (arguments, made)
        started, wrote = started + bool(commands), wrote + bool(made)
    assert started > 20, "too few of these lists start something"
    assert wrote > 20, "too few of these lists write something"


@pytest.mark.req("R353")
@pytest.mark.parametrize(
    "command",
    ["find sub -ok cat {} \\;", "find sub -okdir cat {} \\;", "find sub -ok cat {} +",
     "printf 'y\\n' | find sub/a.txt -ok cat -- {} + -path secret/key -name \\;",
     "printf 'y\\n' | find sub/a.txt -ok sort {} + -uid -orepo/.git/config -uid \\;"],
)  # fmt: skip
def test_find_asks_nobody_before_it_starts_something(workspace: Path, command: str) -> None:
    for autonomy in ("readonly", "supervised", "full"):
        verdict = judged(command, workspace, autonomy=autonomy)
        assert isinstance(verdict, Forbid)
        assert "nobody is there" in verdict.reason


@pytest.mark.req("R352", "R353")
def test_a_comma_before_any_test_is_a_path_of_find(workspace: Path) -> None:
    assert not isinstance(judged("find -H . -name x", workspace, "plain"), Forbid)
    (workspace / "plain/,").symlink_to("../..")
    assert isinstance(judged("find -H , -name x", workspace, "plain"), Forbid)
