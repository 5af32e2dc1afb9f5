"""What a person was shown is what runs: a call whose arguments stand for something else by now is asked about again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World
from tests.runs.test_waiting import Waiting

from coilclaw.bridge import Bridge, PriorCall
from coilclaw.integrations.shell import run as shell
from coilclaw.policy import Answer, Autonomy, Question
from coilclaw.receipts import digest
from coilclaw.runs import ApprovedPlan
from coilclaw.sandbox import Limits, RunEnded, Snippet, Suspended
from coilclaw.sdk import Bounds, Judged, ToolContext, ToolFailure, define_tool
from coilclaw.store import Database

CLEAR = "r = tools.shelf.clear()\nr.value if r.ok else r.error.code"


def on_shelf(workspace: Path) -> str:
    return json.dumps(sorted(each.name for each in workspace.glob("shelf/*")))


@define_tool(id="shelf.clear", risk="write", idempotent=True, classify=lambda input, ctx: judged(ctx))
def clear(ctx: ToolContext) -> str:
    """Every execution shows what it was told to clear."""
    if ctx.judged != on_shelf(ctx.workspace):
        raise ToolFailure("the shelf has changed", code="shelf_changed")
    with (ctx.workspace / "ledger").open("a") as handle:
        handle.write(f"{ctx.judged}\n")
    return str(ctx.judged)


def judged(ctx: ToolContext) -> Judged:
    assert ctx.judged is None, "only a handler is told"
    return Judged(risk="write", runs=on_shelf(ctx.workspace))


@pytest.fixture
def waiting(world: World, database: Database) -> Waiting:
    (world.workspace / "shelf").mkdir()
    put(world.workspace, "a")
    return Waiting(world, database)


def put(workspace: Path, name: str) -> None:
    (workspace / "shelf" / name).write_text("")


class Meanwhile:
    """Says yes, after the folder has changed."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.asked: list[Question] = []

    def decide(self, question: Question) -> Answer:
        self.asked.append(question)
        self.file.write_text("new\n")
        return Answer(decision="allow-once", decided_by="me")


def test_the_same_is_executed_once_and_its_hash_is_in_every_receipt_of_the_decision(waiting: Waiting) -> None:
    report = waiting.run(CLEAR, clear)
    waiting.approve_all(report.run_id)
    report = waiting.resume(report.run_id, clear)
    assert (report.status, report.value) == ("completed", '["a"]'), report.error
    assert waiting.lines() == ['["a"]']
    (asked,) = waiting.book.list("consumed")
    receipts = waiting.world.log.of_run(report.run_id)
    told = {each.type: each.payload["runs_hash"] for each in receipts if "runs_hash" in each.payload}
    assert told == dict.fromkeys(("tool.call.pending", "tool.call.approved"), digest(b'["a"]'))
    assert asked.runs_hash == digest(b'["a"]')
    assert waiting.world.log.contents(digest(b'["a"]')) == b'["a"]'
    replayed = waiting.runtime.replay(report.run_id, lambda name: waiting.world.engine, waiting.world.registry(clear))
    assert replayed.identical


def test_something_else_is_asked_about_again_and_the_old_yes_is_void(waiting: Waiting) -> None:
    report = waiting.run(CLEAR, clear)
    waiting.approve_all(report.run_id)
    put(waiting.world.workspace, "b")
    report = waiting.resume(report.run_id, clear)
    assert report.status == "suspended", "asked again"
    assert waiting.lines() == []
    assert [each.status for each in waiting.book.list("pending", "expired", "granted")] == ["expired", "pending"]
    (waiting.world.workspace / "shelf/b").unlink()
    report = waiting.resume(report.run_id, clear)
    assert report.status == "suspended", "a yes that is void does not come back"
    assert waiting.to_the_end(report, clear).value == '["a"]'
    assert waiting.lines() == ['["a"]']


def test_a_row_that_was_changed_to_what_runs_now_is_no_yes(waiting: Waiting) -> None:
    report = waiting.run(CLEAR, clear)
    waiting.approve_all(report.run_id)
    put(waiting.world.workspace, "b")
    now = digest(on_shelf(waiting.world.workspace).encode())
    with waiting.database.transaction() as connection:
        connection.execute("UPDATE approvals SET runs_hash = ?", (now,))
    report = waiting.resume(report.run_id, clear)
    assert (report.value, waiting.lines()) == ("approval_unproven", [])


def test_a_no_holds_whatever_the_call_stands_for(waiting: Waiting) -> None:
    report = waiting.run(CLEAR, clear)
    (asked,) = waiting.book.list("pending")
    waiting.book.decide(asked.id, approved=False, decided_by="me")
    put(waiting.world.workspace, "b")
    assert waiting.resume(report.run_id, clear).value == "approval_denied"
    assert waiting.lines() == []


