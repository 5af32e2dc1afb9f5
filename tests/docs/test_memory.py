"""docs/memory.md: its program prints what it says, and its table names every field of a turn."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from tests.conftest import cache_folder

from coilclaw.app import CoilClaw
from coilclaw.memory import TurnDraft
from coilclaw.memory.documents import LARGEST_DOCUMENT, LONGEST_CONTENT

PAGE = (Path(__file__).resolve().parents[2] / "docs/memory.md").read_text()


def test_the_program_prints_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    ((program, printed),) = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.setattr(CoilClaw, "temporary", partial(CoilClaw.temporary, cache=cache_folder()))
    output = StringIO()
    with redirect_stdout(output):
        exec(compile(program, "docs/memory.md", "exec"), {})
    assert output.getvalue() == printed


@pytest.mark.req("R385")
def test_the_table_names_every_field_of_a_turn() -> None:
    rows = re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    with CoilClaw.temporary(cache=cache_folder()) as claw:
        (turn,) = claw.memory.append(claw.memory.begin("cli"), TurnDraft(role="user"))
    assert named == turn.facts().keys()
    assert f"{LONGEST_CONTENT:,} characters" in PAGE
    assert f"{LARGEST_DOCUMENT // 2**20} MiB each" in PAGE
