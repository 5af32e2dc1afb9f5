"""Runs that are executed again from their journals, and compared."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import World

from coilclaw.policy import ApprovalBook, Autonomy
from coilclaw.receipts import Draft, now
from coilclaw.runs import Comparison, NoSuchRun, NotResumable, RunReport, Runtime
from coilclaw.runs.stop import frames_of
from coilclaw.sandbox import Deadline, Engine, Host, Limits, Outcome, Pins, Snippet
from coilclaw.sandbox.guest.variables import shown
from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sdk import Err, Ok, Tool, ToolContext, ToolFailure, define_tool
from coilclaw.store import Database


@define_tool(id="ledger.add", risk="write")
def add(ctx: ToolContext, line: str) -> int:
    """Append a line to a file; every execution shows."""
    file = ctx.workspace / "ledger"
    with file.open("a") as handle:
        handle.write(f"{line}\n")
    return len(file.read_text().splitlines())


@define_tool(id="ledger.look", risk="read")
def look(ctx: ToolContext, of: str = "x") -> str:
    """What is read may change from one look to the next."""
    file = ctx.workspace / "looks"
    with file.open("a") as handle:
        handle.write(f"{of}\n")
    return f"{of} {len(file.read_text().splitlines())}"


TOOLS: tuple[Tool, ...] = (add, look)


class Replays:
    """Runs, and everything one can see of whether something was done."""

    def __init__(self, world: World, database: Database) -> None:
        self.world = world
        self.database = database
        self.book = ApprovalBook(database, world.log)
        self.engine: Engine = world.engine
        world.options |= {"database": database, "book": self.book}

    @property
    def runtime(self) -> Runtime:
        return Runtime(self.world.surroundings())

    def run(self, source: str, *tools: Tool, deadline: Deadline | None = None, **limits: Any) -> RunReport:
        registry = self.world.registry(*(tools or TOOLS))
        return self.runtime.run(Snippet(source=source), self.engine, registry, Limits(**limits), deadline=deadline)

    def replay(self, run_id: str, *tools: Tool, until: int | None = None, engine: Engine | None = None) -> Comparison:
        """Replay, and see that nothing was done for it."""
        registry = self.world.registry(*(tools or TOOLS))
        before = self.traces()
        found = self.runtime.replay(run_id, lambda name: engine or self.engine, registry, until=until)
        assert self.traces() == before
        return found

    def traces(self) -> tuple[Any, ...]:
        self.world.log.flush()
        rows = [self.database.read(f"SELECT * FROM {table}") for table in ("receipts", "runs", "journal", "approvals")]
        files = [(file.name, file.read_text()) for file in sorted(self.world.workspace.iterdir())]
        return (*rows, files)


@pytest.fixture
def replays(world: World, database: Database) -> Replays:
    return Replays(world, database)


@pytest.fixture(scope="module")
def restricted() -> Iterator[RestrictedEngine]:
    engine = RestrictedEngine(spares=1)
    yield engine
    engine.close()


@pytest.fixture(params=["wasm", "restricted"])
def either(request: pytest.FixtureRequest, replays: Replays) -> Replays:
    if request.param == "restricted":
        replays.engine = request.getfixturevalue("restricted")
    return replays


class Altered:
    """An engine that runs another source than it is given: what a repetition must notice."""

    def __init__(self, engine: Engine, old: str, new: str) -> None:
        self.engine, self.old, self.new = engine, old, new

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def build(self) -> str:
        return self.engine.build

    def execute(self, snippet: Snippet, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        assert self.old in snippet.source
        other = Snippet(source=snippet.source.replace(self.old, self.new), name=snippet.name, inputs=snippet.inputs)
        return self.engine.execute(other, limits, host, deadline, pins)

    def close(self) -> None:
        self.engine.close()


EVERYTHING = """
import asyncio, random, time, uuid
a = tools.ledger.look(of="a").unwrap()
pending = [tools.ledger.look.start(of=str(n)) for n in range(4)]
results = await asyncio.gather(*pending)
await asyncio.sleep(0.01)
print(a, random.random(), time.time(), uuid.uuid4(), list({"p", "q", "r"}))
n = tools.ledger.add(line=a).unwrap()
missing = tools.ledger.look(of=5)
[a, n, missing.error.code, sorted(each.unwrap()[0] for each in results)]
"""


def test_a_finished_run_is_identical_and_nothing_is_done_for_it(replays: Replays) -> None:
    report = replays.run(EVERYTHING)
    assert report.status == "completed", report.error
    found = replays.replay(report.run_id)
    assert found.identical, found.difference
    assert (found.status, found.calls, found.compared) == ("completed", 7, ("calls", "status", "output", "value"))
    assert found.outcome.stdout == report.stdout
    assert getattr(found.outcome, "value", None) == report.value


def test_it_is_identical_as_often_as_one_likes(either: Replays) -> None:
    report = either.run(
        "import random\nprint(tools.ledger.look().unwrap(), random.random())\ntools.ledger.add(line='x').unwrap()"
    )
    assert [either.replay(report.run_id).identical for _ in range(3)] == [True, True, True]


@pytest.mark.parametrize(
    ("source", "limits", "status"),
    [
        ("tools.ledger.look()\nprint('x')\n1 / 0", {}, "failed"),
        ("for n in range(9): tools.ledger.look()", {"calls": 3}, "failed"),
        ("for n in range(9): tools.ledger.look.start()", {"calls": 3}, "failed"),
        ("tools.ledger.look()\nprint('x' * 10**6)", {"output_bytes": 1000}, "output_exceeded"),
        (
            "tools.ledger.look()\nx = []\nwhile True: x.append('a' * 10**6)",
            {"memory_bytes": 64 * 2**20},
            "out_of_memory",
        ),
        ("x = = 1", {}, "rejected"),
        ("tools.ledger.lok()", {}, "rejected"),
        ("tools.ledger.look()\nraise SystemExit(3)", {}, "failed"),
    ],
)
def test_every_end_that_follows_from_the_snippet_comes_again(
    replays: Replays, source: str, limits: dict[str, Any], status: str
) -> None:
    report = replays.run(source, **limits)
    assert report.status == status
    found = replays.replay(report.run_id)
    assert (found.identical, found.status, found.note) == (True, status, None), found.difference
    assert "status" in found.compared


def test_a_call_that_nobody_waited_for_is_not_made_again(replays: Replays) -> None:
    held = threading.Event()

    @define_tool(id="slow.read", risk="read")
    def slow(ctx: ToolContext) -> int:
        with (ctx.workspace / "slow").open("a") as handle:
            handle.write("x")
        while not ctx.cancelled and not held.is_set():
            held.wait(0.01)
        return 1

    report = replays.run("tools.slow.read.start()\n'done'", slow)
    held.set()
    assert report.value == "done"
    found = replays.replay(report.run_id, slow)
    assert found.identical, found.difference


def test_a_suspended_run_stops_at_the_same_call(replays: Replays) -> None:
    replays.world.autonomy = Autonomy.SUPERVISED
    report = replays.run("a = tools.ledger.look().unwrap()\nprint(a)\ntools.ledger.add(line=a).unwrap()")
    assert report.status == "suspended"
    found = replays.replay(report.run_id)
    assert found.identical, found.difference
    assert (found.status, found.calls) == ("suspended", 2)
    engine = Altered(replays.engine, "line=a)", "line=a + '!')")
    other = replays.replay(report.run_id, engine=engine)
    assert other.difference is not None
    assert (other.difference.call, other.difference.what) == (2, "arguments")
    assert '{"line":"x 1!"}' in other.difference.message


def test_parallel_calls_that_wait_are_neither_asked_about_nor_made(replays: Replays) -> None:
    replays.world.autonomy = Autonomy.SUPERVISED
    source = """
