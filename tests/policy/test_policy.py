"""allow, ask, deny."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coilclaw.policy import Autonomy, Policy, Rule, classify, judge
from coilclaw.sdk import Decision, Forbid, Judged, Risk, Tool, ToolContext, define_tool
from coilclaw.sdk.risk import LONGEST_RUNS

CONTEXT = ToolContext(workspace=Path())


def tool(risk: str = "read", policy: str | None = None, classifier: Any = None, id: str = "files.write") -> Tool:
    def handler(ctx: ToolContext) -> None:
        return None

    return define_tool(id=id, risk=Risk(risk), policy=policy, classify=classifier, handler=handler)


@pytest.mark.req("R31", "R129", "R343", "R345", "R346")
@pytest.mark.parametrize(
    ("autonomy", "read", "write", "destructive"),
    [("readonly", "allow", "deny", "deny"), ("supervised", "allow", "ask", "ask"), ("full", "allow", "allow", "allow")],
)
def test_autonomy_decides_by_risk(autonomy: str, read: str, write: str, destructive: str) -> None:
    policy = Policy(Autonomy(autonomy))
    for risk, expected in (("read", read), ("write", write), ("destructive", destructive)):
        assert policy.decide(tool(risk), Risk(risk)).decision.value == expected


def test_the_strictest_opinion_wins_whatever_the_order() -> None:
    allow = Rule(tool="files.*", decision=Decision.ALLOW)
    deny = Rule(tool="*.write", decision=Decision.DENY, reason="frozen")
    for rules in ((allow, deny), (deny, allow)):
        verdict = Policy(Autonomy.FULL, rules).decide(tool("write"), Risk.WRITE)
        assert verdict.decision is Decision.DENY
        assert "frozen" in verdict.reason


def test_a_rule_cannot_loosen_autonomy_or_contract() -> None:
    rules = (Rule(tool="*", decision=Decision.ALLOW),)
    assert Policy(Autonomy.READONLY, rules).decide(tool("write"), Risk.WRITE).decision is Decision.DENY
    assert Policy(Autonomy.FULL, rules).decide(tool("read", "ask"), Risk.READ).decision is Decision.ASK


def test_a_rule_for_one_risk_leaves_the_others() -> None:
    policy = Policy(Autonomy.FULL, (Rule(tool="*", risk=Risk.DESTRUCTIVE, decision=Decision.ASK),))
    assert policy.decide(tool("write"), Risk.WRITE).decision is Decision.ALLOW
    assert policy.decide(tool("write"), Risk.DESTRUCTIVE).decision is Decision.ASK


@pytest.mark.parametrize("autonomy", list(Autonomy))
def test_forbidden_is_denied_at_every_level(autonomy: Autonomy) -> None:
    verdict = Policy(autonomy).decide(tool("read"), Forbid(reason="outside"))
    assert verdict.decision is Decision.DENY
    assert "outside" in verdict.reason


def test_a_classifier_raises_but_never_lowers() -> None:
    assert classify(tool("write", classifier=lambda i, c: "destructive"), None, CONTEXT) is Risk.DESTRUCTIVE
    assert classify(tool("write", classifier=lambda i, c: Risk.READ), None, CONTEXT) is Risk.WRITE
    assert classify(tool("write", classifier=lambda i, c: None), None, CONTEXT) is Risk.WRITE
    assert classify(tool("read"), None, CONTEXT) is Risk.READ


@pytest.mark.parametrize("answer", ["nonsense", 7, {}])
def test_a_classifier_that_fails_forbids(answer: object) -> None:
    assert isinstance(classify(tool("read", classifier=lambda i, c: answer), None, CONTEXT), Forbid)


def test_a_classifier_that_raises_forbids() -> None:
    def broken(input: Any, ctx: ToolContext) -> None:
        raise ValueError("secret detail")

    refusal = classify(tool("read", classifier=broken), None, CONTEXT)
    assert isinstance(refusal, Forbid)
    assert "secret detail" not in refusal.reason


def test_levels_are_names_for_risks() -> None:
    assert [risk.level for risk in Risk] == ["low", "medium", "high"]


class Shifty(str):
    """Text that says something else of itself than it is."""

    def __str__(self) -> str:
        return "other"

    def __len__(self) -> int:
        return 1


def test_what_a_tool_says_will_run_is_plain_text_and_never_lowers_the_risk() -> None:
    said = judge(tool("write", classifier=lambda i, c: Judged(risk="read", runs=Shifty("rm a b"))), None, CONTEXT)
    assert said == Judged(risk=Risk.WRITE, runs="rm a b")
    assert isinstance(said, Judged)
    assert type(said.runs) is str
    raised = tool("read", classifier=lambda i, c: Judged(risk="destructive", runs=""))
    assert judge(raised, None, CONTEXT) == Judged(risk=Risk.DESTRUCTIVE, runs="")
    assert classify(raised, None, CONTEXT) is Risk.DESTRUCTIVE


@pytest.mark.parametrize(
    ("risk", "runs"),
    [
        ("write", "x" * (LONGEST_RUNS + 1)),
        ("write", Shifty("x" * (LONGEST_RUNS + 1))),
        ("write", "\ud800"),
        ("write", b"x"),
        ("write", None),
        ("none", "x"),
        (None, "x"),
    ],
    ids=range(7),
)
def test_what_cannot_be_shown_whole_is_forbidden(risk: Any, runs: Any) -> None:
    assert isinstance(judge(tool("read", classifier=lambda i, c: Judged(risk=risk, runs=runs)), None, CONTEXT), Forbid)
