"""Rules about arguments, on the way every call takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import World

from coilclaw.policy import Autonomy, Rule
from coilclaw.sdk import Decision, Tool, ToolContext, define_tool

sent: list[str] = []


def mail(**more: Any) -> Tool:
    def handler(ctx: ToolContext, to: list[str] | str, amount: int = 500) -> None:
        sent.append(str(to))

    return define_tool(id="mail.send", risk="read", handler=handler, **more)


@pytest.fixture
def ruled(world: World) -> World:
    sent.clear()
    world.autonomy = Autonomy.FULL
    world.rules = (
        Rule(tool="mail.*", decision=Decision.DENY, arguments={"to.*": {"matches": "*@evil.org"}}, reason="evil"),
        Rule(tool="mail.*", decision=Decision.ASK, arguments={"amount": {"above": 100}}),
    )
    return world


def call(world: World, tool: Tool, arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(world.bridge(tool).call("mail.send", json.dumps(arguments).encode(), 1))
    return answer


@pytest.mark.req("R31")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"to": ["a@x.org"], "amount": 1}, None),
        ({"to": ["a@x.org", "b@evil.org"], "amount": 1}, "denied"),
        ({"to": "b@evil.org", "amount": 1}, "denied"),
        ([["b@evil.org"], {"amount": 1}], "denied"),
        ([[{"to": "b@evil.org", "amount": 1}], {}], "denied"),
        ({"to": "a@x.org", "amount": 101}, "approval_required"),
        ({"to": "a@x.org"}, "approval_required"),
    ],
    ids=str,
)
def test_a_call_is_decided_by_its_arguments_however_they_are_passed(
    ruled: World, arguments: Any, code: str | None
) -> None:
    answer = json.dumps(call(ruled, mail(), arguments))
    assert (f'"{code}"' in answer) if code else sent
    assert bool(sent) is (code is None)
    assert (ruled.types()[-1] == "tool.call.succeeded") is (code is None)


def test_an_argument_that_holds_a_secret_is_judged_by_what_it_is(ruled: World) -> None:
    ruled.secrets = {"KEY": "b@evil.org"}
    answer = json.dumps(call(ruled, mail(secrets=["KEY"]), {"to": "b@evil.org", "amount": 1}))
    assert '"denied"' in answer
    assert not sent


def test_a_snippet_is_denied_the_call_and_not_the_run(ruled: World) -> None:
    source = "[tools.mail.send(to=to, amount=1).ok for to in ('a@x.org', 'b@evil.org', 'c@x.org')]"
    assert ruled.run(source, mail()).value == [True, False, True]
    assert sent == ["a@x.org", "c@x.org"]
