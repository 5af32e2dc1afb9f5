"""The end of a run in the journal and the receipts: calls that were left, given up, or made while cleaning up."""

from __future__ import annotations

import threading

import pytest
from tests.runs.conftest import Replays
from tests.runs.journaled import TOOLS

from coilclaw.bridge import ReplayHost, call_number
from coilclaw.bridge.journal import read_journal
from coilclaw.bridge.prior_calls import PriorCall
from coilclaw.policy import AlreadyDecided, Autonomy
from coilclaw.receipts import digest
from coilclaw.runs import RunReport
from coilclaw.sandbox import RunClock, RunEnded
from coilclaw.sdk import Tool, ToolContext, define_tool

pytestmark = pytest.mark.req("R32", "R33", "R139")


class Ends:
    """Runs in which every write waits for a person."""

    def __init__(self, replays: Replays) -> None:
        self.replays = replays
        self.book = replays.book
        replays.world.autonomy = Autonomy.SUPERVISED

    def run(self, source: str, *tools: Tool, seconds: float = 60) -> RunReport:
        return self.replays.run(source, *(tools or TOOLS), seconds=seconds)

    def resume(self, run_id: str, *tools: Tool) -> RunReport:
        registry = self.replays.world.registry(*(tools or TOOLS))
        return self.replays.runtime.resume(run_id, lambda name: self.replays.engine, registry)

    def approve(self, most: int = 100) -> int:
        questions = self.book.list("pending")[:most]
        for each in questions:
            self.book.decide(each.id, approved=True, decided_by="me")
        return len(questions)

    def lines(self) -> list[str]:
        return self.replays.lines()

    def told(self, report: RunReport) -> list[tuple[int, str, str | None]]:
        """What the receipts say of the ends of its calls."""
        return [
            (call_number(each.tool_call_id), each.type.removeprefix("tool.call."), each.payload.get("code"))
            for each in self.replays.world.log.of_run(report.run_id)
            if each.tool_call_id and each.type in ("tool.call.succeeded", "tool.call.failed", "tool.call.denied")
        ]

    def same_again(self, report: RunReport, *tools: Tool) -> None:
        again = self.replays.replay(report.run_id, *tools)
        assert again.identical, again.difference
        assert self.replays.world.log.verify().ok


@pytest.fixture
def ends(either: Replays) -> Ends:
    return Ends(either)


LEFT = "for n in 'ab':\n    tools.ledger.add.start(line=n)\nprint('sent')\n"


def test_writes_that_were_started_and_left_suspend_the_run_and_are_made_once_they_are_approved(ends: Ends) -> None:
    report = ends.run(LEFT)
    assert (report.status, ends.lines()) == ("suspended", [])
    assert ends.approve() == 2
    report = ends.resume(report.run_id)
    assert (report.status, report.stdout) == ("completed", "sent\n")
    assert sorted(ends.lines()) == ["1 a", "2 b"]
    ends.same_again(report)


def test_a_run_waits_on_for_the_last_of_the_calls_that_it_left(ends: Ends) -> None:
    report = ends.run(LEFT)
    assert ends.approve(1) == 1
    report = ends.resume(report.run_id)
    assert (report.status, ends.lines()) == ("suspended", ["1 a"])
    ends.approve()
    report = ends.resume(report.run_id)
    assert (report.status, ends.lines()) == ("completed", ["1 a", "2 b"])
    ends.same_again(report)


def test_a_no_to_a_call_that_was_left_is_in_the_report(ends: Ends) -> None:
    report = ends.run(LEFT)
    for question in ends.book.list("pending"):
        ends.book.decide(question.id, approved=False, decided_by="me")
    report = ends.resume(report.run_id)
    assert (report.status, ends.lines()) == ("completed", [])
    assert [(each.kind, each.line) for each in report.warnings] == [("unread_err", 2)]
    ends.same_again(report)


CLEANING_UP = """
import asyncio, atexit
atexit.register(lambda: tools.ledger.add(line="exit"))
async def opened():
    try:
        yield 1
    finally:
        await tools.ledger.add.start(line="generator")
generator = opened()
await anext(generator)
async def work():
    await asyncio.sleep(0)
    tools.ledger.look.start(of="task")
asyncio.create_task(work())
"value"
"""