import asyncio
reads = [tools.ledger.look.start(of=str(n)) for n in range(3)]
writes = [tools.ledger.add.start(line=str(n)) for n in range(3)]
await asyncio.gather(*reads, *writes)
"""
    report = replays.run(source)
    assert report.status == "suspended"
    # Even if it would be allowed today.
    replays.world.autonomy = Autonomy.FULL
    found = replays.replay(report.run_id)
    assert found.identical, found.difference
    assert found.calls == 6


def test_a_run_that_was_resumed_is_identical_from_its_beginning(replays: Replays) -> None:
    replays.world.autonomy = Autonomy.SUPERVISED
    report = replays.run("import random\nr = random.random()\ntools.ledger.add(line=str(r)).unwrap()\nprint(r)")
    for each in replays.book.list("pending"):
        replays.book.decide(each.id, granted=True, decided_by="me")
    done = replays.runtime.resume(report.run_id, lambda name: replays.engine, replays.world.registry(*TOOLS))
    assert done.status == "completed"
    assert replays.replay(report.run_id).identical


def test_a_direct_call_is_repeated_too(replays: Replays) -> None:
    registry = replays.world.registry(*TOOLS)
    result, report = replays.runtime.call("ledger.look", {"of": "d"}, registry, Limits())
    assert result.ok
    found = replays.replay(report.run_id)
    assert (found.identical, found.compared) == (True, ("calls", "status", "output", "value"))
    with pytest.raises(NotResumable, match="direct call"):
        replays.replay(report.run_id, until=1)


@pytest.mark.parametrize("ending", ["time", "cancel"])
def test_an_end_that_depends_on_the_moment_is_left_out_and_said_to_be(replays: Replays, ending: str) -> None:
    deadline = Deadline(60)

    @define_tool(id="slow.read", risk="read")
    def slow(ctx: ToolContext) -> int:
        # Either way the run ends while this call is under way.
        if ending == "cancel":
            deadline.cancel()
        else:
            deadline.seconds = 0
            deadline.restart()
        while not ctx.cancelled:
            threading.Event().wait(0.005)
        return 1

    report = replays.run("tools.ledger.look()\nprint('x')\ntools.slow.read()", slow, look, deadline=deadline)
    assert report.status == ("cancelled" if ending == "cancel" else "timed_out")
    found = replays.replay(report.run_id, slow, look)
    assert found.identical, found.difference
    assert found.compared == ("calls",)
    assert found.note is not None
    assert "does not repeat" in found.note


def test_a_run_whose_process_died_is_compared_as_far_as_it_came(replays: Replays) -> None:
    replays.world.autonomy = Autonomy.SUPERVISED
    report = replays.run("tools.ledger.look()\ntools.ledger.add(line='x')")
    replays.world.log.append(Draft("run.resumed", "running", now(), report.run_id, None))
    script = "from coilclaw.trust import this_process; print(this_process(), end='')"
    dead = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout.decode()
    with replays.database.transaction() as connection:
        connection.execute("UPDATE runs SET status = 'running', process = ?", (dead,))
    found = replays.replay(report.run_id)
    assert (found.identical, found.status) == (True, "running")
    assert found.note is not None
    assert "its process ended" in found.note


# Differences -------------------------------------------------------------------------------------------

SOURCE = "a = tools.ledger.look(of='a').unwrap()\nprint(a)\nb = tools.ledger.add(line=a).unwrap()\n[a, b]"


@pytest.mark.parametrize(
    ("old", "new", "call", "what", "message"),
    [
        ("of='a'", "of='b'", 1, "arguments", 'call 1 was with {"of":"a"} and is with {"of":"b"} now'),
        ("ledger.add(line=a)", "ledger.look(of=a)", 2, "tool", "call 2 was of ledger.add and is of ledger.look now"),
        ("ledger.add(", "ledger.ad(", 2, "tool", "which does not exist"),
        ("[a, b]", "tools.ledger.look()", 3, "call", "call 3 was not made and is of ledger.look now"),
        ("tools.ledger.add(line=a).unwrap()", "1", 2, "call", "call 2 was of ledger.add and is not made now"),
        ("tools.ledger.add(line=a)", "tools.ledger.add.start(line=a).result()", 2, "order", "call 2"),
        ("print(a)", "print(a, a)", None, "output", "what the run printed"),
        ("[a, b]", "[b, a]", None, "value", "the run's value"),
        ("[a, b]", "[a, b, 1/0]", None, "status", "'failed' now (ZeroDivisionError"),
        ("[a, b]", "import os\nos._exit(0)", None, "status", "'crashed' now"),
    ],
)
def test_the_first_difference_is_named(
    replays: Replays, old: str, new: str, call: int | None, what: str, message: str
) -> None:
    report = replays.run(SOURCE)
    found = replays.replay(report.run_id, engine=Altered(replays.engine, old, new))
    assert not found.identical
    assert found.difference is not None
    assert (found.difference.call, found.difference.what) == (call, what)
    assert message in found.difference.message


def test_a_tool_that_no_longer_exists_is_said_to_be_gone(replays: Replays) -> None:
    report = replays.run(SOURCE)
    found = replays.replay(report.run_id, add)
    assert found.difference is not None
    assert (found.difference.call, found.difference.what) == (1, "tool")
    assert "ledger.look, which does not exist" in found.difference.message


def test_a_tool_whose_source_changed_is_a_difference(replays: Replays) -> None:
    @define_tool(id="ledger.look", risk="read", timeout=9)
    def other(ctx: ToolContext, of: str = "x") -> str:
        return "changed"

    report = replays.run(SOURCE)
    found = replays.replay(report.run_id, add, other)
    assert found.difference is not None
    assert (found.difference.call, found.difference.what) == (1, "version")


def test_a_rejected_run_that_would_be_accepted_today_is_a_difference_and_does_nothing(replays: Replays) -> None:
    report = replays.run("tools.ledger.add(line='x')", look)
    assert report.status == "rejected"
    found = replays.replay(report.run_id, *TOOLS)
    assert not found.identical


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE journal SET body = replace(body, '\"', '''') WHERE key = 1",
        "DELETE FROM journal WHERE key = 1",
        "UPDATE contents SET body = '\"forged\"' WHERE hash IN (SELECT json_extract(body, '$[1]') FROM journal)",
        "DELETE FROM contents WHERE hash IN (SELECT json_extract(body, '$[1]') FROM journal)",
        "UPDATE receipts SET body = replace(body, 'ledger.look', 'ledger.lurk')",
        "UPDATE receipts SET body = CAST(body AS TEXT) WHERE seq = (SELECT min(seq) + 1 FROM receipts)",
        "UPDATE receipts SET receipt_hash = 7 WHERE seq = (SELECT max(seq) FROM receipts)",
        'UPDATE runs SET header = replace(header, \'"seed": "\', \'"seed": "00\')',
    ],
    ids=["a row", "no row", "a result", "no result", "a receipt", "a text", "a hash", "the seed"],
)
def test_what_was_changed_in_the_store_is_found(replays: Replays, change: str) -> None:
    report = replays.run(SOURCE)
    replays.world.log.flush()
    with replays.database.transaction() as connection:
        connection.execute(change)
    found = replays.replay(report.run_id)
    assert found.difference is not None
    assert found.difference.what == "journal"


def test_a_run_that_is_under_way_is_left_alone(replays: Replays) -> None:
    report = replays.run("1")
    with replays.database.transaction() as connection:
        connection.execute("UPDATE runs SET status = 'running'")
    with pytest.raises(NotResumable, match="under way"):
        replays.replay(report.run_id)
    with pytest.raises(NoSuchRun):
        replays.replay("run-nothing")


# Stopping at a call ------------------------------------------------------------------------------------

STOPPED = """
import json
class Point:
    def __init__(self, x):
        self.x = x
    def __repr__(self):
        while True:
            pass
