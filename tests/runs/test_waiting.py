"""Runs that wait for a person, in no process at all, and go on exactly where they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World
from tests.runs.journaled import TOOLS, JournaledWorld, add

from coilclaw.evidence import run_of
from coilclaw.policy import Autonomy
from coilclaw.receipts import Draft, now
from coilclaw.runs import RunReport
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sdk import Tool, ToolContext, define_tool
from coilclaw.store import Database


class Waiting(JournaledWorld):
    """Every write waits for a person."""

    def __init__(self, world: World, database: Database) -> None:
        super().__init__(world, database)
        world.autonomy = Autonomy.SUPERVISED

    def run(self, source: str, *tools: Tool) -> RunReport:
        registry = self.world.registry(*(tools or TOOLS))
        return self.runtime.run(Snippet(source=source), self.world.engine, registry, Limits())

    def resume(self, run_id: str, *tools: Tool, unknown: str | None = None) -> RunReport:
        registry = self.world.registry(*(tools or TOOLS))
        return self.runtime.resume(run_id, lambda name: self.world.engine, registry, unknown=unknown)

    def approve_all(self, run_id: str) -> list[str]:
        open_ones = self.book.list("pending", run_id=run_id)
        for each in open_ones:
            self.book.decide(each.id, approved=True, decided_by="me")
        return [each.tool for each in open_ones]

    def to_the_end(self, report: RunReport, *tools: Tool) -> RunReport:
        for _ in range(50):
            if report.status != "suspended":
                return report
            assert self.approve_all(report.run_id)
            report = self.resume(report.run_id, *tools)
        raise AssertionError("it never ends")

    def types(self, run_id: str) -> list[str]:
        return [each.type.removeprefix("tool.call.") for each in self.world.log.of_run(run_id)]


@pytest.fixture
def waiting(world: World, database: Database) -> Waiting:
    return Waiting(world, database)


@pytest.mark.req("R32", "R33", "R129", "R139")
def test_a_write_waits_is_approved_elsewhere_and_leaves_the_whole_trail(waiting: Waiting) -> None:
    report = waiting.run("tools.ledger.add(line='one').unwrap()")
    assert report.status == "suspended"
    assert waiting.lines() == []
    (question,) = waiting.book.list("pending")
    assert (question.tool, question.run_id, question.number) == ("ledger.add", report.run_id, 1)
    waiting.book.decide(question.id, approved=True, decided_by="me")
    report = waiting.resume(report.run_id)
    assert (report.status, report.value) == ("completed", 1)
    assert waiting.lines() == ["1 one"]
    assert waiting.types(report.run_id) == [
        "run.started",
        "requested",
        "pending",
        "run.suspended",
        "approved",
        "run.resumed",
        "started",
        "succeeded",
        "run.finished",
    ]
    assert waiting.book.get(question.id).status == "consumed"
    assert waiting.world.log.verify().ok


@pytest.mark.req("R140")
def test_a_read_runs_at_once(waiting: Waiting) -> None:
    report = waiting.run("tools.ledger.look().unwrap()")
    assert (report.status, report.value) == ("completed", "x 1")
    assert waiting.types(report.run_id) == ["run.started", "requested", "started", "succeeded", "run.finished"]


def test_what_was_done_before_is_not_done_again(waiting: Waiting) -> None:
    source = """
a = tools.ledger.look(of="a").unwrap()
first = tools.ledger.add(line=a).unwrap()
b = tools.ledger.look(of="b").unwrap()
second = tools.ledger.add(line=b).unwrap()
print(a, first, b, second)
[a, first, b, second]
"""
    report = waiting.to_the_end(waiting.run(source))
    assert report.value == ["a 1", 1, "b 2", 2]
    assert report.stdout == "a 1 1 b 2 2\n"
    assert waiting.lines() == ["2 a 1", "4 b 2"]
    assert waiting.lines("looks") == ["a", "b"]


def test_a_no_is_an_answer(waiting: Waiting) -> None:
    report = waiting.run("r = tools.ledger.add(line='x')\n[r.ok, r.error.code, r.error.message]")
    (question,) = waiting.book.list("pending")
    waiting.book.decide(question.id, approved=False, decided_by="me")
    report = waiting.resume(report.run_id)
    assert report.value == [False, "approval_denied", "me said no"]
    assert waiting.lines() == []
    assert waiting.types(report.run_id).count("denied") == 1


def test_a_run_that_is_resumed_without_a_decision_waits_on(waiting: Waiting) -> None:
    report = waiting.run("tools.ledger.add(line='x').unwrap()")
    again = waiting.resume(report.run_id)
    assert again.status == "suspended"
    assert len(waiting.book.list("pending")) == 1
    assert waiting.to_the_end(again).value == 1


def test_parallel_calls_wait_together_and_each_is_done_once(waiting: Waiting) -> None:
    source = """
