"""Whole programs, as a model would hand them in: they check themselves and end in "ok"."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coilclaw.sandbox import Completed

if TYPE_CHECKING:
    from tests.sandbox.conftest import Execute

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


@pytest.mark.req("R2", "R10", "R19")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program_runs_unchanged(execute: Execute, path: Path) -> None:
    ran = execute(path.read_text(encoding="utf-8"), name=path.name)
    assert ran.outcome == Completed(value="ok")
    assert ran.calls == []


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 30
