"""The README's commands print what the README says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.conftest import cache_folder

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


@pytest.fixture
def coilclaw(tmp_path: Path, engine: object) -> Command:
    return Command(tmp_path)


def normal(text: str, home: str) -> str:
    text = text.replace(home, "~")
    text = re.sub(r"run-[0-9a-f]{19}", "RUN", text)
    text = re.sub(r"receipt-[0-9a-f]{8}-\d+", "RECEIPT", text)
    text = re.sub(r"approval-[0-9a-f]{10}", "APPROVAL", text)
    return re.sub(r"in \d+ ms", "in N ms", text)


def test_the_tour_is_true(coilclaw: Command) -> None:
    blocks = re.findall(r"```console\n(\$.*?)```", README, re.DOTALL)
    assert len(blocks) >= 4
    commands = 0
    for block in blocks:
        for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = shown.partition("\n")
            done = subprocess.run(
                ["bash", "-c", line],
                env={**coilclaw.environment, "PATH": f"{Path(coilclaw.line[0]).parent}:{coilclaw.environment['PATH']}"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                cwd=coilclaw.folder,
            )
            home = coilclaw.environment["HOME"]
            # stdout and stderr may interleave either way; the lines are what counts.
            assert sorted(normal(done.stdout, home).splitlines()) == sorted(normal(expected, home).splitlines()), line
            commands += 1
    assert commands >= 5


def test_the_shown_tool_is_the_one_init_writes(coilclaw: Command) -> None:
    coilclaw("init")
    written = (coilclaw.workspace / "tools/hello/greetings.py").read_text()
    (shown,) = re.findall(r"```python\n# [^\n]*greetings.py\n(.*?)```", README, re.DOTALL)
    assert shown.strip() in written


def test_the_library_is_shown_in_five_lines(tmp_path: Path, engine: object) -> None:
    (shown,) = re.findall(r"```python\n(from coilclaw.app .*?)```", README.partition("## ")[0], re.DOTALL)
    assert len([line for line in shown.splitlines() if line]) <= 5
    environment = {**os.environ, "HOME": str(tmp_path)}
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/coilclaw").symlink_to(cache_folder())
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("completed 45 ()\n", "")


def test_every_command_of_the_table_exists(coilclaw: Command) -> None:
    for row in re.findall(r"^\| `coilclaw ([^`]+)` \|", README, re.MULTILINE):
        name, *rest = row.split()
        for sub in rest[0].split("\\|") if rest and rest[0].islower() else [""]:
            assert coilclaw(name, *([sub] if sub else []), "--help").code == 0, row


def test_no_other_agent_runtime_is_named() -> None:
    for name in ("smolagents", "monty", "langchain", "openclaw", "nanoclaw", "claude", "autogpt"):
        assert name not in README.lower()


def test_what_is_said_of_replay_was_measured() -> None:
    measured = json.loads((ROOT / "benchmarks/results/replay.json").read_text())["measured"]
    said = re.search(r"went ([\d.]+) times as fast as the run itself, and at ([\d.]+) times the speed", README)
    assert said is not None
    assert (float(said[1]), float(said[2])) == (measured["replay_times_run"], measured["replay_times_bare_sandbox"])
