"""How long a verdict takes: in proportion to the text, whatever the text is."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.integrations.shell.adversarial import commands, deep_tree
from tests.sampling import sample

from coilclaw.integrations.shell import run
from coilclaw.policy import classify
from coilclaw.sdk import Bounds, Forbid, Risk, ToolContext

LONGEST = 32_700
NAMES = commands(LONGEST)
SHORT = [
    "ls */*/*", "ls */*/*/*/*", "ls long/*a*a*a*a*a*a*a*a*a*a*a*a*b", "ls long/" + "*a" * 60 + "*b", "ls long/" + "?" * 200 + "*[!a]",
    "ls " + "d*/e*/f* " * 50, "cat links/l29/*/*", "cat links/*/*/*", "ls [a-z]*/[a-z]*/[a-z]*/[a-z]*", "ls d*/e*/f* | cat > x",
]  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    deep_tree(folder)
    return folder


def least(work: Callable[[], object], times: int = 3) -> float:
    """Processor time of the quickest of some tries: what else the machine does counts as little as it can."""
    best = float("inf")
    for _ in range(times):
        began = time.thread_time()
        work()
        best = min(best, time.thread_time() - began)
    return best


def read_through(text: str) -> int:
    """Look at every character once, which is the least that any reader does."""
    return sum(ord(character) for character in text)


def judge(command: str, workspace: Path, autonomy: str) -> None:
    allowed = ("ls", "cat", "echo", "find", "env", "sed", "awk")
    bounds = Bounds(autonomy=autonomy, shell_allow=allowed, forbidden_paths=(workspace / "secret",))  # type: ignore[arg-type]
    opinion = classify(run, run.input(command=command), ToolContext(workspace=workspace, bounds=bounds))
    assert isinstance(opinion, Forbid | Risk)
    assert "could not classify" not in str(opinion)


@pytest.mark.parametrize(("name", "autonomy"), sample(itertools.product(NAMES, ["readonly", "full"]), share=3))
def test_a_verdict_takes_time_in_proportion_to_the_length_of_the_command(
    workspace: Path, name: str, autonomy: str
) -> None:
    for size in (LONGEST // 8, LONGEST):
        command = commands(size)[name]
        assert size * 0.98 < len(command) <= size
        # Looking at the disk is bounded by numbers of its own, hence the constant, and a busy machine counts as well.
        # What grows with the square of the length, let alone faster, is far beyond this.
        bound = 100 * least(partial(read_through, command)) + 0.5
        assert least(partial(judge, command, workspace, autonomy)) < bound


@pytest.mark.parametrize("command", SHORT, ids=range(len(SHORT)))
def test_a_short_pattern_does_not_make_a_verdict_long(workspace: Path, command: str) -> None:
    assert least(partial(judge, command, workspace, "full")) < 1


@pytest.mark.parametrize("piece", ["/[", "/*", "[]", "*[", "./"])
def test_a_name_that_might_stand_for_everything_is_read_once(workspace: Path, piece: str) -> None:
    name = piece * (LONGEST // len(piece) - 10) + "x"
    bounds = Bounds(autonomy="full", shell_allow=("rm",), forbidden_commands=())
    ctx = ToolContext(workspace=workspace, bounds=bounds)

    def judge_removal() -> None:
        assert isinstance(classify(run, run.input(argv=["rm", "-r", name]), ctx), Forbid)

    assert least(judge_removal) < 30 * least(partial(read_through, name)) + 0.03


def test_a_folder_with_more_files_than_are_looked_at_is_refused(tmp_path: Path) -> None:
    for number in range(40_001):
        os.mknod(tmp_path / f"{number}.txt")
    ctx = ToolContext(workspace=tmp_path, bounds=Bounds(shell_allow=("ls",)))
    opinion = classify(run, run.input(command="ls 1?.txt"), ctx)
    assert isinstance(opinion, Forbid)
    assert "too many files" in opinion.reason
