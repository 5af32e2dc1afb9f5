"""A forked command is the command: what the other tests see is what a started program does."""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.cli.conftest import Command
from tests.cli.forked import forks

from coilclaw.cli.main import cli

SAYS = "import sys\nprint('out')\nprint('err', file=sys.stderr)\n"


def started(command: Command, *args: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [*command.line, *args], input=stdin, env=command.environment, cwd=command.folder, capture_output=True
    )
    return done.returncode, done.stdout, done.stderr


def lasting(done: tuple[int, bytes, bytes]) -> tuple[int, bytes, bytes]:
    """Without the name of the run and its time, which differ each time."""
    code, out, err = done
    return code, out, re.sub(rb"\d+ ms|run-\w+", b"-", err)


@pytest.mark.parametrize(
    ("args", "stdin"),
    [
        (["--version"], b""),
        (["recept"], b""),
        (["config", "show"], b""),
        (["tool", "list", "--json"], b""),
        (["tool", "show", os.fsdecode(b"\xff")], b""),
        (["run", "-"], SAYS.encode()),
        (["run", "-"], b"\xff"),
        (["run", "-", "--engine", "restricted"], b"1 / 0"),
        (["run", "missing.py"], b""),
    ],
    ids=lambda value: "-".join(map(ascii, value)) if isinstance(value, list) else None,
)
def test_a_forked_command_does_what_a_started_one_does(coilclaw: Command, args: list[str], stdin: bytes) -> None:
    coilclaw("init")
    parent = forks()
    if parent is None:
        pytest.skip("commands are not forked here")
    forked = parent.run(args, stdin, coilclaw.environment, coilclaw.folder)
    assert lasting(forked) == lasting(started(coilclaw, *args, stdin=stdin))


def test_forked_commands_share_nothing(coilclaw: Command) -> None:
    def run(number: int) -> tuple[str, str]:
        done = coilclaw("run", "-", "--json", stdin=f"import random\n[{number}, random.random()]").json
        return done["run_id"], str(done["value"][0])

    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(run, range(4)))
    assert [value for _, value in ended] == ["0", "1", "2", "3"]
    assert len({run_id for run_id, _ in ended}) == 4


@pytest.mark.parametrize("name", sorted(cli.list_commands(None)))  # type: ignore[arg-type]
def test_every_command_starts_without_what_others_import(coilclaw: Command, name: str) -> None:
    code, out, err = started(coilclaw, name, "--help")
    assert (code, err) == (0, b"")
    assert b"Usage: coilclaw" in out