def test_clean_up_that_needs_approval_suspends_the_run_and_goes_on_where_it_was(ends: Ends) -> None:
    report = ends.run(CLEANING_UP)
    seen = []
    while report.status == "suspended":
        assert ends.approve() == 1
        report = ends.resume(report.run_id)
        seen.append(ends.lines())
    assert (report.status, report.value) == ("completed", "value")
    assert [line.split()[1] for line in ends.lines()] == ["generator", "exit"]
    assert len(seen) == 2
    assert ends.replays.lines("looks") == ["task"]
    ends.same_again(report)


GIVEN_UP = """
import asyncio
try:
    await asyncio.wait_for(tools.ledger.add.start(line="first"), 0.05)
except TimeoutError:
    print("too slow")
tools.ledger.add(line="second").unwrap()
"""


def test_a_call_that_was_given_up_can_no_longer_be_approved_and_is_never_made(ends: Ends) -> None:
    report = ends.run(GIVEN_UP)
    assert report.status == "suspended"
    (question,) = ends.book.list("pending")
    assert question.number == 2
    withdrawn = ends.book.of_call(report.run_id, 1)
    assert withdrawn is not None
    with pytest.raises(AlreadyDecided):
        ends.book.decide(withdrawn.id, approved=True, decided_by="me")
    ends.approve()
    report = ends.resume(report.run_id)
    assert (report.status, report.stdout, report.warnings) == ("completed", "too slow\n", ())
    assert ends.lines() == ["2 second"]
    assert ends.told(report) == [(1, "failed", "withdrawn"), (2, "succeeded", None)]
    ends.same_again(report)


def test_an_approval_that_comes_while_a_call_is_given_up_is_not_used(ends: Ends) -> None:
    source = "call = tools.ledger.add.start(line='x')\ntools.test.approve()\ncall.cancel()\ncall.result().error.code"

    @define_tool(id="test.approve", risk="read")
    def approve(ctx: ToolContext) -> None:
        """A person is quick."""
        ends.approve()

    report = ends.run(source, *TOOLS, approve)
    assert (report.value, ends.lines()) == ("withdrawn", [])
    assert ends.book.list("pending", "granted") == []
    ends.same_again(report, *TOOLS, approve)


def test_a_call_that_waits_for_its_turn_is_withdrawn_before_its_tool_is_called(ends: Ends) -> None:
    released, called = threading.Event(), []

    @define_tool(id="test.slow", risk="read")
    def slow(ctx: ToolContext, n: int) -> int:
        """Waits until it is released."""
        called.append(n)
        released.wait(30)
        return n

    # Not by a tool: all that run at once are taken.
    ends.replays.world.of_caller["show"] = lambda stream, text: released.set()
    source = """
calls = [tools.test.slow.start(n=n) for n in range(66)]
calls[65].cancel()
print("given up", flush=True)
[calls[65].result().error.code, sum(call.result().ok for call in calls)]
"""
    report = ends.run(source, slow)
    assert report.value == ["withdrawn", 65]
    assert 65 not in called
    ends.same_again(report, slow)


def test_a_call_that_has_started_is_left_to_end_and_that_is_said(ends: Ends) -> None:
    started, released = threading.Event(), threading.Event()

    @define_tool(id="test.slow", risk="read")
    def slow(ctx: ToolContext) -> str:
        """Waits until it is released."""
        started.set()
        released.wait(30)
        return "done"

    @define_tool(id="test.release", risk="read")
    def release(ctx: ToolContext, what: str) -> None:
        """Waits for the start, or releases it."""
        assert started.wait(30)
        if what == "end":
            released.set()

    source = """
call = tools.test.slow.start()
tools.test.release(what="begin")
call.cancel()
tools.test.release(what="end")
"ended"
"""
    report = ends.run(source, slow, release)
    assert report.value == "ended"
    assert [(each.kind, each.line) for each in report.warnings] == [("cancelled_late", 2)]
    assert (1, "succeeded", None) in ends.told(report)
    ends.same_again(report, slow, release)


