"""The examples of the agent do what they say, and say only what receipts hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Command

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def coilclaw(tmp_path: Path, engine: object) -> Command:
    return Command(tmp_path)


def shown(coilclaw: Command, example: str) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / example], capture_output=True, text=True, env=coilclaw.environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.req("R91", "R92", "R93", "R94", "R143")
def test_a_reminder_is_scheduled_only_where_its_receipt_says_so(coilclaw: Command) -> None:
    text = shown(coilclaw, "reminder_truthfulness/demo.py")
    told = dict(re.findall(r"^(succeeded|failed|denied|pending): (.*?)(?=^\w+: |\Z)", text, re.DOTALL | re.MULTILINE))
    assert list(told) == ["succeeded", "failed", "denied", "pending"]
    for case, story in told.items():
        assert re.search(rf"^  {case} +calendar\.events\.create  receipt-", story, re.MULTILINE)
    assert "is scheduled for tomorrow at 9." in told["succeeded"]
    assert "could not verify" not in told["succeeded"]
    for case in ("failed", "denied"):
        assert "could not verify completion" in " ".join(told[case].split())
    assert "waits for a person's approval" in told["pending"]


def test_the_model_of_the_reminders_says_the_same_whatever_happened() -> None:
    fixtures = sorted((EXAMPLES / "reminder_truthfulness/fixtures").glob("*.json"))
    said = {json.dumps(json.loads(each.read_text())["replies"][1:]) for each in fixtures}
    assert (len(fixtures), len(said)) == (4, 1)


@pytest.mark.req("R95", "R99", "R100", "R101", "R102")
def test_a_tool_that_the_agent_wrote_is_used_once_a_person_trusts_it(coilclaw: Command) -> None:
    before, _, after = shown(coilclaw, "agent_writes_a_tool/demo.py").partition("(A person reads ")
    assert "  pending   files.write" in before
    assert "  succeeded files.write" in before
    assert "units.to_kilometres  receipt-" not in before
    assert "it was written through the bridge" in after
    assert "  succeeded units.to_kilometres  receipt-" in after
