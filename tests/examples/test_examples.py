"""The examples do what they say."""

from __future__ import annotations

import re
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


def states(report: Any) -> list[tuple[str, str]]:
    return [(item["tool_id"], item["status"]) for item in report["activity"]]


COUNTED = [("shop.products.list", "succeeded"), *[("shop.stock.count", "succeeded")] * 4]


@pytest.mark.req("R9", "R10", "R32", "R33")
def test_restock_reports_and_waits_before_it_orders(coilclaw: Command) -> None:
    waiting = run(coilclaw, "restock.py")
    assert waiting["status"] == "suspended"
    assert "order" not in waiting["stdout"]
    assert states(waiting) == [*COUNTED, ("shop.orders.place", "pending")]
    [question] = waiting["approvals"]
    assert question["arguments"] == {"product": "tea", "quantity": 28}
    done = coilclaw("approval", "approve", question["id"], "--resume", "--workspace", QUICKSTART, "--json").json
    assert done["status"] == "completed"
    assert "ordered 28 x Green tea: order-" in done["stdout"]
    assert [each["missing"] for each in done["value"]] == [28, 2, 12]
    assert states(done) == [*COUNTED, ("shop.orders.place", "succeeded")]


def test_restock_goes_on_without_the_order_when_a_person_says_no(coilclaw: Command) -> None:
    [question] = run(coilclaw, "restock.py")["approvals"]
    done = coilclaw("approval", "deny", question["id"], "--resume", "--workspace", QUICKSTART, "--json").json
    assert done["status"] == "completed"
    assert "not ordered: approval_denied" in done["stdout"]
    assert states(done) == [*COUNTED, ("shop.orders.place", "denied")]


def test_restock_orders_at_once_when_a_person_agreed_in_advance(coilclaw: Command) -> None:
    done = run(coilclaw, "restock.py", "--yes")
    assert "ordered 28 x Green tea: order-" in done["stdout"]


def test_parallel_calls_run_together(coilclaw: Command) -> None:
    # On a busy machine one may be late; one after the other, none would ever begin before the one before it ended.
    for _ in range(10):
        done = run(coilclaw, "parallel.py")
        assert done["value"] == {"tea": 12, "mug": 30, "jar": 58, "tin": 3}
        receipts = coilclaw("receipt", "list", "--run", done["run_id"], "--json").json
        order = [each["type"] for each in receipts if each["type"] in ("tool.call.started", "tool.call.succeeded")]
        assert len(order) == 8
        if order != ["tool.call.started", "tool.call.succeeded"] * 4:
            return
    pytest.fail("each call began when the one before it had ended")


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
    assert done.returncode == 0, done.stdout + done.stderr
    before, after = done.stdout.partition("\n3. ")[::2]
    assert "shop.orders.place" in before
    assert "ordered" not in before
    assert after.count("ordered 28 x Green tea") == 1
    assert re.findall(r"tool\.call\.(\w+) +\w+ +shop\.orders\.place", after) == [
        "pending", "approved", "started", "succeeded",
    ]  # fmt: skip
    assert "Valid: " in after