def test_a_window_is_for_a_kind_of_call_and_says_what_it_let_through(waiting: Waiting) -> None:
    waiting.world.open_window(waiting.book, clear)
    first = waiting.run(CLEAR, clear)
    put(waiting.world.workspace, "b")
    second = waiting.run(CLEAR, clear)
    assert (first.value, second.value) == ('["a"]', '["a", "b"]')
    receipts = waiting.world.log.of_run(second.run_id)
    (let_through,) = [each for each in receipts if each.type == "tool.call.approved"]
    assert let_through.payload["runs_hash"] == digest(b'["a", "b"]')


def test_an_approved_plan_covers_only_what_it_showed(waiting: Waiting) -> None:
    snippet, registry = Snippet(source=CLEAR), waiting.world.registry(clear)
    rehearsal = waiting.runtime.rehearse(snippet, waiting.world.engine, registry, Limits())
    (call,) = rehearsal.plan.questions
    assert (call.runs, call.runs_hash) == ('["a"]', digest(b'["a"]'))
    again = waiting.runtime.rehearse(snippet, waiting.world.engine, registry, Limits())
    put(waiting.world.workspace, "b")
    planned = ApprovedPlan(rehearsal.plan, "ada")
    report = waiting.runtime.run(snippet, waiting.world.engine, registry, Limits(), planned=planned)
    assert (report.status, waiting.lines()) == ("suspended", [])
    (waiting.world.workspace / "shelf/b").unlink()
    planned = ApprovedPlan(again.plan, "ada")
    report = waiting.runtime.run(snippet, waiting.world.engine, registry, Limits(), planned=planned)
    assert (report.value, waiting.lines()) == ('["a"]', ['["a"]'])


@pytest.mark.parametrize("unknown", [None, "retry"])
def test_a_call_that_may_have_run_is_asked_about_before_it_is_repeated(waiting: Waiting, unknown: str | None) -> None:
    world = waiting.world
    known = world.registry(clear).resolve("shelf.clear")
    assert known is not None
    prior = PriorCall(1, "shelf.clear", known.version, digest(b"{}"), "started")
    policy = world.services().policy.digest
    bridge = Bridge(world.services(), world.spec(clear, prior={1: prior}, unknown=unknown, policy_hash=policy))
    with pytest.raises(RunEnded) as ended:
        bridge.call("shelf.clear", b"{}", 1)
    bridge.close()
    assert isinstance(ended.value.outcome, Suspended)
    assert waiting.lines() == []
    (asked,) = waiting.book.list("pending")
    assert asked.runs_hash == digest(b'["a"]')


@pytest.mark.parametrize("autonomy", [Autonomy.SUPERVISED, Autonomy.FULL])
def test_a_command_whose_patterns_match_something_else_meanwhile_is_not_run(world: World, autonomy: Autonomy) -> None:
    world.autonomy = autonomy
    world.options["bounds"] = Bounds(shell_allow=("cat",), autonomy=autonomy.value)
    (world.workspace / "a.txt").write_text("a\n")
    world.approver = asked = Meanwhile(world.workspace / "b.txt")
    answers = [_cat(world), _cat(world)]
    if autonomy is Autonomy.FULL:
        assert [each["value"]["stdout"] for each in answers] == ["a\n", "a\n"]
        return
    assert [each.runs for each in asked.asked] == ['[["cat", "a.txt"]]', '[["cat", "a.txt", "b.txt"]]']
    assert (answers[0]["ok"], answers[0]["code"]) == (False, "command_changed")
    assert answers[1]["value"]["stdout"] == "a\nnew\n"


def _cat(world: World) -> dict[str, Any]:
    bridge = world.bridge(shell)
    answer: dict[str, Any] = json.loads(bridge.call("shell.run", b'{"command":"cat *.txt"}', 1))
    bridge.close()
    return answer


def test_secrets_in_what_runs_are_shown_and_kept_by_name(world: World) -> None:
    secret = 'pass"word\\1'
    ran: list[str | None] = []

    @define_tool(
        id="shelf.login",
        risk="write",
        secrets=["KEY"],
        classify=lambda input, ctx: Judged(risk="write", runs=json.dumps(["login", ctx.secrets["KEY"]])),
    )
    def login(ctx: ToolContext) -> None:
        ran.append(ctx.judged)

    world.secrets["KEY"] = secret
    world.autonomy = Autonomy.SUPERVISED
    world.approver = asked = Meanwhile(world.workspace / "x")
    bridge = world.bridge(login)
    assert json.loads(bridge.call("shelf.login", b"{}", 1))["ok"]
    bridge.close()
    assert [each.runs for each in asked.asked] == ['["login", "[secret KEY]"]']
    assert ran == [json.dumps(["login", secret])]


def test_what_runs_counts_towards_what_a_run_may_leave_behind(world: World) -> None:
    made: list[int] = []

    @define_tool(id="shelf.much", risk="write", classify=lambda input, ctx: Judged(risk="write", runs="x" * 200_000))
    def much(ctx: ToolContext) -> None:
        made.append(1)

    world.options["response_bytes"] = 1000
    bridge = world.bridge(much, limits=Limits(kept_bytes=100_000))
    assert json.loads(bridge.call("shelf.much", b"{}", 1))["code"] == "evidence_budget"
    bridge.close()
    assert made == []
