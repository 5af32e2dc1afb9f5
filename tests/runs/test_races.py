"""Several processes at once: deciding, executing, taking runs over, and losing them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conftest import KEY, World
from tests.sampling import EVERYTHING

from coilclaw.policy import ApprovalStore, Autonomy, Policy, Question
from coilclaw.receipts import Draft, ReceiptLog, digest, now
from coilclaw.runs import MIGRATIONS, NotResumable
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sdk import Risk, ToolContext, define_tool
from coilclaw.store import Database

RACER: Final = '''
import json, os, random, sys
from pathlib import Path
from coilclaw.bridge import Bridge, Handlers, RunSpec, Services, build_registry
from coilclaw.policy import AlreadyDecided, ApprovalStore, Autonomy, NobodyToAsk, Policy
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import MIGRATIONS
from coilclaw.sandbox import Deadline, Limits, RunEnded
from coilclaw.sdk import ToolContext, define_tool
from coilclaw.store import Database

home, name = Path(sys.argv[1]), sys.argv[2]
effects = os.open(home / "done", os.O_CREAT | os.O_APPEND | os.O_WRONLY)


@define_tool(id="shelf.send", risk="write")
def send(ctx: ToolContext, line: str) -> int:
    """Every execution shows."""
    os.write(effects, f"{ctx.call_id}\\n".encode())
    return 1


if name == "version":
    print(build_registry([([send], ())]).tools["shelf.send"].version)
    sys.exit()
with Database(home / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
    book = ApprovalStore(database, log)
    around = Services(
        log=log, policy=Policy(Autonomy.SUPERVISED), handlers=Handlers(), workspace=home,
        secret=lambda name: None, database=database, approvals=book,
    )
    registry = build_registry([([send], ())])
    chance, won = random.Random(name), {}
    questions = list(book.list("pending"))
    print("ready", flush=True)
    sys.stdin.readline()
    chance.shuffle(questions)
    for each in questions:
        granted = chance.random() < 0.7
        try:
            book.decide(each.id, approved=granted, decided_by=name)
            won[each.id] = granted
        except AlreadyDecided:
            pass
        bridge = Bridge(around, RunSpec(run_id=each.run_id, registry=registry, limits=Limits(), deadline=Deadline(60)))
        bridge.issued = each.number - 1
        try:
            bridge.call("shelf.send", b'{"line":"x"}', 1)
        except RunEnded:
            pass
        bridge.close()
print(json.dumps(won))
'''


def race(home: Path, processes: int, decisions: int) -> None:
    """Everyone decides everything and tries to execute it; each question has one answer and at most one execution."""
    command = [sys.executable, "-c", RACER, str(home)]
    version = subprocess.run([*command, "version"], capture_output=True, text=True, check=True).stdout.strip()
    arguments = '{"line":"x"}'
    with (
        Database(home / "coilclaw.db", MIGRATIONS) as database,
        ReceiptLog(database, KEY) as log,
    ):
        book = ApprovalStore(database, log)
        asked = []
        for number in range(decisions):
            run_id = f"run-{number:04x}"
            question = Question(
                run_id=run_id,
                call_id=f"call-{number:04x}-1",
                number=1,
                tool="shelf.send",
                tool_version=version,
                risk=Risk.WRITE,
                reason="because",
                arguments=arguments,
                line=1,
                policy_hash=Policy(Autonomy.SUPERVISED).digest,
            )
            requested = Draft("tool.call.requested", "pending", now(), run_id, tool_call_id=question.call_id)
            asked.append(book.ask(question, digest(arguments.encode()), requested).id)
    racers = [
        subprocess.Popen([*command, f"racer {number}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(processes)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    won: list[tuple[str, bool]] = []
    for racer in racers:
        output, _ = racer.communicate(timeout=600)
        assert racer.returncode == 0
        won.extend(json.loads(output).items())
    winners = dict(won)
    assert len(won) == len(winners) == decisions, "each question was answered by exactly one"
    with Database(home / "coilclaw.db", ()) as database, ReceiptLog(database, KEY) as log:
        assert log.verify().ok
        receipts = log.latest(10**7)
        book = ApprovalStore(database, log)
        started = Counter(each.payload["approval"] for each in receipts if each.type == "tool.call.started")
        decided = Counter(
            each.payload["approval"]
            for each in receipts
            if each.type in ("tool.call.approved", "tool.call.denied") and "approval" in each.payload
        )
        states = {identity: book.get(identity).status for identity in asked}
    done = Counter((home / "done").read_text().split())
    assert set(decided.values()) == {1}
    assert set(done.values()) == {1}, "no call was executed twice"
    assert sum(done.values()) == sum(started.values()), "nothing was executed without a start"
    for identity in asked:
        assert started[identity] == (1 if winners[identity] else 0)
        assert states[identity] == ("consumed" if winners[identity] else "denied")


@pytest.mark.req("R32")
def test_of_eight_processes_one_decides_and_one_executes(tmp_path: Path) -> None:
    # Few enough that nobody waits long for the others, however busy the machine is.
    race(tmp_path, 8, 100 if EVERYTHING else 12)


# Taking over, and losing ---------------------------------------------------------------------------------------------


@define_tool(id="shelf.send", risk="write")
def send(ctx: ToolContext, line: str) -> str:
    """Every execution shows."""
    with (ctx.workspace / "done").open("a") as handle:
        handle.write(f"{line}\n")
    return line


class Held:
    """A tool that stands still until it is let go."""

    def __init__(self) -> None:
        held = self
        self.entered, self.let_go = threading.Event(), threading.Event()

        @define_tool(id="shelf.hold", risk="write")
        def hold(ctx: ToolContext, line: str) -> str:
            """Stands still the first time."""
            with (ctx.workspace / "done").open("a") as handle:
                handle.write(f"hold {line}\n")
            if not held.entered.is_set():
                held.entered.set()
                assert held.let_go.wait(60)
            return "held"

        self.tool = hold


def _as_if_gone(database: Database) -> None:
    """The process that has the run looks dead from here: it is in another container, or was frozen."""
    with database.transaction() as connection:
        connection.execute("UPDATE runs SET process = '999999999:1'")


def _done(world: World) -> list[str]:
    file = world.workspace / "done"
    return file.read_text().splitlines() if file.exists() else []


SLOW: Final = """
a = tools.shelf.hold(line="a")
b = tools.shelf.send(line="b")
c = tools.shelf.look(of="c")
[a.ok, b.ok, c.ok]
"""


@define_tool(id="shelf.look", risk="read")
def look(ctx: ToolContext, of: str) -> str:
    """Look."""
    return of


def test_a_process_that_lost_its_run_starts_nothing_and_writes_no_outcome(world: World, database: Database) -> None:
    held = Held()
    book = ApprovalStore(database, world.log)
    world.options |= {"database": database, "approvals": book}
    registry, runtime = world.registry(held.tool, send, look), world.runtime()
    reports: list[Any] = []
    zombie = threading.Thread(
        target=lambda: reports.append(runtime.run(Snippet(source=SLOW), world.engine, registry, Limits()))
    )
    zombie.start()
    assert held.entered.wait(60)
    ((run_id,),) = database.read("SELECT run_id FROM runs")
    with pytest.raises(NotResumable, match="under way"):
        runtime.resume(run_id, lambda name: world.engine, registry)
    _as_if_gone(database)
    first = runtime.resume(run_id, lambda name: world.engine, registry)
    assert (first.status, first.unknown) == ("suspended", "shelf.hold")
    taken = runtime.resume(run_id, lambda name: world.engine, registry, unknown="failed")
    assert taken.value == [False, True, True]
    before = [receipt.type for receipt in world.log.of_run(run_id)]
    held.let_go.set()
    zombie.join(60)
    assert reports[0].status == "crashed"
    assert "taken" in reports[0].error.message
    assert _done(world) == ["hold a", "b"], "what the other process did was not done again"
    assert [receipt.type for receipt in world.log.of_run(run_id)] == before, "no outcome of what it had lost"
    assert runtime.replay(run_id, lambda name: world.engine, registry).identical


def test_what_a_process_requests_after_it_lost_its_run_does_not_count(world: World, database: Database) -> None:
    """Else the call that the new owner has started would look as if it had only been asked for, and be made again."""
    held = Held()
    world.options |= {"database": database, "approvals": ApprovalStore(database, world.log)}
    source = """