total = 3
def work(n):
    point = Point(n)
    try:
        return tools.ledger.add(line=str(n))
    except BaseException:
        tools.ledger.add(line="caught")
    finally:
        tools.ledger.add(line="finally")
first = tools.ledger.look(of="a").unwrap()
work(total)
"""


def variables(comparison: Comparison, frame: int) -> dict[str, tuple[str, str]]:
    assert comparison.stop is not None
    assert comparison.stop.frames is not None
    return {each.name: (each.type, each.value) for each in comparison.stop.frames[frame].variables}


def test_until_shows_the_line_and_the_variables_and_runs_nothing_of_the_snippet(either: Replays) -> None:
    report = either.run(STOPPED)
    assert report.status == "completed", report.error
    found = either.replay(report.run_id, until=2)
    assert found.identical
    stop = found.stop
    assert stop is not None
    assert (stop.call, stop.tool, stop.arguments, stop.line) == (2, "ledger.add", '{"line":"3"}', 13)
    assert stop.frames is not None
    assert [(frame.function, frame.line) for frame in stop.frames] == [("work", 13), ("<module>", 19)]
    assert variables(found, 0) == {"n": ("int", "3"), "point": ("Point", "<Point x=3>")}
    outer = variables(found, 1)
    assert outer["first"] == ("str", "'a 1'")
    assert outer["total"] == ("int", "3")
    assert "tools" not in outer
    assert "json" not in outer


def test_until_stops_where_a_parallel_call_is_issued(either: Replays) -> None:
    report = either.run("""
