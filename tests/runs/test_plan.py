"""Rehearsals, plans, and what a yes to a plan allows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field
from tests.conftest import World
from tests.runs.journaled import JournaledWorld

from coilclaw.policy import Answer, Autonomy, NobodyToAsk, Question, Rule
from coilclaw.receipts import digest
from coilclaw.runs import ApprovedPlan, NoSuchRun, PlanNotUsable, Rehearsal, RunReport
from coilclaw.runs.sample_value import stand_in
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sdk import Decision, Forbid, Risk, Tool, ToolContext, ToolFailure, define_tool
from coilclaw.store import Database


class Made(BaseModel):
    id: int = Field(ge=1)
    name: str


@define_tool(id="shop.order", risk="write")
def order(ctx: ToolContext, what: str) -> Made:
    """Every execution shows."""
    with (ctx.workspace / "orders").open("a") as handle:
        handle.write(f"{what}\n")
    return Made(id=77, name=what)


@define_tool(id="shop.cancel", risk="destructive")
def cancel(ctx: ToolContext, id: int) -> bool:
    with (ctx.workspace / "orders").open("a") as handle:
        handle.write(f"cancel {id}\n")
    return True


@define_tool(id="shop.stock", risk="read")
def stock(ctx: ToolContext, what: str = "tea") -> int:
    with (ctx.workspace / "looks").open("a") as handle:
        handle.write(f"{what}\n")
    return 5


TOOLS: tuple[Tool, ...] = (order, cancel, stock)


class Shop(JournaledWorld):
    """Every order waits for a person."""

    def __init__(self, world: World, database: Database) -> None:
        super().__init__(world, database)
        world.autonomy = Autonomy.SUPERVISED

    def rehearse(self, source: str, *tools: Tool) -> Rehearsal:
        registry = self.world.registry(*(tools or TOOLS))
        return self.runtime.rehearse(Snippet(source=source), self.world.engine, registry, Limits())

    def run(self, source: str, planned: ApprovedPlan | None, *tools: Tool, **limits: Any) -> RunReport:
        registry = self.world.registry(*(tools or TOOLS))
        snippet = Snippet(source=source)
        return self.runtime.run(snippet, self.world.engine, registry, Limits(**limits), planned=planned)

    def approved(self, source: str, *tools: Tool) -> ApprovedPlan:
        return ApprovedPlan(self.rehearse(source, *tools).plan, "ada")

    def trail(self, run_id: str) -> list[str]:
        return [
            f"{each.type.removeprefix('tool.call.')} {each.tool or ''} {each.payload.get('code', '')}".strip()
            for each in self.world.log.of_run(run_id)
        ]


@pytest.fixture
def shop(world: World, database: Database) -> Shop:
    return Shop(world, database)


class NobodyMayAsk:
    def decide(self, question: Question) -> Answer:
        raise AssertionError("a rehearsal asks nobody")


# The rehearsal -----------------------------------------------------------------------------------------


def test_a_rehearsal_reads_and_answers_the_rest_with_made_up_values(shop: Shop) -> None:
    shop.world.approver = NobodyMayAsk()
    source = """