import time
a = tools.shelf.look(of="a")
b = tools.shelf.hold(line="b")
[a.ok, b.ok or b.error.code]
"""
    registry, runtime = world.registry(held.tool, send, look), world.runtime()
    reports: list[Any] = []
    owner = threading.Thread(
        target=lambda: reports.append(runtime.run(Snippet(source=source), world.engine, registry, Limits()))
    )
    owner.start()
    assert held.entered.wait(60)
    ((run_id,),) = database.read("SELECT run_id FROM runs")
    # Another process took the run over, started the call, and died; then this one, frozen so far, writes what it can.
    stale = next(each for each in world.log.of_run(run_id) if each.tool == "shelf.hold" and "number" in each.payload)
    resumed = Draft("run.resumed", "running", now(), run_id)
    again = Draft(
        "tool.call.requested",
        "pending",
        now(),
        run_id,
        tool_call_id=stale.tool_call_id,
        tool=stale.tool,
        tool_version=stale.tool_version,
        args_hash=digest(b'{"line":"something else"}'),
        payload={"line": 4, "number": 2, "heard": stale.payload["heard"]},
    )
    _as_if_gone(database)
    with database.transaction() as connection:
        connection.execute("UPDATE runs SET fence = 2")
    world.log.append(resumed, again)
    report = runtime.resume(run_id, lambda name: world.engine, registry)
    assert (report.status, report.unknown) == ("suspended", "shelf.hold")
    assert _done(world) == ["hold b"]
    report = runtime.resume(run_id, lambda name: world.engine, registry, unknown="failed")
    assert report.value == [True, "unknown_outcome"]
    held.let_go.set()
    owner.join(60)
    assert _done(world) == ["hold b"]


def test_what_a_process_reads_after_it_lost_its_run_casts_no_doubt_on_it(world: World, database: Database) -> None:
    entered, let_go = threading.Event(), threading.Event()

    @define_tool(id="shelf.peek", risk="read")
    def peek(ctx: ToolContext, of: str) -> str:
        """Stands still the first time; what it sees differs from one time to the next."""
        if not entered.is_set():
            entered.set()
            assert let_go.wait(60)
        return f"{of} {now()}"

    world.options |= {"database": database, "approvals": ApprovalStore(database, world.log)}
    source = """
