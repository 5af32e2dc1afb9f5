"""An approval is for one call. Whatever is swapped between the question and the execution, nothing is executed.

A hundred thousand swaps in three ways: 20,000 questions that differ from what was granted go through the real
`ApprovalGate.permission`, which may only read; 80,000 approvals that were changed after they had been looked up are used up in real
transactions; and some hundred swaps go the whole way through a bridge to a tool that would show.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conftest import World

from coilclaw.bridge import Bridge, PriorCall
from coilclaw.bridge.approval_gate import ApprovalGate, Denied, Permission
from coilclaw.policy import Answer, Approval, ApprovalStore, Autonomy, Policy, Question, Rule
from coilclaw.receipts import Draft, Row, digest, now
from coilclaw.runs import NotResumable, RunReport
from coilclaw.sandbox import Cancelled, Deadline, Limits, RunEnded, Snippet
from coilclaw.sdk import Decision, Risk, Tool, ToolContext, define_tool
from coilclaw.store import Database

QUESTIONS: Final = 20_000
LATE_CHANGES: Final = 80_000


@define_tool(id="shelf.send", risk="write")
def send(ctx: ToolContext, line: str, count: int = 1) -> int:
    """Every execution shows."""
    with (ctx.workspace / "done").open("a") as handle:
        handle.write(f"{ctx.call_id} send {line} {count}\n")
    return count


@define_tool(id="shelf.sent", risk="write")
def sent(ctx: ToolContext, line: str, count: int = 1) -> int:
    """Another tool, with nearly the same name."""
    with (ctx.workspace / "done").open("a") as handle:
        handle.write(f"{ctx.call_id} sent {line} {count}\n")
    return count


@define_tool(id="shelf.send", risk="write", timeout=11)
def send_changed(ctx: ToolContext, line: str, count: int = 1) -> int:
    """The same name, another version."""
    with (ctx.workspace / "done").open("a") as handle:
        handle.write(f"{ctx.call_id} changed {line} {count}\n")
    return count


class NobodyMayAsk:
    """Ends the run as soon as it comes to a question: then the call was not approved."""

    def decide(self, question: Question) -> Answer:
        raise RunEnded(Cancelled())


def _question(chance: random.Random) -> Question:
    number = chance.randrange(1, 40)
    run_id = f"run-{chance.randrange(12):04x}"
    arguments = json.dumps({"count": chance.randrange(4), "line": chance.choice("abcd")}, separators=(",", ":"))
    return Question(
        run_id=run_id,
        call_id=f"call-{run_id.removeprefix('run-')}-{number}",
        number=number,
        tool=chance.choice(["shelf.send", "shelf.sent", "shelf.send "]),
        tool_version=f"sha256:{chance.randrange(3)}",
        risk=Risk.WRITE,
        reason="because",
        arguments=arguments,
        line=1,
        policy_hash=f"policy-{chance.randrange(3)}",
    )


def _requested(question: Question) -> Draft:
    return Draft(
        type="tool.call.requested",
        status="pending",
        timestamp=now(),
        run_id=question.run_id,
        tool_call_id=question.call_id,
        tool=question.tool,
        tool_version=question.tool_version,
        args_hash=digest(question.arguments.encode()),
    )


def _key(question: Question) -> tuple[Any, ...]:
    return (
        question.run_id,
        question.number,
        question.tool,
        question.tool_version,
        question.arguments,
        question.policy_hash,
    )


@pytest.fixture
def granted(
    world: World, database: Database
) -> tuple[World, ApprovalStore, dict[tuple[Any, ...], tuple[Question, Approval]]]:
    """Some two hundred questions with a yes, about calls that resemble each other."""
    chance = random.Random(5)
    book = ApprovalStore(database, world.log)
    world.approver = NobodyMayAsk()
    world.options |= {"database": database, "approvals": book}
    found: dict[tuple[Any, ...], tuple[Question, Approval]] = {}
    taken: set[tuple[str, int]] = set()
    while len(found) < 200:
        question = _question(chance)
        if (question.run_id, question.number) in taken:
            continue
        taken.add((question.run_id, question.number))
        asked = book.ask(question, digest(question.arguments.encode()), _requested(question))
        found[_key(question)] = (question, book.decide(asked.id, approved=True, decided_by="me"))
    return world, book, found


def _swaps(chance: random.Random, granted: dict[tuple[Any, ...], tuple[Question, Approval]]) -> Iterator[Question]:
    """Questions that take one to five things from another call, or from nowhere."""
    questions = [question for question, _ in granted.values()]
    nowhere: dict[str, Callable[[], Any]] = {
        "run_id": lambda: f"run-{chance.randrange(16**4):04x}",
        "number": lambda: chance.randrange(-2, 2**33),
        "tool": lambda: chance.choice(["shelf.Send", "shelf", "shelf.*", "shelf.send\x00", ""]),
        "tool_version": lambda: chance.choice(["", "sha256:", "sha256:00", "SHA256:1"]),
        "arguments": lambda: json.dumps({"count": chance.randrange(10**6), "line": "a"}),
        "policy_hash": lambda: chance.choice(["", "policy", "policy-9"]),
    }
    while True:
        mine, other = chance.choice(questions), chance.choice(questions)
        for name in chance.sample(sorted(nowhere), chance.randrange(1, 6)):
            value = getattr(other, name) if chance.random() < 0.7 else nowhere[name]()
            changed: Any = {name: value}
            mine = replace(mine, **changed)
        if _key(mine) not in granted:
            yield mine


@pytest.mark.req("R32")
def test_a_swapped_question_finds_no_approval(
    granted: tuple[World, ApprovalStore, dict[tuple[Any, ...], tuple[Question, Approval]]],
) -> None:
    world, _, known = granted
    asking = ApprovalGate(world.services(), world.caller(), Deadline(600), list)
    for _, (question, approval) in list(known.items())[:20]:
        permission = asking.permission(question, _requested(question))
        assert isinstance(permission, Permission)
        assert permission.facts == {"approval": approval.id}
    swaps = _swaps(random.Random(6), known)
    for _ in range(QUESTIONS):
        question = next(swaps)
        with pytest.raises(RunEnded):
            asking.permission(question, _requested(question))


@pytest.mark.req("R32")
def test_an_approval_that_was_changed_after_it_was_found_is_not_used(
    granted: tuple[World, ApprovalStore, dict[tuple[Any, ...], tuple[Question, Approval]]], database: Database
) -> None:
    _, book, known = granted
    chance = random.Random(7)
    approvals = [approval for _, approval in known.values()]
    names = ("id", "run_id", "number", "tool", "tool_version", "args_hash", "policy_hash")
    granted_ones = {tuple(getattr(each, name) for name in names) for each in approvals}
    used = tried = 0
    with database.transaction() as connection:
        while tried < LATE_CHANGES:
            mine, other = chance.choice(approvals), chance.choice(approvals)
            swapped = replace(
                mine, **{name: getattr(other, name) for name in chance.sample(names, chance.randrange(1, 6))}
            )
            if tuple(getattr(swapped, name) for name in names) in granted_ones:
                continue
            row = book.consume(swapped)
            tried += 1
            connection.execute(row.statement, row.values)
            used += connection.changes()
    assert used == 0
    with database.transaction() as connection:
        for twice in (1, 0):
            row = book.consume(approvals[0])
            connection.execute(row.statement, row.values)
            assert connection.changes() == twice, "once, and only once"


def _tried(
    world: World, run_id: str, number: int, tools: tuple[Tool, ...], name: str, arguments: dict[str, Any]
) -> str:
    """Make a call with this number as a run would, and say what became of it."""
    bridge = Bridge(world.services(), world.spec(*tools, run_id=run_id))
    bridge.issued = number - 1
    try:
        return bridge.call(name, json.dumps(arguments).encode(), 1).decode()
    except RunEnded as ended:
        return ended.outcome.status
    finally:
        bridge.close()


def test_swaps_on_the_whole_way_execute_nothing(world: World, database: Database) -> None:
    chance = random.Random(8)
    book = ApprovalStore(database, world.log)
    world.autonomy = Autonomy.SUPERVISED
    world.options |= {"database": database, "approvals": book}
    done = world.workspace / "done"
    kinds = ("arguments", "tool", "version", "number", "run", "policy", "nothing")
    expected = 0
    for attempt in range(140):
        kind = kinds[attempt % len(kinds)]
        run_id, number, line = f"run-{attempt:04x}", chance.randrange(1, 9), chance.choice("abc")
        assert _tried(world, run_id, number, (send, sent), "shelf.send", {"line": line}) == "suspended"
        (asked,) = book.list("pending", run_id=run_id)
        book.decide(asked.id, approved=True, decided_by="me")
        tools, name = (send, sent), "shelf.send"
        arguments: dict[str, Any] = {"line": line}
        world.rules = ()
        match kind:
            case "arguments":
                arguments = chance.choice([{"line": line + " "}, {"line": line, "count": 2}, {"line": line.upper()}])
            case "tool":
                name = "shelf.sent"
            case "version":
                tools = (send_changed, sent)
            case "number":
                number += chance.choice([1, -1]) if number > 1 else 1
            case "run":
                run_id += "0"
            case "policy":
                world.rules = (Rule(tool="other.*", decision=Decision.DENY),)
        answer = _tried(world, run_id, number, tools, name, arguments)
        world.rules = ()
        if kind == "nothing":
            expected += 1
            assert json.loads(answer)["ok"] is True
            assert _tried(world, run_id, number, tools, name, arguments) == "suspended", "used up: asked again"
        else:
            assert answer == "suspended", kind
        assert len(done.read_text().splitlines() if done.exists() else []) == expected, kind
    assert Policy(Autonomy.SUPERVISED).digest == Policy(Autonomy.SUPERVISED).digest


def test_a_default_that_is_written_out_is_another_call(world: World, database: Database) -> None:
    """What was shown to the person is what was sent, not what it comes to."""
    book = ApprovalStore(database, world.log)
    world.autonomy = Autonomy.SUPERVISED
    world.options |= {"database": database, "approvals": book}
    _tried(world, "run-1", 1, (send,), "shelf.send", {"line": "x"})
    (asked,) = book.list("pending")
    book.decide(asked.id, approved=True, decided_by="me")
    assert _tried(world, "run-1", 1, (send,), "shelf.send", {"line": "x", "count": 1}) == "suspended"
    assert not Path(world.workspace / "done").exists()


# What was decided, and what changed since ------------------------------------------------------------------------------


class Waits:
    """A world in which sends are asked about, and one runtime for each policy."""

    def __init__(self, world: World, database: Database) -> None:
        self.world, self.database = world, database
        self.book = ApprovalStore(database, world.log)
        world.autonomy = Autonomy.SUPERVISED
        world.options |= {"database": database, "approvals": self.book}

    def run(self, source: str, *tools: Tool) -> RunReport:
        registry = self.world.registry(*(tools or (send, sent)))
        return self.world.runtime().run(Snippet(source=source), self.world.engine, registry, Limits())

    def resume(self, report: RunReport, *tools: Tool, unknown: str | None = None) -> RunReport:
        registry = self.world.registry(*(tools or (send, sent)))
        runtime = self.world.runtime()
        return runtime.resume(report.run_id, lambda name: self.world.engine, registry, unknown=unknown)

    def take_over(self) -> None:
        """Another process resumes the run, and dies at once."""
        ((run_id,),) = self.database.read("SELECT run_id FROM runs")
        taken = Row("UPDATE runs SET fence = fence + 1, process = '999999999:1'", (), claims=True)
        self.world.log.append(Draft("run.resumed", "running", now(), run_id), rows=[taken])

    def decide(self, *, approved: bool) -> None:
        for each in self.book.list("pending"):
            self.book.decide(each.id, approved=approved, decided_by="me")

    @property
    def done(self) -> list[str]:
        file = self.world.workspace / "done"
        return [line.split(" ", 1)[1] for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def waits(world: World, database: Database) -> Waits:
    return Waits(world, database)


SEND: Final = "r = tools.shelf.send(line='x')\nr.value if r.ok else r.error.code"


def test_a_no_holds_when_the_policy_would_allow_the_call_by_now(waits: Waits) -> None:
    report = waits.run(SEND)
    waits.decide(approved=False)
    waits.world.autonomy = Autonomy.FULL
    report = waits.resume(report)
    assert (report.status, report.value) == ("completed", "approval_denied")
    assert waits.done == []


@pytest.mark.parametrize("autonomy", [Autonomy.SUPERVISED, Autonomy.FULL])
def test_a_process_that_lost_its_run_asks_nothing_and_records_its_request_once(
    waits: Waits, autonomy: Autonomy
) -> None:
    waits.world.autonomy = autonomy

    @define_tool(id="test.lose", risk="read")
    def lose(ctx: ToolContext) -> None:
        waits.take_over()

    report = waits.run("tools.test.lose()\n" + SEND, send, lose)
    assert report.status == "crashed"
    assert waits.book.list("pending") == []
    assert waits.world.types().count("tool.call.requested") == 2


def test_a_call_that_is_decided_again_is_requested_once(waits: Waits, monkeypatch: pytest.MonkeyPatch) -> None:
    """What permitted it was used elsewhere: it is admitted again, and is still the same request."""
    report = waits.run(SEND)
    waits.decide(approved=True)
    consumed = ApprovalStore.consume
    lost = iter([Row("UPDATE runs SET fence = fence WHERE run_id = ''", (), claims=True)])
    monkeypatch.setattr(ApprovalStore, "consume", lambda *given: next(lost, None) or consumed(*given))
    assert waits.resume(report).status == "completed"
    assert waits.world.types().count("tool.call.requested") == 1
    assert waits.done == ["send x 1"]


def test_a_fresh_call_whose_window_was_just_used_is_requested_once(
    waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits.world.open_window(waits.book, send)
    used = ApprovalStore.use
    lost = iter([Row("UPDATE runs SET fence = fence WHERE run_id = ''", (), claims=True)])
    monkeypatch.setattr(ApprovalStore, "use", lambda *given: next(lost, None) or used(*given))
    assert waits.run(SEND).status == "completed"
    assert waits.world.types().count("tool.call.requested") == 1


def test_a_no_is_stronger_than_a_window(waits: Waits) -> None:
    report = waits.run(SEND)
    waits.decide(approved=False)
    waits.world.open_window(waits.book, send)
    assert waits.resume(report).value == "approval_denied"
    assert waits.done == []


@pytest.mark.parametrize("later", [{"tool_version": "sha256:9"}, {"policy_hash": "policy-9"}, {}])
@pytest.mark.parametrize("asked_again", [False, True])
def test_a_no_is_the_answer_for_good(
    world: World, database: Database, later: dict[str, Any], asked_again: bool
) -> None:
    """Also to the same call of an edited tool, under another policy, or asked about a second time with a yes."""
    book = ApprovalStore(database, world.log)
    world.approver = NobodyMayAsk()
    world.options |= {"database": database, "approvals": book}
    question = _question(random.Random(8))
    args_hash = digest(question.arguments.encode())
    book.decide(book.ask(question, args_hash, _requested(question)).id, approved=False, decided_by="me")
    changed = replace(question, **later)
    if asked_again:
        book.decide(book.ask(changed, args_hash, _requested(changed)).id, approved=True, decided_by="me")
    answer = ApprovalGate(world.services(), world.caller(), Deadline(30), list).permission(changed, _requested(changed))
    assert isinstance(answer, Denied)
    assert answer.refusal.code == "approval_denied"


def test_a_call_that_was_given_up_is_not_made_again_unasked(world: World) -> None:
    """It ended without an answer, and may have been made all the same; the policy would allow it."""
    world.autonomy, world.approver = Autonomy.FULL, NobodyMayAsk()
    prior = PriorCall(1, "shelf.send", send.version, digest(b'{"line":"x"}'), "ended")
    bridge = Bridge(world.services(), world.spec(send, prior={1: prior}))
    with pytest.raises(RunEnded):
        bridge.call("shelf.send", b'{"line": "x"}', 1)
    bridge.close()
    assert not (world.workspace / "done").exists()


def test_questions_of_a_run_that_is_over_are_void(waits: Waits) -> None:
    report = waits.run("tools.shelf.send.start(line='x')\n1 / 0")
    assert report.status == "failed"
    assert waits.book.list("pending", "granted") == []
    assert waits.done == []


def test_what_was_granted_to_a_run_that_is_over_is_void(waits: Waits) -> None:
    @define_tool(id="shelf.look", risk="read")
    def look(ctx: ToolContext) -> int:
        return 1

    @define_tool(id="shelf.look", risk="read")
    def look_again(ctx: ToolContext, more: int = 0) -> int:
        return 2

    report = waits.run("tools.shelf.look()\n" + SEND, look, send)
    waits.decide(approved=True)
    (granted,) = waits.book.list("granted")
    assert waits.resume(report, look_again, send).status == "diverged"
    assert waits.book.get(granted.id).status == "expired"
    assert waits.done == []


def test_a_clock_that_was_set_back_does_not_hide_the_question_that_is_open(
    waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    report = waits.run(SEND)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 7200)
    report = waits.resume(report, send_changed, sent)
    assert report.status == "suspended", "another version: asked again, by an earlier clock"
    waits.decide(approved=True)
    report = waits.resume(report, send_changed, sent)
    assert (report.value, waits.done) == (1, ["changed x 1"])


def test_an_idempotent_call_is_repeated_only_as_long_as_its_policy_and_its_tool_are_the_same(waits: Waits) -> None:
    entered = []

    @define_tool(id="shelf.put", risk="write", idempotent=True)
    def put(ctx: ToolContext, line: str) -> str:
        """Dies the first time, as far as the run can tell."""
        entered.append(ctx.idempotency_key)
        if len(entered) == 1:
            waits.take_over()
        return "put"

    @define_tool(id="shelf.put", risk="write", idempotent=True, timeout=3)
    def put_changed(ctx: ToolContext, line: str) -> str:
        """Another version knows nothing of the key."""
        entered.append("changed")
        return "put"

    waits.world.autonomy = Autonomy.FULL
    report = waits.run("tools.shelf.put(line='x').unwrap()", put)
    assert report.status == "crashed"
    report = waits.resume(report, put_changed)
    assert (report.status, report.unknown) == ("suspended", "shelf.put")
    waits.world.rules = (Rule(tool="shelf.put", decision=Decision.DENY),)
    report = waits.resume(report, put)
    assert (report.status, report.unknown) == ("suspended", "shelf.put"), "denied by now, and it may have run"
    waits.world.rules = (Rule(tool="shelf.put", decision=Decision.ASK),)
    report = waits.resume(report, put)
    assert report.status == "suspended"
    assert [each.tool for each in waits.book.list("pending")] == ["shelf.put"], "the policy is another one: asked"
    assert len(entered) == 1
    waits.world.rules = ()
    report = waits.resume(report, put)
    assert report.value == "put"
    assert entered[0] == entered[1]


def test_a_read_that_is_classified_as_more_is_not_repeated_by_itself(waits: Waits) -> None:
    entered = []

    def classify(ctx: ToolContext, input: Any) -> Risk:
        return Risk.WRITE

    @define_tool(id="shelf.query", risk="read", classify=classify)
    def query(ctx: ToolContext, line: str) -> str:
        """A read, unless it is told to write."""
        entered.append(line)
        waits.take_over()
        return "queried"

    waits.world.autonomy = Autonomy.FULL
    report = waits.run("tools.shelf.query(line='delete').unwrap()", query)
    report = waits.resume(report, query)
    assert (report.status, report.unknown) == ("suspended", "shelf.query")
    assert entered == ["delete"]


def test_what_a_person_says_about_one_call_of_unknown_outcome_is_not_taken_for_the_next(waits: Waits) -> None:
    @define_tool(id="shelf.note", risk="write")
    def note(ctx: ToolContext, line: str) -> str:
        """Both are under way when the process ends; only the first has done its work."""
        if line == "first" or "second" in waits.done or stopped.is_set():
            with (ctx.workspace / "done").open("a") as handle:
                handle.write(f"{ctx.call_id} {line}\n")
        if not stopped.is_set():
            both.wait(60)
            assert stopped.wait(60)
        return line

    both, stopped = threading.Barrier(3), threading.Event()
    waits.world.autonomy = Autonomy.FULL
    source = "[c.result().ok for c in [tools.shelf.note.start(line=n) for n in ('first', 'second')]]"
    ends: list[RunReport] = []
    run = threading.Thread(target=lambda: ends.append(waits.run(source, note)))
    run.start()
    both.wait(60)
    waits.take_over()
    stopped.set()
    run.join(60)
    assert ends[0].status == "crashed"
    assert waits.done == ["first"]
    report = waits.resume(ends[0], note)
    assert (report.status, report.unknown) == ("suspended", "shelf.note")
    report = waits.resume(ends[0], note, unknown="failed")
    assert (report.status, report.unknown) == ("suspended", "shelf.note"), "that was said about the first"
    report = waits.resume(ends[0], note, unknown="retry")
    assert report.value == [False, True]
    assert waits.done == ["first", "second"]


def test_a_tool_that_is_missing_just_now_does_not_end_the_run(waits: Waits) -> None:
    report = waits.run(SEND)
    waits.decide(approved=True)
    with pytest.raises(NotResumable, match=r"shelf\.send"):
        waits.resume(report, sent)
    assert waits.resume(report).value == 1


def test_what_waits_is_begun_only_after_everything_else_was_as_before(waits: Waits) -> None:
    """A call that was approved is not made if the run turns out to be another one behind it."""
    report = waits.run(
        "a = tools.shelf.send.start(line='approved')\nb = tools.shelf.nothing\n"
        "getattr(tools.shelf, 'nothing')(n=1)\ngetattr(tools.shelf, 'nothing')(n=2)\na.result().ok"
    )
    assert report.status == "suspended"
    waits.decide(approved=True)

    @define_tool(id="shelf.nothing", risk="read")
    def nothing(ctx: ToolContext, n: int) -> int:
        """It did not exist before, so that the calls of it are others now."""
        return n

    report = waits.resume(report, send, sent, nothing)
    assert report.status == "diverged"
    assert waits.done == []
