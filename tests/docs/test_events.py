"""docs/events.md: its programs print what it says, and its table names every kind of event with its fields."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from tests.conftest import cache_folder

from coilclaw.app import CoilClaw
from coilclaw.evidence import CallEvent, Event, events

PAGE = (Path(__file__).resolve().parents[2] / "docs/events.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", PAGE, re.DOTALL)
ROWS = re.findall(r"^\| `([a-z.]+)` \| `(\w+)` \| (.*?) ?\|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("program", "printed"), PROGRAMS)
def test_the_programs_print_what_the_page_says(
    program: str, printed: str, monkeypatch: pytest.MonkeyPatch, engine: object
) -> None:
    monkeypatch.setattr(CoilClaw, "temporary", partial(CoilClaw.temporary, cache=cache_folder()))
    output = StringIO()
    with redirect_stdout(output):
        exec(compile(program, "docs/events.md", "exec"), {})
    assert output.getvalue() == printed


def test_every_program_of_the_page_is_run() -> None:
    assert len(PROGRAMS) == PAGE.count("```python") == 2


def test_the_table_names_every_kind_of_event_and_its_fields() -> None:
    types = [each for each in vars(events).values() if isinstance(each, type) and issubclass(each, Event)]
    expected = {}
    for each in types:
        if each not in (Event, CallEvent):
            common = CallEvent if issubclass(each, CallEvent) else Event
            own = [name for name in each.model_fields if name not in common.model_fields]
            expected[each.model_fields["kind"].default] = (each.__name__, own)
    assert {kind: (name, re.findall(r"`(\w+)`", fields)) for kind, name, fields in ROWS} == expected