seen = [tools.shelf.peek(of=str(n)).unwrap() for n in range(4)]
tools.shelf.send(line=str(seen)).unwrap() == str(seen)
"""
    registry, runtime = world.registry(peek, send), world.runtime()
    reports: list[Any] = []
    zombie = threading.Thread(
        target=lambda: reports.append(runtime.run(Snippet(source=source), world.engine, registry, Limits()))
    )
    zombie.start()
    assert entered.wait(60)
    ((run_id,),) = database.read("SELECT run_id FROM runs")
    _as_if_gone(database)
    with database.transaction() as connection:
        connection.execute("UPDATE runs SET fence = 2")
    world.log.append(Draft("run.resumed", "running", now(), run_id))
    let_go.set()
    zombie.join(60)
    assert reports[0].status == "crashed"
    assert _done(world) == []
    report = runtime.resume(run_id, lambda name: world.engine, registry)
    assert (report.status, report.value) == ("completed", True), report.error
    assert len(_done(world)) == 1
    assert runtime.replay(run_id, lambda name: world.engine, registry).identical


def test_of_many_that_resume_a_run_one_does(world: World, database: Database) -> None:
    world.autonomy = Autonomy.SUPERVISED
    book = ApprovalStore(database, world.log)
    world.options |= {"database": database, "approvals": book}
    registry, runtime = world.registry(send), world.runtime()
    report = runtime.run(Snippet(source="tools.shelf.send(line='x').unwrap()"), world.engine, registry, Limits())
    (asked,) = book.list("pending")
    book.decide(asked.id, approved=True, decided_by="me")
    ends: list[str] = []
    at_once = threading.Barrier(4)

    def resume() -> None:
        at_once.wait()
        try:
            ends.append(runtime.resume(report.run_id, lambda name: world.engine, registry).status)
        except NotResumable:
            ends.append("refused")

    threads = [threading.Thread(target=resume) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(ends) == ["completed", "refused", "refused", "refused"]
    assert _done(world) == ["x"]


def main() -> None:
    """A thousand decisions."""
    with tempfile.TemporaryDirectory() as folder:
        race(Path(folder), 8, 1000)
    sys.stdout.write("1000 decisions, 8 processes: one outcome each, at most one execution each\n")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