import asyncio
async def one(n):
    return await tools.ledger.look.start(of=str(n))
await asyncio.gather(*(one(n) for n in range(3)))
""")
    assert report.status == "completed", report.error
    found = either.replay(report.run_id, until=2)
    assert found.stop is not None
    assert found.stop.arguments == '{"of":"1"}'
    assert variables(found, 0) == {"n": ("int", "1")}


def test_until_shows_what_a_suspended_run_waits_with(replays: Replays) -> None:
    replays.world.autonomy = Autonomy.SUPERVISED
    report = replays.run("a = tools.ledger.look().unwrap()\ntools.ledger.add(line=a)")
    found = replays.replay(report.run_id, until=2)
    assert found.identical
    assert variables(found, 0) == {"a": ("str", "'x 1'")}


def test_until_needs_a_call_that_was_made(replays: Replays) -> None:
    report = replays.run("tools.ledger.look()")
    with pytest.raises(NotResumable, match="there is no call 2"):
        replays.replay(report.run_id, until=2)


def test_a_difference_before_the_stop_comes_first(replays: Replays) -> None:
    report = replays.run(SOURCE)
    found = replays.replay(report.run_id, until=2, engine=Altered(replays.engine, "of='a'", "of='b'"))
    assert found.stop is None
    assert found.difference is not None
    assert found.difference.call == 1


@define_tool(id="forger.value", risk="read")
def forged_value(ctx: ToolContext) -> dict[str, Any]:
    return {"ok": False, "stop": True}


@define_tool(id="forger.failure", risk="read")
def forged_failure(ctx: ToolContext) -> int:
    raise ToolFailure('x","stop":true,"y":"', code="stop", hint='{"ok":false,"stop":true}')


def test_no_tool_can_stop_a_run(either: Replays) -> None:
    source = """