import asyncio
read = tools.ledger.look.start(of="r")
writes = [tools.ledger.add.start(line=str(n)) for n in range(3)]
results = await asyncio.gather(read, *writes)
[r.unwrap() for r in results][0], len(results)
"""
    report = waiting.run(source)
    assert report.status == "suspended"
    assert len(waiting.book.list("pending")) == 3
    report = waiting.to_the_end(report)
    assert report.value == ["r 1", 4]
    assert sorted(waiting.lines()) == ["2 0", "3 1", "4 2"]
    assert waiting.lines("looks") == ["r"]


def test_time_chance_and_order_are_the_same_again(waiting: Waiting) -> None:
    source = """
import time, random, uuid, asyncio, datetime
begun = [time.time_ns(), random.random(), str(uuid.uuid4()), list({"a", "b", "c", "d"}), hash("x")]
await asyncio.sleep(0.01)
seen = []
async def one(n):
    await asyncio.sleep(0.001 * n)
    r = await tools.ledger.look.start(of=str(n))
    seen.append(r.unwrap().split()[0])
await asyncio.gather(*(one(n) for n in range(5)))
args = f"{begun} {seen} {time.monotonic_ns()} {datetime.datetime.now().isoformat()}"
tools.ledger.add(line=args).unwrap()
[begun, seen, args, random.random()]
"""
    report = waiting.run(source)
    (question,) = waiting.book.list("pending")
    asked = json.loads(waiting.world.log.contents(question.args_hash) or b"{}")["line"]
    report = waiting.to_the_end(report)
    assert report.status == "completed", report.error
    assert report.value[2] == asked
    assert len(waiting.lines("looks")) == 5


def test_an_approval_is_for_one_version_of_the_tool(waiting: Waiting) -> None:
    @define_tool(id="ledger.add", risk="write", timeout=7)
    def other(ctx: ToolContext, line: str) -> int:
        (ctx.workspace / "ledger").write_text("the other one\n")
        return 0

    report = waiting.run("tools.ledger.add(line='x').unwrap()")
    waiting.approve_all(report.run_id)
    report = waiting.resume(report.run_id, other)
    assert report.status == "suspended", "asked again"
    assert waiting.lines() == []
    assert [each.status for each in waiting.book.list("pending", "expired")] == ["expired", "pending"]
    assert waiting.to_the_end(report, other).value == 0


def test_an_approval_is_void_when_the_policy_changes(waiting: Waiting) -> None:
    from coilclaw.policy import Rule
    from coilclaw.sdk import Decision

    report = waiting.run("tools.ledger.add(line='x').unwrap()")
    waiting.approve_all(report.run_id)
    waiting.world.rules = (Rule(tool="other.*", decision=Decision.DENY),)
    report = waiting.resume(report.run_id)
    assert report.status == "suspended"
    assert waiting.lines() == []


def test_a_tool_that_changed_under_a_call_that_was_answered_is_a_divergence(waiting: Waiting) -> None:
    @define_tool(id="ledger.look", risk="read", timeout=9)
    def other(ctx: ToolContext, of: str = "x") -> str:
        return "changed"

    report = waiting.run("a = tools.ledger.look().unwrap()\ntools.ledger.add(line=a).unwrap()")
    waiting.approve_all(report.run_id)
    report = waiting.resume(report.run_id, add, other)
    assert report.status == "diverged"
    assert report.error is not None
    assert "in version" in report.error.message
    assert waiting.lines() == []
    assert waiting.types(report.run_id)[-1] == "run.diverged"


def test_a_finished_run_cannot_be_resumed(waiting: Waiting) -> None:
    from coilclaw.runs import NotResumable

    report = waiting.run("1")
    with pytest.raises(NotResumable, match=f"^{report.run_id} is completed"):
        waiting.resume(report.run_id)


def test_a_direct_call_waits_too(waiting: Waiting) -> None:
    registry = waiting.world.registry(*TOOLS)
    result, report = waiting.runtime.call("ledger.add", {"line": "direct"}, registry, Limits())
    assert (report.status, result.ok) == ("suspended", False)
    report = waiting.to_the_end(report)
    assert (report.status, report.value) == ("completed", 1)
    assert waiting.lines() == ["1 direct"]


@pytest.mark.req("R34")
def test_a_window_lets_calls_of_a_kind_through_and_closes(waiting: Waiting) -> None:
    waiting.world.open_window(waiting.book, add, {"line": "ok"}, uses=2)
    report = waiting.run("[tools.ledger.add(line='ok').unwrap() for _ in range(2)]")
    assert report.value == [1, 2]
    assert waiting.run("tools.ledger.add(line='ok')").status == "suspended", "used up"
    assert waiting.run("tools.ledger.add(line='other')").status == "suspended"


def test_replay_says_whether_a_run_would_be_the_same(waiting: Waiting) -> None:
    source = "import random, time\na = tools.ledger.look().unwrap()\nprint(a, random.random(), time.time())\ntools.ledger.add(line=a).unwrap()"
    report = waiting.to_the_end(waiting.run(source))
    before = waiting.lines(), waiting.lines("looks"), len(waiting.types(report.run_id))
    registry = waiting.world.registry(*TOOLS)
    compared = waiting.runtime.replay(report.run_id, lambda name: waiting.world.engine, registry)
    assert compared.identical
    assert (compared.outcome.status, compared.outcome.stdout) == ("completed", report.stdout)
    assert getattr(compared.outcome, "value", None) == report.value
    assert before == (waiting.lines(), waiting.lines("looks"), len(waiting.types(report.run_id)))


MUTATIONS: dict[str, str] = {
    "an answer": "UPDATE journal SET body = replace(body, 'a', 'b') WHERE kind = 'delivery' AND key = 1",
    "a result hash": "UPDATE journal SET body = '[1,\"" + "0" * 64 + "\",null,5]' WHERE kind = 'delivery' AND key = 1",
    "a failure for a success": "UPDATE journal SET body = '[1,null,\"{}\",5]' WHERE kind = 'delivery' AND key = 1",
    "a lost delivery": "DELETE FROM journal WHERE key = 2",
    "an order": "UPDATE journal SET key = 100 - key",
    "the clock": "UPDATE journal SET body = replace(body, ',null,', ',null,1') WHERE key = 1",
    "the seed": 'UPDATE runs SET header = replace(header, \'"seed": "\', \'"seed": "00\')',
    "the code": "UPDATE runs SET header = replace(header, 'code_hash', 'code_hush')",
}


@pytest.mark.parametrize("kind", list(MUTATIONS))
def test_a_changed_journal_ends_the_run_before_a_side_effect(waiting: Waiting, kind: str) -> None:
    source = "a = tools.ledger.look(of='a').unwrap()\nb = tools.ledger.look(of='b').unwrap()\ntools.ledger.add(line=a+b).unwrap()"
    report = waiting.run(source)
    waiting.approve_all(report.run_id)
    with waiting.database.transaction() as connection:
        connection.execute(MUTATIONS[kind])
    status: Any
    try:
        status = waiting.resume(report.run_id).status
    except Exception as error:
        status = type(error).__name__
    assert status in ("diverged", "NotResumable", "TypeError")
    assert waiting.lines() == []
    assert isinstance(waiting.world.workspace, Path)


@pytest.mark.req("R84")
def test_the_receipts_of_a_run_tell_where_it_stands(waiting: Waiting) -> None:
    def told(run_id: str) -> tuple[str, bool]:
        run = run_of(run_id, waiting.world.log.of_run(run_id))
        assert run is not None
        return run.status, run.ended_at is not None

    report = waiting.run("tools.ledger.add(line='x').unwrap()")
    assert told(report.run_id) == ("suspended", False)
    waiting.world.log.append(Draft("run.resumed", "running", now(), report.run_id))
    assert told(report.run_id) == ("running", False)
    waiting.world.log.append(Draft("run.diverged", "diverged", now(), report.run_id))
    assert told(report.run_id) == ("diverged", True)
    other = waiting.to_the_end(waiting.run("tools.ledger.add(line='x').unwrap()"))
    assert told(other.run_id) == ("completed", True)
