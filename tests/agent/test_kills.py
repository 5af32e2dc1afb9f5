"""Conversations whose process is killed at a commit: no recorded call is lost, and no write is made twice.

`python -m tests.agent.test_kills` kills every life at every one of its commits; the suite takes a sample.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import cache_folder
from tests.sampling import sample

ROOT = Path(__file__).parents[2]
LIVES = 3


def tried(plans: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What came of each plan."""
    written = "".join(json.dumps({**plan, "cache": str(cache_folder())}) + "\n" for plan in plans)
    done = subprocess.run(
        [sys.executable, "-m", "tests.agent.lives"],
        input=written,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def plans(commits: Sequence[int]) -> Iterator[dict[str, Any]]:
    for life in range(LIVES):
        for commit in commits:
            for before in (True, False):
                yield {"life": life, "commit": commit, "before": before}


def judge(plan: dict[str, Any], found: dict[str, Any]) -> None:
    """Raise AssertionError unless the conversation came through whole."""
    assert found["lives"][-1] == "answered", (plan, found)
    done = found["done"]
    assert len(done) == len(set(done)), (plan, found)
    notes = [status for tool, status in found["activity"] if tool == "shelf.note"]
    assert len(notes) == 2, (plan, found)
    assert set(notes) <= {"succeeded", "failed"}, (plan, found)
    assert notes.count("succeeded") <= len(done) <= 2, (plan, found)
    assert notes == ["succeeded"] * 2 or "killed" in found["lives"], (plan, found)
    assert found["runs"] == 2, (plan, found)
    assert found["roles"] == ["user", "assistant", "tool", "assistant", "tool", "assistant"], (plan, found)
    assert found["verified"], (plan, found)
    assert not found["is_waiting"], (plan, found)


@pytest.mark.req("R219")
def test_a_conversation_survives_the_death_of_its_process() -> None:
    chosen = sample(plans(range(2, 14)), 4)
    found = tried(chosen)
    for plan, each in zip(chosen, found, strict=True):
        judge(plan, each)
    assert any("killed" in each["lives"] for each in found)


if __name__ == "__main__":
    number = 0
    while True:
        number += 1
        these = list(plans([number]))
        results = tried(these)
        for plan, each in zip(these, results, strict=True):
            judge(plan, each)
        if not any("killed" in each["lives"] for each in results):
            break
    sys.stdout.write(
        f"killed each life before and after each of {number - 1} commits: all conversations came through\n"
    )
