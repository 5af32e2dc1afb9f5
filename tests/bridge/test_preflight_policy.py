"""A call that policy denies whatever its arguments are rejects the snippet before anything runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import World

from coilclaw.bridge import build_registry
from coilclaw.bridge.preflight import check_calls
from coilclaw.policy import Autonomy, Policy, Rule
from coilclaw.sdk import Decision, Risk, Tool, ToolContext, define_tool

ran: list[str] = []


@define_tool(id="shop.orders.list", risk="read")
def orders(ctx: ToolContext, customer: str) -> list[str]:
    ran.append(customer)
    return [customer]


@define_tool(id="shop.orders.cancel", risk="write")
def cancel(ctx: ToolContext, order: str) -> None:
    ran.append(order)


@define_tool(id="shop.orders.touch", risk="read", classify=lambda input, ctx: "write" if input.order else None)
def touch(ctx: ToolContext, order: str) -> None:
    ran.append(order)


def found(policy: Policy, path: str, channel: str = "cli", *tools: Tool) -> list[dict[str, Any]]:
    call = {"path": path, "line": 7, "positional": 1, "named": [], "complete": True, "object": False}
    registry = build_registry([((orders, cancel, touch), ())])
    problems: list[dict[str, Any]] = json.loads(check_calls(json.dumps([call]).encode(), registry, policy, channel))
    return problems


@pytest.mark.parametrize("path", ["shop.orders.cancel", "shop.cancel", "shop.cancel.start"])
def test_the_line_and_the_rule_are_named_and_nothing_ran(world: World, path: str) -> None:
    ran.clear()
    world.rules = (
        Rule(tool="files.*", decision=Decision.DENY),
        Rule(tool="shop.*.cancel", decision=Decision.DENY, reason="orders are final"),
    )
    source = f"tools.shop.orders.list(customer='a')\n\ndef later():\n    return tools.{path}(order='1')"
    report = world.run(source, orders, cancel)
    assert report.status == "rejected"
    assert report.error is not None
    assert (report.error.type, report.error.line) == ("DeniedCall", 4)
    assert "rule 2 'shop.*.cancel': deny (orders are final)" in report.error.message
    assert "coilclaw policy explain shop.orders.cancel" in str(report.error.hint)
    assert not ran
    assert world.types() == []


def test_what_depends_on_arguments_is_left_to_the_call() -> None:
    policy = Policy(
        Autonomy.FULL, (Rule(tool="shop.*", decision=Decision.DENY, arguments={"order": {"starts_with": "x"}}),)
    )
    assert policy.decide(cancel, Risk.WRITE, {"order": "x1"}).decision is Decision.DENY
    assert found(policy, "shop.orders.cancel") == []


def test_a_rule_for_another_channel_rejects_nothing() -> None:
    policy = Policy(Autonomy.FULL, (Rule(tool="shop.*", decision=Decision.DENY, channels=("slack",)),))
    assert found(policy, "shop.orders.cancel") == []
    assert found(policy, "shop.orders.cancel", "slack")[0]["type"] == "DeniedCall"


def test_a_call_whose_risk_may_be_raised_is_rejected_only_if_every_risk_is_denied() -> None:
    reads = Rule(tool="shop.*", decision=Decision.DENY, risk=Risk.READ)
    writes = Rule(tool="shop.*", decision=Decision.DENY, risk=Risk.WRITE)
    worst = Rule(tool="shop.*", decision=Decision.DENY, risk=Risk.DESTRUCTIVE)
    assert found(Policy(Autonomy.FULL, (reads,)), "shop.orders.touch") == []
    assert found(Policy(Autonomy.READONLY), "shop.orders.touch") == []
    assert found(Policy(Autonomy.READONLY, (reads,)), "shop.orders.touch")[0]["line"] == 7
    assert found(Policy(Autonomy.FULL, (reads, writes, worst)), "shop.orders.touch")
    assert found(Policy(Autonomy.FULL, (reads,)), "shop.orders.list")


def test_what_asks_is_not_rejected() -> None:
    assert found(Policy(Autonomy.SUPERVISED), "shop.orders.cancel") == []
