"""Decisions that depend on arguments and channels, their explanation, and a policy's digest."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from coilclaw.policy import Autonomy, Example, Policy, Rule, problem_with_example
from coilclaw.sdk import Decision, Forbid, Risk, Tool, ToolContext, define_tool


def tool(id: str = "mail.send", risk: str = "read", **more: Any) -> Tool:
    def handler(ctx: ToolContext, to: list[str] | str = "", amount: int = 500) -> None:
        return None

    return define_tool(id=id, risk=Risk(risk), handler=handler, **more)


def rule(decision: str, arguments: dict[str, Any] | None = None, tool: str = "mail.*", **more: Any) -> Rule:
    return Rule(tool=tool, decision=Decision(decision), arguments=arguments or {}, **more)


EVIL = rule("deny", {"to.*": {"matches": "*@evil.org"}}, reason="they are evil")
MUCH = rule("ask", {"amount": {"above": 100}})


@pytest.mark.req("R31")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"to": ["a@evil.org"], "amount": 1}, "deny"),
        ({"to": ["a@x.org"], "amount": 101}, "ask"),
        ({"to": ["a@x.org", "b@evil.org"], "amount": 101}, "deny"),
        ({"to": "b@evil.org", "amount": 1}, "deny"),
        ({"to": ["a@x.org"], "amount": 1}, "allow"),
        ({"to": ["a@x.org"]}, "ask"),
        ({}, "ask"),
    ],
)
def test_arguments_decide_where_a_rule_asks_about_them(arguments: dict[str, Any], expected: str) -> None:
    mail = tool()
    for rules in ((EVIL, MUCH), (MUCH, EVIL)):
        policy = Policy(Autonomy.FULL, rules)
        verdict = policy.decide(mail, Risk.READ, arguments, input=mail.input(**arguments))
        assert verdict.decision.value == expected
        assert verdict.conditional == ()


def test_the_reason_names_the_rule_and_never_an_argument() -> None:
    policy = Policy(Autonomy.FULL, (MUCH, EVIL))
    verdict = policy.decide(tool(), Risk.READ, {"to": ["hunter2@evil.org"]})
    assert verdict.reason == "rule 2 'mail.*': deny (they are evil)"


def test_a_rule_adds_its_reason_where_a_person_is_asked_anyway() -> None:
    policy = Policy(Autonomy.SUPERVISED, (rule("ask", {"amount": {"above": 100}}, reason="much money"),))
    verdict = policy.decide(tool(risk="write"), Risk.WRITE, {"amount": 101})
    assert verdict.decision is Decision.ASK
    assert "autonomy 'supervised'" in verdict.reason
    assert "much money" in verdict.reason
    assert "much money" not in policy.decide(tool(risk="write"), Risk.WRITE, {"amount": 1}).reason


def test_before_arguments_are_known_the_verdict_says_what_may_come() -> None:
    policy = Policy(Autonomy.FULL, (EVIL, MUCH, rule("allow", {"to": "x"}), rule("deny", {"to": "x"}, tool="other.*")))
    verdict = policy.decide(tool(), Risk.READ)
    assert verdict.decision is Decision.ALLOW
    assert [each.number for each in verdict.conditional] == [1, 2]
    assert verdict.strictest is Decision.DENY
    assert str(verdict) == "allow (asks or denied for some arguments)"
    assert str(Policy(Autonomy.FULL, (MUCH,)).decide(tool(), Risk.READ)) == "allow (asks for some arguments)"


def test_what_cannot_become_stricter_is_not_conditional() -> None:
    asked = Policy(Autonomy.SUPERVISED, (MUCH,)).decide(tool(risk="write"), Risk.WRITE)
    assert (str(asked), asked.conditional) == ("ask", ())
    denied = Policy(Autonomy.READONLY, (EVIL,)).decide(tool(risk="write"), Risk.WRITE)
    assert (str(denied), denied.strictest) == ("deny", Decision.DENY)


def test_no_call_is_decided_by_what_an_earlier_one_sent() -> None:
    policy = Policy(Autonomy.FULL, (EVIL,))
    mail = tool()
    expected = {"a@x.org": "allow", "b@evil.org": "deny"}
    for address in ("a@x.org", "b@evil.org", "a@x.org", "b@evil.org"):
        assert policy.decide(mail, Risk.READ).conditional
        assert policy.decide(mail, Risk.READ, {"to": [address]}).decision.value == expected[address]


def test_only_tools_that_a_constrained_rule_names_need_their_arguments_read() -> None:
    policy = Policy(Autonomy.FULL, (EVIL, rule("deny", tool="files.*"), rule("ask", {"x": 1}, tool="post_*")))
    assert policy.constrained(tool())
    assert not policy.constrained(tool("files.write"))
    assert policy.constrained(tool("letters.send", aliases=["post_letter"]))


@pytest.mark.parametrize("name", ["mail.messages.send", "mail.send", "send_mail", "mail.*.send", "send_*"])
def test_a_rule_names_a_tool_by_any_of_its_names(name: str) -> None:
    mail = tool("mail.messages.send", aliases=["send_mail"])
    assert Policy(Autonomy.FULL, (rule("deny", tool=name),)).decide(mail, Risk.READ).decision is Decision.DENY


def test_a_channel_limits_a_rule_to_where_the_call_comes_from() -> None:
    policy = Policy(Autonomy.FULL, (rule("deny", channels=("telegram", "slack")), rule("ask", channels=("cli",))))
    decided = {name: policy.decide(tool(), Risk.READ, channel=name).decision.value for name in ("slack", "cli", "x")}
    assert decided == {"slack": "deny", "cli": "ask", "x": "allow"}
    assert policy.decide(tool(), Risk.READ).decision is Decision.ASK
    assert policy.decide(tool(), Risk.READ, {}, "telegram").decision is Decision.DENY


def test_an_explanation_has_every_opinion_and_what_decides() -> None:
    rules = (
        rule("ask", {"amount": {"above": 100}, "to": "x"}),
        rule("allow", reason="letters are wanted"),
        rule("deny", risk=Risk.DESTRUCTIVE),
        rule("deny", tool="files.*"),
        rule("deny", channels=("slack",)),
        rule("ask", {"to": {"present": True}}, reason="who is it"),
    )
    mail = tool(risk="write", policy="allow")
    explanation = Policy(Autonomy.FULL, rules).explain(mail, Risk.WRITE, {"to": ["a"], "amount": 5})
    told = {each.source: (each.decision and each.decision.value, each.applied) for each in explanation.opinions}
    assert told == {
        "autonomy": ("allow", "yes"),
        "contract": ("allow", "yes"),
        "classification": (None, "no"),
        "rule 1": ("ask", "no"),
        "rule 2": ("allow", "yes"),
        "rule 3": ("deny", "no"),
        "rule 4": ("deny", "no"),
        "rule 5": ("deny", "no"),
        "rule 6": ("ask", "yes"),
    }
    why = {each.source: each.why for each in explanation.opinions}
    assert why["rule 1"] == "'mail.*': amount is 5; demanded: above 100"
    assert "loosens nothing" in why["rule 2"]
    assert "risk 'destructive'" in why["rule 3"]
    assert "does not name" in why["rule 4"]
    assert "channel 'slack', not 'cli'" in why["rule 5"]
    assert "who is it" in why["rule 6"]
    assert [each.source for each in explanation.opinions if each.decides] == ["rule 6"]
    assert explanation.verdict.decision is Decision.ASK


def test_an_explanation_without_arguments_says_what_depends_on_them() -> None:
    explanation = Policy(Autonomy.FULL, (MUCH,)).explain(tool(classify=lambda i, c: None), Risk.READ)
    told = {each.source: each.applied for each in explanation.opinions}
    assert told == {"autonomy": "yes", "contract": "no", "classification": "depends", "rule 1": "depends"}
    assert explanation.opinions[-1].why == "'mail.*', if amount: above 100"


def test_an_explanation_tells_what_the_classification_did() -> None:
    judged = tool(classify=lambda i, c: None)
    policy = Policy(Autonomy.SUPERVISED)
    raised = policy.explain(judged, Risk.DESTRUCTIVE, {})
    assert raised.risk is Risk.DESTRUCTIVE
    assert "from 'read' to 'destructive'" in raised.opinions[2].why
    assert raised.verdict.decision is Decision.ASK
    forbidden = policy.explain(judged, Forbid(reason="outside the workspace"), {})
    assert [each.source for each in forbidden.opinions if each.decides] == ["classification"]
    assert forbidden.verdict.decision is Decision.DENY
    assert "outside the workspace" in forbidden.verdict.reason


def test_the_digest_means_what_the_policy_says_and_not_how_it_is_written() -> None:
    one = rule("deny", {"to": "x"}, channels=("a", "b"))
    same = rule("deny", {"to": {"equals": "x"}}, channels=("b", "a"))
    digest = Policy(Autonomy.FULL, (one, MUCH)).digest
    assert digest == Policy(Autonomy.FULL, (MUCH, same)).digest == Policy(Autonomy.FULL, (MUCH, same, one)).digest
    assert digest.startswith("sha256:")
    others = [
        Policy(Autonomy.READONLY, (one, MUCH)),
        Policy(Autonomy.FULL, (one,)),
        Policy(Autonomy.FULL, (rule("ask", {"to": "x"}, channels=("a", "b")), MUCH)),
        Policy(Autonomy.FULL, (rule("deny", {"to": "y"}, channels=("a", "b")), MUCH)),
        Policy(Autonomy.FULL, (rule("deny", {"to": "x"}, channels=("a",)), MUCH)),
        Policy(Autonomy.FULL, (rule("deny", {"to": "x"}), MUCH)),
        Policy(Autonomy.FULL, (rule("deny", {"to": "x"}, channels=("a", "b"), risk=Risk.READ), MUCH)),
        Policy(Autonomy.FULL, (rule("deny", {"to": "x"}, channels=("a", "b"), tool="mail.send"), MUCH)),
    ]
    assert len({digest, *(each.digest for each in others)}) == len(others) + 1


def test_the_digest_is_the_same_in_every_process() -> None:
    fixed = "sha256:6e219b14d02aeb131f5db8520ced1205eff54f1daccdf1313e7564d2e2d8941e"
    assert Policy(Autonomy.FULL, (EVIL, MUCH)).digest == fixed


def test_an_example_is_tried_as_a_call_would_be() -> None:
    send = rule("deny", {"to.*": {"matches": "*@evil.org"}}, risk=Risk.WRITE, channels=("slack",))
    evil = Example(tool="mail.send", arguments={"to": ["a@evil.org"]})
    assert problem_with_example(send, evil, applies=True) is None
    assert problem_with_example(send, evil, applies=False) is not None
    for other in (
        Example(tool="files.write", arguments=evil.arguments),
        Example(tool="mail.send", arguments={"to": ["a@x.org"]}),
        Example(tool="mail.send"),
        Example(tool="mail.send", arguments=evil.arguments, risk=Risk.READ),
        Example(tool="mail.send", arguments=evil.arguments, channel="cli"),
    ):
        assert problem_with_example(send, other, applies=False) is None
        assert problem_with_example(send, other, applies=True) is not None


def test_a_model_that_hides_a_field_does_not_hide_it_from_rules() -> None:
    class Hidden(BaseModel):
        amount: int = 500

        def model_dump(self, **options: Any) -> dict[str, Any]:
            return {}

    def handler(input: Any, ctx: ToolContext) -> None:
        return None

    quiet = define_tool(id="mail.pay", risk="read", input=Hidden, handler=handler)
    assert Policy(Autonomy.FULL, (MUCH,)).decide(quiet, Risk.READ, {}, input=Hidden()).decision is Decision.ASK


def test_what_a_contract_says_is_not_remembered_for_another_of_the_same_name() -> None:
    """An edited tool keeps its name: what was decided about it before must not decide about it now."""
    policy = Policy(Autonomy.FULL)
    lenient, strict = tool(), tool(policy="deny")
    for _ in range(2):
        assert policy.decide(lenient, Risk.READ).decision is Decision.ALLOW
        assert policy.decide(strict, Risk.READ).decision is Decision.DENY