a = tools.forger.value().unwrap()
b = tools.forger.failure()
c = tools.forger.value.start().result().unwrap()
[a, b.error.code, c]
"""
    report = either.run(source, forged_value, forged_failure)
    assert report.value == [{"ok": False, "stop": True}, "stop", {"ok": False, "stop": True}]
    assert either.replay(report.run_id, forged_value, forged_failure).identical


def test_a_snippet_that_reports_variables_by_itself_gets_an_unknown_tool(replays: Replays) -> None:
    source = """
import sys
completions = object.__getattribute__(tools, "_completions")
print(completions.host.call("", "[]", 1))
completions.stop()
"""
    report = replays.run(source)
    assert report.status == "failed"
    assert "invalid_input" in report.stdout
    ended = [each.type for each in replays.world.log.of_run(report.run_id) if each.tool_call_id]
    assert ended == ["tool.call.requested", "tool.call.failed"] * 2


def test_a_snippet_that_lies_about_its_variables_is_bounded(replays: Replays) -> None:
    source = """
import coilclaw.sandbox.guest.tools as inside
inside.frames_json = lambda frame, flag: '[{"function": "f", "line": 1, "variables": [["a", "b", "' + "x" * 10**5 + '"], [1]]}, 7]'
tools.ledger.look()
"""
    report = replays.run(source)
    assert report.status == "completed", report.error
    found = replays.replay(report.run_id, until=1)
    assert variables(found, 0) == {"a": ("b", "x" * 200)}


def test_a_snippet_that_never_shows_its_variables_is_ended(replays: Replays) -> None:
    source = """
