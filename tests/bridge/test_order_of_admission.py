"""Nothing slow stands between a call and its refusal."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, field_validator
from tests.conftest import World

from coilclaw.policy import Autonomy, Rule
from coilclaw.sdk import Decision, Forbid, Risk, ToolContext, define_tool

judged: list[Any] = []
validated: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    judged.clear()
    validated.clear()


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


class Input(BaseModel):
    text: str = ""

    @field_validator("text")
    @classmethod
    def check(cls, value: str) -> str:
        validated.append(value)
        return value


def _judge(input: Any, ctx: ToolContext) -> None:
    judged.append(input)


def _handle(input: Input, ctx: ToolContext) -> int:
    return 1


write = define_tool(id="test.write", risk="write", input=Input, handler=_handle, classify=_judge)
read = define_tool(id="test.read", risk="read", input=Input, handler=_handle, classify=_judge)
closed = define_tool(id="test.closed", risk="read", input=Input, handler=_handle, classify=_judge, policy="deny")


@pytest.mark.parametrize(
    ("tool", "autonomy", "rules"),
    [
        ("test.write", Autonomy.READONLY, ()),
        ("test.read", Autonomy.FULL, (Rule(tool="test.*", decision=Decision.DENY),)),
        ("test.closed", Autonomy.FULL, ()),
    ],
)
def test_policy_denies_before_a_tool_s_own_code_runs(
    world: World, tool: str, autonomy: Autonomy, rules: tuple[Rule, ...]
) -> None:
    world.autonomy, world.rules = autonomy, rules
    answer = json.loads(world.bridge(write, read, closed).call(tool, b'{"text":"a"}', 1))
    assert answer["code"] == "denied"
    assert (judged, validated) == ([], [])
    assert world.types() == ["tool.call.requested", "tool.call.denied"]


def test_a_rule_about_arguments_denies_before_the_tool_judges_the_call(world: World) -> None:
    world.rules = (Rule(tool="test.read", decision=Decision.DENY, arguments={"text": "a"}),)
    bridge = world.bridge(read)
    assert json.loads(bridge.call("test.read", b'{"text":"a"}', 1))["code"] == "denied"
    assert judged == []
    assert json.loads(bridge.call("test.read", b'{"text":"b"}', 1))["ok"]
    assert len(judged) == 1


def test_a_denial_that_depends_on_the_risk_waits_for_the_judgement(world: World) -> None:
    """A rule about reads says nothing about a call that the tool raises to a write."""

    @define_tool(id="test.raised", risk="read", classify=lambda input, ctx: Risk.WRITE)
    def raised(ctx: ToolContext) -> int:
        return 1

    world.rules = (Rule(tool="test.raised", decision=Decision.DENY, risk=Risk.READ),)
    assert json.loads(world.bridge(raised).call("test.raised", b"{}", 1))["ok"]


def test_a_call_without_room_is_refused_before_the_tool_judges_it(world: World) -> None:
    from coilclaw.sandbox import Limits

    bridge = world.bridge(read, limits=Limits(kept_bytes=1000))
    assert json.loads(bridge.call("test.read", b"{}", 1))["code"] == "evidence_budget"
    assert judged == []


def test_a_classifier_that_hangs_is_a_denial_of_its_own(world: World, released: threading.Event) -> None:
    ended: list[Any] = []

    def hang(input: Any, ctx: ToolContext) -> None:
        released.wait(30)
        ended.append(input)

    @define_tool(id="test.hang", risk="read", classify=hang)
    def tool(ctx: ToolContext) -> int:
        return 1

    answer = json.loads(world.bridge(tool, seconds=600).call("test.hang", b"{}", 1))
    assert answer["code"] == "classify_timeout"
    assert ended == [], "nobody waited for its end"
    assert world.types() == ["tool.call.requested", "tool.call.denied"]
    assert world.log.latest(1)[0].payload["code"] == "classify_timeout"


@pytest.mark.parametrize("proven", [False, True], ids=["new", "proven quick"])
def test_a_classifier_that_never_returns_does_not_hold_up_the_end_of_the_run(
    world: World, released: threading.Event, proven: bool
) -> None:
    ended: list[Any] = []

    def slow_at_last(input: Any, ctx: ToolContext) -> None:
        if input.hang:
            released.wait(60)
            ended.append(input)

    @define_tool(id="test.hang", risk="read", classify=slow_at_last)
    def tool(ctx: ToolContext, hang: bool = False) -> int:
        return 1

    quick = "for _ in range(5): t.test.hang()\n" if proven else ""
    report = world.run(f"t = tools\n{quick}while True: t.test.hang(hang=True)", tool, seconds=1.5)
    assert report.status == "timed_out"
    assert ended == [], "nobody waited for its end"


def test_large_arguments_are_judged_where_the_judge_can_be_left_alone(world: World) -> None:
    places: list[int] = []

    def judge(input: Any, ctx: ToolContext) -> None:
        places.append(threading.get_ident())

    @define_tool(id="test.judged", risk="read", classify=judge)
    def tool(ctx: ToolContext, text: str) -> int:
        return 1

    bridge = world.bridge(tool)
    for _ in range(10):
        bridge.call("test.judged", b'{"text":"a"}', 1)
    assert threading.get_ident() in places
    del places[:]
    bridge.call("test.judged", json.dumps({"text": "a" * 10_000}).encode(), 1)
    assert threading.get_ident() not in places


def test_forbidding_still_works_after_all_that(world: World) -> None:
    @define_tool(id="test.no", risk="read", classify=lambda input, ctx: Forbid(reason="never"))
    def tool(ctx: ToolContext) -> int:
        return 1

    answer = json.loads(world.bridge(tool).call("test.no", b"{}", 1))
    assert (answer["code"], answer["message"]) == ("denied", "never")
    assert "operator" not in answer["hint"]


def test_a_tool_that_forbids_a_call_says_what_to_do_instead(world: World) -> None:
    @define_tool(id="test.no", risk="read", classify=lambda input, ctx: Forbid(reason="never", hint="use test.yes"))
    def tool(ctx: ToolContext) -> int:
        return 1

    answer = json.loads(world.bridge(tool).call("test.no", b"{}", 1))
    assert (answer["code"], answer["message"], answer["hint"]) == ("denied", "never", "use test.yes")
