"""The receipt of a decision says which rule decided, or who did and for how much."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from tests.conftest import World

from coilclaw.policy import Answer, ApprovalStore, Autonomy, Question, Rule
from coilclaw.sandbox import RunEnded
from coilclaw.sdk import Decision, Forbid, Receipt, ToolContext, define_tool


@define_tool(id="test.read", risk="read")
def read(ctx: ToolContext) -> int:
    return 1


@define_tool(id="test.save", risk="write")
def save(ctx: ToolContext, text: str = "") -> int:
    return 1


@define_tool(id="test.asks", risk="read", policy="ask")
def asks(ctx: ToolContext) -> int:
    return 1


@define_tool(id="test.no", risk="read", classify=lambda input, ctx: Forbid(reason="never"))
def forbids(ctx: ToolContext) -> int:
    return 1


TOOLS = (read, save, asks, forbids)
DENY_A = Rule(tool="test.save", decision=Decision.DENY, arguments={"text": "a"})
ASK = Rule(tool="test.*", decision=Decision.ASK)
ALLOW = Rule(tool="test.read", decision=Decision.ALLOW)


class Ada:
    """Approves whatever she is asked about."""

    def decide(self, question: Question) -> Answer:
        return Answer(decision="allow-once", decided_by="ada")


def called(world: World, tool: str, **arguments: Any) -> dict[str, Receipt]:
    """Call a tool, and return the receipts of the call by the last part of their type."""
    bridge = world.bridge(*TOOLS)
    with suppress(RunEnded):
        bridge.call(tool, json.dumps(arguments).encode(), 1)
    bridge.close()
    world.log.flush()
    return {each.type.rpartition(".")[2]: each for each in world.log.of_run("run-test")}


@pytest.mark.parametrize(
    ("tool", "autonomy", "rules", "matched"),
    [
        ("test.save", Autonomy.FULL, (), "autonomy"),
        ("test.read", Autonomy.FULL, (ALLOW,), "autonomy, rule 1"),
        ("test.save", Autonomy.FULL, (ALLOW, DENY_A), "autonomy"),
    ],
)
def test_the_start_of_a_call_names_the_rule_that_allowed_it(
    world: World, tool: str, autonomy: Autonomy, rules: tuple[Rule, ...], matched: str
) -> None:
    world.autonomy, world.rules = autonomy, rules
    assert called(world, tool)["started"].payload == {"matched_rule": matched}


def test_a_read_that_the_autonomy_level_allows_needs_no_words(world: World) -> None:
    assert called(world, "test.read")["started"].payload == {}


@pytest.mark.parametrize(
    ("tool", "arguments", "autonomy", "rules", "matched"),
    [
        ("test.save", {}, Autonomy.READONLY, (), "autonomy"),
        ("test.save", {"text": "a"}, Autonomy.FULL, (ALLOW, DENY_A), "rule 2"),
        ("test.no", {}, Autonomy.FULL, (), "classification"),
    ],
)
def test_a_denial_names_the_rule_that_denied(
    world: World, tool: str, arguments: dict[str, str], autonomy: Autonomy, rules: tuple[Rule, ...], matched: str
) -> None:
    world.autonomy, world.rules = autonomy, rules
    denied = called(world, tool, **arguments)["denied"].payload
    assert (denied["code"], denied["matched_rule"]) == ("denied", matched)


@pytest.mark.parametrize(
    ("tool", "rules", "matched"),
    [("test.save", (), "autonomy"), ("test.asks", (), "contract"), ("test.asks", (ASK,), "contract, rule 1")],
)
def test_an_approved_call_names_the_rule_that_asked_and_who_approved_it_once(
    world: World, tool: str, rules: tuple[Rule, ...], matched: str
) -> None:
    world.autonomy, world.rules, world.approver = Autonomy.SUPERVISED, rules, Ada()
    receipts = called(world, tool)
    assert receipts["approved"].payload == {"decision": "allow-once", "decided_by": "ada", "scope": "once"}
    assert receipts["started"].payload == {"matched_rule": matched}


def test_any_number_of_rules_may_agree_and_a_few_are_named(world: World) -> None:
    world.rules = (Rule(tool="test.save", decision=Decision.DENY),) * 100
    matched = called(world, "test.save")["denied"].payload["matched_rule"]
    assert matched == "rule 1, rule 2, rule 3, rule 4"


def test_a_call_that_nobody_could_approve_names_the_rule_that_asked(world: World) -> None:
    world.autonomy = Autonomy.SUPERVISED
    denied = called(world, "test.save")["denied"].payload
    assert (denied["code"], denied["matched_rule"]) == ("approval_required", "autonomy")
    assert "scope" not in denied, "nobody has decided anything"


@pytest.mark.parametrize("granted", [True, False])
def test_a_decision_made_elsewhere_is_for_one_call(world: World, granted: bool) -> None:
    world.autonomy = Autonomy.SUPERVISED
    book = ApprovalStore(world.log._database, world.log)
    world.options["approvals"] = book
    assert called(world, "test.save")["pending"].payload["matched_rule"] == "autonomy"
    (asked,) = book.list("pending")
    book.decide(asked.id, approved=granted, decided_by="ada")
    decided = world.log.latest(1)[0].payload
    assert (decided["decided_by"], decided["scope"]) == ("ada", "once")


def test_a_call_that_a_window_lets_through_says_so(world: World) -> None:
    world.autonomy = Autonomy.SUPERVISED
    book = ApprovalStore(world.log._database, world.log)
    world.options["approvals"] = book
    window = world.open_window(book, save)
    assert world.log.latest(1)[0].payload["scope"] == "window"
    approved = called(world, "test.save")["approved"].payload
    assert approved == {"decision": "window", "grant": window.id, "decided_by": "me", "scope": "window"}
