"""The examples do what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

ROOT = Path(__file__).resolve().parents[2]
QUICKSTART = ROOT / "examples/quickstart"


@pytest.fixture
def coilclaw(tmp_path: Path, engine: object) -> Command:
    return Command(tmp_path)


def run(coilclaw: Command, script: str, *options: str) -> Any:
    return coilclaw("run", QUICKSTART / script, "--workspace", QUICKSTART, "--json", *options).json


@pytest.mark.req("R9", "R10")
def test_restock_reports_and_is_not_allowed_to_order(coilclaw: Command) -> None:
    done = run(coilclaw, "restock.py")
    assert done["status"] == "completed"
    assert "not ordered: approval_required" in done["stdout"]
    assert [each["missing"] for each in done["value"]] == [28, 2, 12]
    states = [(item["tool_id"], item["status"]) for item in done["activity"]]
    assert states == [
        ("shop.products.list", "succeeded"),
        *[("shop.stock.count", "succeeded")] * 4,
        ("shop.orders.place", "denied"),
    ]


def test_restock_orders_when_a_person_agrees(coilclaw: Command) -> None:
    done = run(coilclaw, "restock.py", "--yes")
    assert "ordered 28 x Green tea: order-" in done["stdout"]


def test_parallel_calls_run_together(coilclaw: Command) -> None:
    done = run(coilclaw, "parallel.py")
    assert done["stdout"] == "in parallel\n"
    assert done["value"] == {"tea": 12, "mug": 30, "jar": 58, "tin": 3}


def test_errors_are_values_until_they_are_unwrapped(coilclaw: Command) -> None:
    done = run(coilclaw, "errors.py")
    assert done["status"] == "failed"
    assert done["error"]["type"] == "ToolCallError"
    assert done["stdout"].startswith(
        "no_such_product: there is no product 'gold' (one of: tea, mug, jar, tin)\nfallback: 0\n"
    )


def test_the_demo_runs(coilclaw: Command) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/demo.py"], capture_output=True, text=True, env=coilclaw.environment
    )
    assert done.returncode == 0, done.stderr
    assert "Valid: " in done.stdout