n = tools.shop.stock().unwrap()
made = tools.shop.order(what=f"{n} tea").unwrap()
gone = tools.shop.cancel.start(id=made["id"]).result()
[n, made, gone.unwrap()]
"""
    rehearsal = shop.rehearse(source)
    assert rehearsal.report.status == "completed", rehearsal.report.error
    assert rehearsal.report.value == [5, {"id": 1, "name": "stub"}, False]
    assert shop.lines("orders") == []
    assert shop.lines("looks") == ["tea"]
    rows = [(c.number, c.line, c.tool, c.verdict, c.stubbed, c.outcome) for c in rehearsal.plan.calls]
    assert rows == [
        (1, 2, "shop.stock", "allow", False, "succeeded"),
        (2, 3, "shop.order", "ask", True, "stubbed"),
        (3, 4, "shop.cancel", "ask", True, "stubbed"),
    ]
    assert [json.loads(c.arguments) for c in rehearsal.plan.calls] == [{}, {"what": "5 tea"}, {"id": 1}]
    assert [c.risk for c in rehearsal.plan.calls] == [Risk.READ, Risk.WRITE, Risk.DESTRUCTIVE]
    assert shop.trail(rehearsal.report.run_id) == [
        "run.started",
        "requested shop.stock",
        "started shop.stock",
        "succeeded shop.stock",
        "requested shop.order",
        "denied shop.order dry_run",
        "requested shop.cancel",
        "denied shop.cancel dry_run",
        "run.finished",
    ]
    assert shop.world.log.of_run(rehearsal.report.run_id)[0].payload["rehearsal"] is True
    assert shop.book.list("pending") == []
    assert shop.world.log.verify().ok


def test_a_rehearsal_cannot_be_resumed_or_replayed(shop: Shop) -> None:
    rehearsal = shop.rehearse("tools.shop.order(what='x')")
    registry = shop.world.registry(*TOOLS)
    for way in (shop.runtime.resume, shop.runtime.replay):
        with pytest.raises(NoSuchRun):
            way(rehearsal.report.run_id, lambda name: shop.world.engine, registry)


def test_an_open_window_is_not_used_up_by_a_rehearsal(shop: Shop) -> None:
    shop.world.open_window(shop.book, order, uses=1)
    shop.rehearse("tools.shop.order(what='x')")
    assert shop.lines("orders") == []
    assert shop.run("tools.shop.order(what='x').unwrap()['id']", None).value == 77


def test_what_would_be_allowed_is_not_made_either(shop: Shop) -> None:
    shop.world.autonomy = Autonomy.FULL
    rehearsal = shop.rehearse("tools.shop.order(what='x')")
    assert [(c.verdict, c.stubbed) for c in rehearsal.plan.calls] == [("allow", True)]
    assert rehearsal.plan.questions == ()
    assert shop.lines("orders") == []


def test_a_read_that_asks_is_not_made(shop: Shop) -> None:
    shop.world.rules = (Rule(tool="shop.stock", decision=Decision.ASK),)
    rehearsal = shop.rehearse("tools.shop.stock().unwrap()")
    assert rehearsal.report.value == 0
    assert [(c.verdict, c.stubbed) for c in rehearsal.plan.calls] == [("ask", True)]
    assert shop.lines("looks") == []


def test_a_read_whose_call_is_judged_to_be_more_is_not_made(shop: Shop) -> None:
    @define_tool(id="shop.shell", risk="read", classify=lambda input, ctx: judged[input.command])
    def shell(ctx: ToolContext, command: str) -> str:
        with (ctx.workspace / "orders").open("a") as handle:
            handle.write(command)
        return "done"

    judged: dict[str, Any] = {"ls": None, "rm": "destructive", "dd": Forbid(reason="never")}
    rehearsal = shop.rehearse("[tools.shop.shell(command=c).ok for c in ('rm', 'dd')]", shell)
    assert rehearsal.report.value == [True, False]
    assert shop.lines("orders") == []
    assert [(c.risk, c.verdict, c.outcome) for c in rehearsal.plan.calls] == [
        (Risk.DESTRUCTIVE, "ask", "stubbed"),
        (Risk.READ, "deny", "denied"),
    ]


def test_what_never_comes_to_a_decision_is_in_the_plan_too(shop: Shop) -> None:
    rehearsal = shop.rehearse(
        "name = 'order'\n[getattr(tools.shop, name)(what=5).ok, getattr(tools.shop, 'odrer')().ok]"
    )
    assert rehearsal.report.value == [False, False]
    assert [(c.tool, c.verdict, c.stubbed, c.outcome) for c in rehearsal.plan.calls] == [
        ("shop.order", None, False, "invalid_input"),
        ("shop.odrer", None, False, "unknown_tool"),
    ]


def test_a_tool_cannot_pass_for_a_call_that_was_not_made(shop: Shop) -> None:
    @define_tool(id="shop.sly", risk="read")
    def sly(ctx: ToolContext) -> int:
        raise ToolFailure("no", code="dry_run")

    (call,) = shop.rehearse("tools.shop.sly()", sly).plan.calls
    assert (call.stubbed, call.verdict, call.outcome) == (False, "allow", "tool_dry_run")


def test_a_snippet_that_fails_on_a_made_up_value_still_has_a_plan(shop: Shop) -> None:
    rehearsal = shop.rehearse("made = tools.shop.order(what='x').unwrap()\n1 / (made['id'] - 1)")
    assert rehearsal.report.status == "failed"
    assert len(rehearsal.plan.calls) == 1


def test_a_made_up_answer_is_kept_out_of_the_receipts(shop: Shop) -> None:
    rehearsal = shop.rehearse("tools.shop.order(what='x')")
    assert all(each.result_hash is None for each in shop.world.log.of_run(rehearsal.report.run_id))
    assert shop.world.log.contents(digest(stand_in(order))) is None


# The yes -----------------------------------------------------------------------------------------------

LUCK = """
import random, time, uuid
a = tools.shop.order(what=f"{random.random()} {time.time_ns()} {uuid.uuid4()}").unwrap()
b = tools.shop.order.start(what="b").result().unwrap()
print(random.random())
[a["id"], b["id"]]
"""


def test_a_yes_allows_the_calls_of_the_plan_also_if_chance_and_time_are_in_them(shop: Shop) -> None:
    rehearsal = shop.rehearse(LUCK)
    report = shop.run(LUCK, ApprovedPlan(rehearsal.plan, "ada"))
    assert (report.status, report.value) == ("completed", [77, 77]), report.error
    assert shop.lines("orders")[0] == json.loads(rehearsal.plan.calls[0].arguments)["what"]
    assert report.stdout == rehearsal.report.stdout
    approved = [each for each in shop.world.log.of_run(report.run_id) if each.type == "tool.call.approved"]
    assert [each.payload["decided_by"] for each in approved] == [f"ada (plan of {rehearsal.report.run_id})"] * 2
    assert [each.payload["decision"] for each in approved] == ["allow-once"] * 2
    assert [each.payload["scope"] for each in approved] == ["plan"] * 2
    registry = shop.world.registry(*TOOLS)
    assert shop.runtime.replay(report.run_id, lambda name: shop.world.engine, registry).identical


def test_the_time_a_person_took_to_read_the_plan_does_not_pass_inside_the_run(shop: Shop) -> None:
    source = """