def test_a_snippet_that_fails_withdraws_the_calls_that_wait_for_a_person(ends: Ends) -> None:
    report = ends.run("tools.ledger.add.start(line='x')\n1 / 0")
    assert (report.status, ends.lines(), ends.book.list("pending", "granted")) == ("failed", [], [])
    assert ends.told(report) == [(1, "failed", "withdrawn")]
    ends.same_again(report)


def test_a_run_whose_task_never_ends_says_which(ends: Ends) -> None:
    source = "import asyncio\nasync def poll():\n    while True: await asyncio.sleep(0.01)\n"
    report = ends.run(source + "asyncio.create_task(poll())\nawait asyncio.sleep(0)", seconds=1)
    assert report.status == "timed_out"
    assert report.error is not None
    assert "poll() of line 2" in report.error.message


def test_a_call_that_was_given_up_before_its_process_died_is_withdrawn_and_not_begun_again(ends: Ends) -> None:
    replays, run_id = ends.replays, "run-test"
    bridge = replays.world.bridge(*TOOLS)
    input = b'{"line":"x"}'
    tool = bridge.run.registry.resolve("ledger.add")
    assert tool is not None
    prior = {n: PriorCall(n, tool.id, tool.version, digest(input), "requested") for n in (1, 2)}
    bridge = type(bridge)(replays.world.services(), replays.world.spec(*TOOLS, prior=prior))
    host = ReplayHost(bridge, read_journal(replays.database, run_id), prior, RunClock())
    assert host.begin("ledger.add", input, 1) == 1
    host.withdraw(1)
    with pytest.raises(RunEnded):
        host.call("ledger.add", input, 2)
    assert [each.number for each in ends.book.list("pending")] == [2]
    assert b"withdrawn" in host.wait(0)


# What a sandbox leaves that does not wait for it itself ----------------------------------------------------------------


RAW = "import wit_world\nfor n in 'ab':\n    wit_world.begin('ledger.add', '{\"line\": \"%s\"}' % n, 3)\n"


@pytest.fixture
def raw(replays: Replays) -> Ends:
    """A snippet that has gone past the guest's own code, which only the wasm engine lets it do."""
    return Ends(replays)


def test_a_sandbox_that_says_it_has_ended_does_not_lose_the_writes_that_it_began(raw: Ends) -> None:
    report = raw.run(RAW + "'done'")
    assert (report.status, raw.lines()) == ("suspended", [])
    assert raw.approve(1) == 1
    report = raw.resume(report.run_id)
    assert (report.status, raw.lines()) == ("suspended", ["1 a"])
    raw.approve()
    report = raw.resume(report.run_id)
    assert (report.status, report.value) == ("completed", "done")
    assert raw.lines() == ["1 a", "2 b"]
    assert [each.kind for each in report.warnings] == ["left_calls"]
    raw.same_again(report)


def test_a_sandbox_that_fails_and_leaves_writes_has_them_withdrawn(raw: Ends) -> None:
    report = raw.run(RAW + "1 / 0")
    assert (report.status, raw.lines(), raw.approve()) == ("failed", [], 0)
    assert raw.told(report) == [(1, "failed", "withdrawn"), (2, "failed", "withdrawn")]
    raw.same_again(report)


def test_calls_that_are_under_way_when_a_sandbox_ends_have_an_outcome_and_are_not_abandoned(raw: Ends) -> None:
    raw.replays.world.autonomy = Autonomy.FULL
    report = raw.run(RAW + "'done'")
    assert (report.status, sorted(raw.lines())) == ("completed", ["1 a", "2 b"])
    assert sorted(raw.told(report)) == [(1, "succeeded", None), (2, "succeeded", None)]
    raw.same_again(report)


@pytest.mark.parametrize(
    "source",
    [
        "class Shown:\n    def __repr__(self):\n        tools.ledger.add.start(line='w')\n        return 'shown'\nShown()",
        "try:\n    return 1\nfinally:\n    tools.ledger.add.start(line='w')",
    ],
    ids=["the text of the value", "behind a return"],
)
def test_a_write_that_the_end_itself_begins_is_asked_about_and_made(ends: Ends, source: str) -> None:
    report = ends.run(source)
    assert (report.status, ends.approve()) == ("suspended", 1)
    report = ends.resume(report.run_id)
    assert (report.status, ends.lines()) == ("completed", ["1 w"])
    ends.same_again(report)
