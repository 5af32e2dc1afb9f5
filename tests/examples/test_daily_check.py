"""The example of a SOP runs as it is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import Command

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/daily_check"


@pytest.fixture
def coilclaw(tmp_path: Path, engine: object) -> Command:
    return Command(tmp_path)


@pytest.mark.req("R441")
def test_the_daily_check_of_the_example_writes_its_summary(coilclaw: Command) -> None:
    place = coilclaw.folder / "daily_check"
    shutil.copytree(EXAMPLE, place)
    assert coilclaw("sop", "validate", "--workspace", place).out == "Valid: sops/daily-check/SOP.toml\n"
    done = coilclaw("sop", "run", "daily-check", "--workspace", place, "--yes", "--json")
    assert (done.code, [each["status"] for each in done.json["steps"]]) == (0, ["succeeded"] * 4)
    assert (place / "daily-check.txt").read_text() == done.json["steps"][1]["output"]
    assert [each["path"] for each in done.json["steps"][0]["output"]["entries"]] == ["notes.txt", "sops"]
