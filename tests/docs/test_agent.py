"""docs/agent.md: its program runs as it stands, and what it counts is what the tests count."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest
from tests.agent.injection.scenarios import TASKS, attacks
from tests.agent.test_kills import LIVES
from tests.conftest import cache_folder

from coilclaw.agent import AnswerStatus
from coilclaw.agent.handles import LARGE_CHARS
from coilclaw.app import CoilClaw

PAGE = (Path(__file__).resolve().parents[2] / "docs/agent.md").read_text()


def test_the_program_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.setattr(CoilClaw, "temporary", partial(CoilClaw.temporary, cache=cache_folder()))
    output = StringIO()
    with redirect_stdout(output):
        exec(compile(program, "docs/agent.md", "exec"), {})
    assert output.getvalue().startswith("answered No model is configured")


def test_the_page_counts_what_the_tests_try() -> None:
    assert f"In {len(list(attacks()))} scenarios" in PAGE
    assert len(TASKS) == 12
    assert sum(len(task.changes) for task in TASKS) == 7
    assert LIVES == 3
    assert f"{LARGE_CHARS:,} characters" in PAGE


def test_the_table_names_every_status() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert set(rows) == set(get_args(AnswerStatus))
