"""What holds for every policy and every call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coilclaw.policy import Autonomy, Policy, Rule
from coilclaw.sdk import Decision, Forbid, Risk, Tool, ToolContext, define_tool

NAMES = st.sampled_from(["to", "n", "a", "a.b", "b"])
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["x", "X", "1", "true", "", "e\u0301vil"]),
    st.text(),
)
JSON = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(NAMES, st.text()), inner, max_size=4)
    ),
    max_leaves=12,
)
ARGUMENTS = st.dictionaries(NAMES, JSON, max_size=4)
DEMANDS = st.one_of(
    st.sampled_from(["x", 1, True, 0.5]),
    st.just(["x", 1]),
    st.builds(
        lambda fold, text: {"matches": text, "ignore_case": fold}, st.booleans(), st.sampled_from(["*", "x*", "[!a]"])
    ),
    st.sampled_from(
        [
            {"above": 0},
            {"at_most": 5},
            {"starts_with": "x"},
            {"length_at_most": 2},
            {"length_at_least": 1},
            {"present": True},
            {"present": False},
            {"not_one_of": ["x", 1]},
            {"not_matches": ["x*", "1"]},
            {"equals": {"a": 1}},
        ]
    ),
)
RULES = st.builds(
    Rule,
    tool=st.sampled_from(["*", "mail.*", "mail.send", "other.*", "send_mail"]),
    decision=st.sampled_from(Decision),
    risk=st.one_of(st.none(), st.sampled_from(Risk)),
    reason=st.one_of(st.none(), st.sampled_from(["why", "because"])),
    channels=st.one_of(st.none(), st.sampled_from([("cli",), ("slack", "cli"), ("slack",)])),
    arguments=st.dictionaries(st.sampled_from(["to", "to.*", "n", "a.b", "*", "*.*", "a.*.b"]), DEMANDS, max_size=2),
)
CLASSIFIED = st.one_of(st.sampled_from(Risk), st.just(Forbid(reason="no")))
AUTONOMY = st.sampled_from(Autonomy)
CHANNEL = st.sampled_from(["cli", "slack"])


def make(default: Decision | None) -> Tool:
    def handler(ctx: ToolContext) -> None:
        return None

    policy = default.value if default else None
    return define_tool(id="mail.send", risk="read", policy=policy, aliases=["send_mail"], handler=handler)


TOOLS = st.sampled_from([make(None), *(make(each) for each in Decision)])
CALLS = st.tuples(TOOLS, CLASSIFIED, st.one_of(st.none(), ARGUMENTS), CHANNEL)


@settings(max_examples=100, deadline=None)
@given(AUTONOMY, st.lists(RULES, max_size=5), RULES, CALLS)
def test_another_rule_never_loosens_a_decision(autonomy: Autonomy, rules: list[Rule], more: Rule, call: Any) -> None:
    before = Policy(autonomy, rules).decide(*call)
    after = Policy(autonomy, [*rules, more]).decide(*call)
    assert after.decision.strictness >= before.decision.strictness
    assert after.strictest.strictness >= before.strictest.strictness


@settings(max_examples=100, deadline=None)
@given(AUTONOMY, st.lists(RULES, max_size=5), CALLS, st.randoms(use_true_random=False))
def test_the_order_of_rules_never_matters(autonomy: Autonomy, rules: list[Rule], call: Any, random: Any) -> None:
    shuffled = random.sample(rules, len(rules))
    one, other = Policy(autonomy, rules), Policy(autonomy, shuffled)
    assert one.decide(*call).decision is other.decide(*call).decision
    assert str(one.decide(*call)) == str(other.decide(*call))
    assert one.digest == other.digest


@pytest.mark.req("R31")
@settings(max_examples=100, deadline=None)
@given(AUTONOMY, st.lists(RULES, max_size=5), CALLS)
def test_an_explanation_agrees_with_the_decision(autonomy: Autonomy, rules: list[Rule], call: Any) -> None:
    policy = Policy(autonomy, rules)
    verdict = policy.decide(*call)
    explanation = policy.explain(*call)
    assert explanation.verdict == verdict
    applied = [each for each in explanation.opinions if each.applied == "yes" and each.decision is not None]
    strictest = max(applied, key=lambda each: (each.decision or Decision.ALLOW).strictness)
    assert strictest.decision is verdict.decision
    assert any(each.decides for each in explanation.opinions)
    assert all(each.decision is verdict.decision for each in explanation.opinions if each.decides)
    if not isinstance(call[1], Forbid):
        for each in applied:
            named = f"{each.source} '" in verdict.reason
            assert named is (each.decides and each.source not in ("contract", "classification"))
    tighter = {each.source for each in explanation.opinions if each.applied == "depends"}
    assert {f"rule {rule.number}" for rule in verdict.conditional} <= tighter


@settings(max_examples=100, deadline=None)
@given(AUTONOMY, st.lists(RULES, max_size=5), CALLS)
def test_known_arguments_stay_within_what_was_said_before_they_were_known(
    autonomy: Autonomy, rules: list[Rule], call: Any
) -> None:
    tool, classified, arguments, channel = call
    policy = Policy(autonomy, rules)
    foreseen = policy.decide(tool, classified, None, channel)
    verdict = policy.decide(tool, classified, arguments or {}, channel)
    assert foreseen.decision.strictness <= verdict.decision.strictness <= foreseen.strictest.strictness


@settings(max_examples=150, deadline=None)
@given(RULES, JSON, ARGUMENTS)
def test_no_arguments_make_a_rule_fail(rule: Rule, value: Any, arguments: dict[str, Any]) -> None:
    for sent in ({"to": value}, {"a": {"b": value}}, {"a": [value, {"b": value}]}, arguments):
        assert rule.holds(sent) is (rule.unmet(sent) is None)
        assert rule.holds(sent, value) in (True, False)


@settings(max_examples=100, deadline=None)
@given(RULES, ARGUMENTS, ARGUMENTS)
def test_what_a_tool_makes_of_its_arguments_never_hides_what_was_sent(
    rule: Rule, sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert rule.holds(sent, meant) or not rule.holds(sent)
