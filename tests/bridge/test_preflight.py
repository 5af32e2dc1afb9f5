"""Mistakes that can be seen in the source are told before anything runs."""

from __future__ import annotations

import pytest
from tests.conftest import World

from coilclaw.policy import Autonomy
from coilclaw.sdk import ToolContext, define_tool

ran: list[str] = []


@define_tool(id="shop.orders.list", risk="read")
def orders(ctx: ToolContext, customer: str, limit: int = 10) -> list[str]:
    ran.append(customer)
    return [customer]


@define_tool(id="shop.orders.cancel", risk="write")
def cancel(ctx: ToolContext, order: str) -> None:
    ran.append(order)


@pytest.mark.parametrize(
    ("last_line", "kind", "words"),
    [
        ("tools.shop.orders.lst(customer='a')", "UnknownTool", "shop.orders.list"),
        ("tools.nothing.here()", "UnknownTool", "shop"),
        ("tools.shop.orders.lst.start(customer='a')", "UnknownTool", "shop.orders.list"),
        ("tools.shop.orders.list(custmer='a')", "InvalidCall", "customer: str"),
        ("tools.shop.orders.list(limit=3)", "InvalidCall", "customer"),
        ("tools.shop.orders.list()", "InvalidCall", "customer"),
        ("tools.shop.orders.list('a', 1, 2)", "InvalidCall", "customer"),
        ("def later():\n    return tools.shop.list(limit=1)", "InvalidCall", "customer"),
        ("[tools.shop.orders.cancel(orders=n) for n in 'ab']", "InvalidCall", "order: str"),
    ],
)
def test_a_visible_mistake_rejects_the_whole_snippet(world: World, last_line: str, kind: str, words: str) -> None:
    ran.clear()
    report = world.run(f"tools.shop.orders.cancel(order='1')\n\n{last_line}", orders, cancel)
    assert report.status == "rejected"
    assert report.error is not None
    assert report.error.type == kind
    assert report.error.line is not None
    assert report.error.line >= 3
    assert words in f"{report.error.message} {report.error.hint}"
    assert not ran
    assert world.types() == []


def test_a_call_that_policy_always_denies_is_a_visible_mistake(world: World) -> None:
    world.autonomy = Autonomy.READONLY
    report = world.run("tools.shop.orders.list(customer='a')\ntools.shop.orders.cancel(order='1')", orders, cancel)
    assert report.status == "rejected"
    assert report.error is not None
    assert (report.error.type, report.error.line) == ("DeniedCall", 2)


@pytest.mark.parametrize(
    "source",
    [
        "tools.shop.list('a').unwrap()",
        "tools.shop.orders.list({'customer': 'a'}).unwrap()",
        "args = {'customer': 'a'}\ntools.shop.orders.list(**args).unwrap()",
        "args = ['a']\ntools.shop.orders.list(*args).unwrap()",
        "tools.shop.orders.list.start(customer='a').result().unwrap()",
        "shop = tools.shop\nshop.orders.list(customer='a').unwrap()",
        "given = {'customer': 'a'}\ntools.shop.orders.list(given).unwrap()",
    ],
)
def test_what_may_be_right_is_let_through(world: World, source: str) -> None:
    report = world.run(source, orders, cancel)
    assert report.value == ["a"], report.error


def test_another_thing_named_tools_is_left_alone(world: World) -> None:
    source = (
        "class tools:\n    class hammer:\n        @staticmethod\n        def hit(): return 'bang'\ntools.hammer.hit()"
    )
    assert world.run(source).value == "bang"


def test_a_running_snippet_cannot_hurt_the_host_through_preflight(world: World) -> None:
    source = """
import sys
answers = set()
for text in ('', '[', '3', '[3]', '[{}]', '[{"path": 3}]', '{"a": 1}', '[' * 10000, '[{"path": "shop.orders.list", "line": {}}]'):
    answers.add(sys.modules["wit_world"].preflight(text))
sorted(answers)
"""
    assert world.run(source, orders).value == ["[]"]


def test_a_hidden_mistake_is_found_when_it_is_made(world: World) -> None:
    report = world.run("r = getattr(tools.shop.orders, 'lst')()\nr.code", orders)
    assert report.value == "unknown_tool"
    assert world.types() == ["tool.call.requested", "tool.call.denied"]