import time
began = time.monotonic(), time.time()
tools.shop.order(what=str(began))
[time.monotonic() - began[0] < 60, time.time() - began[1] < 60]
"""
    plan = shop.rehearse(source).plan
    earlier = replace(plan.header, clock=plan.header.clock - 3600 * 10**9)
    report = shop.run(source, ApprovedPlan(replace(plan, header=earlier), "ada"))
    assert report.status == "suspended", "an hour earlier, the call is another"
    source = source.replace("str(began)", "'x'")
    plan = shop.rehearse(source).plan
    earlier = replace(plan.header, clock=plan.header.clock - 3600 * 10**9)
    assert shop.run(source, ApprovedPlan(replace(plan, header=earlier), "ada")).value == [True, True]


def test_a_call_that_differs_because_a_value_was_made_up_is_asked_about(shop: Shop) -> None:
    source = "made = tools.shop.order(what='tea').unwrap()\ntools.shop.cancel(id=made['id'])"
    report = shop.run(source, shop.approved(source))
    assert report.status == "suspended"
    assert shop.lines("orders") == ["tea"]
    (question,) = shop.book.list("pending")
    assert (question.tool, question.number) == ("shop.cancel", 2)
    assert json.loads(shop.world.log.contents(question.args_hash) or b"") == {"id": 77}


def test_a_snippet_that_hides_its_intent_from_the_rehearsal_is_asked(shop: Shop) -> None:
    source = """
made = tools.shop.order(what="tea").unwrap()
if made["name"] != "stub":
    tools.shop.cancel(id=1)
else:
    tools.shop.order(what="harmless")