import coilclaw.sandbox.guest.tools as inside
def never(frame, flag):
    while True: pass
inside.frames_json = never
tools.ledger.look()
"""
    report = replays.run(source, seconds=0.5)
    found = replays.replay(report.run_id, until=1)
    assert found.outcome.status == "timed_out"
    assert found.stop is not None
    assert found.stop.frames is None


@pytest.mark.parametrize(
    "report",
    [b"", b"nonsense", b"{}", b"[1, 2]", b"[" * 5000, b'[{"function": 1}]', b"\xff", b'["' + b"x" * 2**20 + b'"]'],
    ids=["empty", "text", "object", "numbers", "deep", "half", "bytes", "long"],
)
def test_a_report_of_another_form_is_no_report(report: bytes) -> None:
    assert frames_of(report) == ()


def test_a_report_is_cut_to_what_a_person_reads() -> None:
    small = [{"function": "f" * 999, "line": n, "variables": [["v" * 300, "t", "x"]] * 150} for n in range(12)]
    frames = frames_of(json.dumps(small).encode())
    assert len(frames) == 10
    assert len(frames[0].variables) == 100
    assert len(frames[0].variables[0].name) == 200


class Hostile(type):
    def __eq__(cls, other: object) -> bool:
        raise AssertionError("the snippet ran")

    def __hash__(cls) -> int:
        raise AssertionError("the snippet ran")


def _ran(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("the snippet ran")


class Thing(metaclass=Hostile):
    __slots__ = ("held", "never")
    __repr__ = __str__ = __iter__ = __len__ = __getattr__ = _ran
    __class__ = property(_ran)

    def __init__(self) -> None:
        self.held = [1]


class Table(dict[str, int]):
    items = keys = __iter__ = __len__ = __repr__ = _ran


class Text(str):
    __repr__ = __str__ = __len__ = __getitem__ = _ran


class Number(int):
    __repr__ = __str__ = bit_length = _ran


LOOP: list[Any] = [1]
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Thing(), "<Thing held=[1]>"),
        ([Thing()], "[<Thing held=[1]>]"),
        (Table(a=1), "Table({'a': 1})"),
        (Text("abc"), "Text('abc')"),
        (Number(7), "Number(7)"),
        (2**100_000, "<a number of 100001 bits>"),
        (LOOP, "[1, [1, [1, [… 2]]]]"),
        (Ok({"a": 1}), "Ok({'a': 1})"),
        (Err("code", "text"), "Err('code', 'text')"),
        (list(range(1000)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 1000]"),
        ((1,), "(1,)"),
        (ValueError("x", 2), "ValueError('x', 2)"),
        (Thing, "<class Thing>"),
        (range(10**6000), "<range>"),
    ],
    ids=str.split("thing in dict str int long loop ok err many one error class range"),
)
def test_values_are_shown_without_running_anything_of_theirs(value: Any, text: str) -> None:
    assert shown(value) == text


def test_no_value_is_shown_at_length() -> None:
    deep: Any = "x" * 10**6
    for _ in range(50):
        deep = [deep, {"k" * 1000: deep}]
    assert all(
        len(shown(each)) <= 200 for each in (deep, "x" * 10**6, b"x" * 10**6, dict.fromkeys(range(500), "y" * 500))
    )