"""
    report = shop.run(source, shop.approved(source))
    assert report.status == "suspended"
    assert shop.lines("orders") == ["tea"]
    assert [each.tool for each in shop.book.list("pending")] == ["shop.cancel"]


def test_one_call_more_of_the_same_is_asked_about(shop: Shop) -> None:
    source = "n = 1\nwhile n < 3:\n    n += 1 if tools.shop.order(what='x').unwrap()['id'] == 77 else 2"
    planned = shop.approved(source)
    report = shop.run(source, planned)
    assert report.status == "suspended"
    assert shop.lines("orders") == ["x"]


def test_a_plan_is_carried_out_once(shop: Shop) -> None:
    source = "tools.shop.order(what='x').unwrap()['id']"
    planned = shop.approved(source)
    assert shop.run(source, planned).value == 77
    with pytest.raises(PlanNotUsable, match="already"):
        shop.run(source, planned)
    assert shop.lines("orders") == ["x"]
    assert shop.run(source, None).status == "suspended", "nor does it leave anything open"


def test_a_plan_that_was_not_begun_answers_nothing(shop: Shop) -> None:
    source = "tools.shop.order(what='x')"
    shop.approved(source)
    assert shop.run(source, None).status == "suspended"


@pytest.mark.parametrize("other", ["tools.shop.order(what='x')  ", "tools.shop.order(what='y')", "1"])
def test_a_plan_is_for_one_snippet(shop: Shop, other: str) -> None:
    planned = shop.approved("tools.shop.order(what='x')")
    with pytest.raises(PlanNotUsable, match="another snippet"):
        shop.run(other, planned)
    assert shop.lines("orders") == []


def test_a_plan_is_for_one_policy_and_one_set_of_limits(shop: Shop) -> None:
    source = "tools.shop.order(what='x')"
    with pytest.raises(PlanNotUsable):
        shop.run(source, shop.approved(source), calls=7)
    planned = shop.approved(source)
    shop.world.rules = (Rule(tool="other.*", decision=Decision.DENY),)
    with pytest.raises(PlanNotUsable):
        shop.run(source, planned)
    assert shop.lines("orders") == []


def test_a_tool_that_changed_since_the_rehearsal_is_asked_about(shop: Shop) -> None:
    @define_tool(id="shop.order", risk="write", timeout=7)
    def other(ctx: ToolContext, what: str) -> Made:
        (ctx.workspace / "orders").write_text("the other one")
        return Made(id=1, name="")

    source = "tools.shop.order(what='x')"
    report = shop.run(source, shop.approved(source), other)
    assert report.status == "suspended"
    assert shop.lines("orders") == []


def test_what_policy_denies_stays_denied(shop: Shop) -> None:
    shop.world.rules = (Rule(tool="shop.cancel", decision=Decision.DENY),)
    source = "f = getattr(tools.shop, 'cancel')\nf(id=1).error.code"
    rehearsal = shop.rehearse(source)
    assert rehearsal.plan.questions == ()
    assert shop.run(source, ApprovedPlan(rehearsal.plan, "ada")).value == "denied"


def question_of(planned: ApprovedPlan, rehearsal: Rehearsal) -> Question:
    (call,) = rehearsal.plan.questions
    return Question(
        run_id=planned.beginning.run_id,
        call_id="call-1",
        number=call.number,
        tool=call.tool,
        tool_version=str(call.tool_version),
        risk=Risk.WRITE,
        reason="",
        arguments=call.arguments,
        line=None,
        policy_hash=rehearsal.plan.header.policy_hash,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"run_id": "run-other"},
        {"number": 2},
        {"number": 0},
        {"tool": "shop.cancel"},
        {"tool_version": "sha256:0"},
        {"risk": Risk.DESTRUCTIVE},
        {"arguments": '{"what": "x"}'},
        {"arguments": '{"what":"y"}'},
        {"policy_hash": ""},
        {"runs": ""},
    ],
    ids=lambda change: "-".join(f"{key} {value}" for key, value in change.items()),
)
def test_anything_but_the_very_call_is_not_answered(shop: Shop, change: dict[str, Any]) -> None:
    rehearsal = shop.rehearse("tools.shop.order(what='x')")
    planned = ApprovedPlan(rehearsal.plan, "ada")
    question = question_of(planned, rehearsal)
    assert planned.answer(question) is None, "before the run has begun"
    planned.claim(rehearsal.plan.header)
    assert planned.answer(replace(question, **change)) is None
    answer = planned.answer(question)
    assert answer is not None
    assert answer.decision == "allow-once"
    assert planned.answer(question) is None, "once"


def test_whoever_is_asked_otherwise_is_asked_about_the_rest(shop: Shop) -> None:
    asked: list[tuple[int, str]] = []

    class Person(NobodyToAsk):
        def decide(self, question: Question) -> Answer:
            asked.append((question.number, question.arguments))
            return Answer(decision="deny", decided_by="ada")

    shop.world.approver = Person()
    source = "made = tools.shop.order(what='tea').unwrap()\ntools.shop.cancel(id=made['id']).error.code"
    report = shop.run(source, shop.approved(source))
    # The rehearsal fails on the stub, which has no error; the real call is not in the plan as it is.
    assert asked == [(2, '{"id":77}')]
    assert report.value == "approval_denied"
