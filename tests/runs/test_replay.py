"""Runs that are executed again from their journals, and compared."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.conftest import KEY
from tests.runs.conftest import Altered, Replays
from tests.runs.journaled import TOOLS, add, look

from coilclaw.bridge.replay_host import _Answers
from coilclaw.policy import Autonomy
from coilclaw.receipts import Draft, LogUnwritable, ReceiptLog, canonical_json, digest, now
from coilclaw.receipts.canonical import in_profile
from coilclaw.runs import NoSuchRun, NotResumable, Runtime
from coilclaw.runs.report import value_digest
from coilclaw.sandbox import Deadline, Limits
from coilclaw.sdk import ToolContext, define_tool

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
        ("for n in range(9): tools.ledger.peek.start()", {"calls": 3}, "failed"),
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
    begun, held = threading.Event(), threading.Event()

    @define_tool(id="slow.read", risk="read")
    def slow(ctx: ToolContext) -> int:
        with (ctx.workspace / "slow").open("a") as handle:
            handle.write("x")
        begun.set()
        while not ctx.cancelled and not held.is_set():
            held.wait(0.01)
        return 1

    @define_tool(id="slow.begun", risk="read")
    def wait_until_begun(ctx: ToolContext) -> bool:
        return begun.wait(60)

    report = replays.run("tools.slow.read.start()\ntools.slow.begun().unwrap()", slow, wait_until_begun)
    held.set()
    assert report.value is True
    found = replays.replay(report.run_id, slow, wait_until_begun)
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
        replays.book.decide(each.id, approved=True, decided_by="me")
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
    assert "a replay cannot repeat" in found.note


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
        "UPDATE receipts SET body = 7 WHERE seq = (SELECT min(seq) + 1 FROM receipts)",
        "UPDATE receipts SET receipt_hash = 7 WHERE seq = (SELECT min(seq) + 1 FROM receipts)",
        'UPDATE runs SET header = replace(header, \'"seed": "\', \'"seed": "00\')',
        "UPDATE journal SET body = CAST(body AS BLOB)",
        "UPDATE journal SET key = 'abc' WHERE key = 1",
    ],
    ids=["a row", "no row", "a result", "no result", "a receipt", "a number", "a hash", "the seed", "bytes", "a key"],
)
def test_what_was_changed_in_the_store_is_found(replays: Replays, change: str) -> None:
    report = replays.run(SOURCE)
    replays.world.log.flush()
    with replays.database.transaction() as connection:
        connection.execute(change)
    found = replays.replay(report.run_id)
    assert found.difference is not None
    assert found.difference.what == "journal"


@pytest.mark.parametrize(
    "change", ["first_seq = 'x'", "first_seq = -9223372036854775808", "fence = 'x'", "header = x'ff'", "header = 7"]
)
def test_a_run_whose_row_was_changed_is_damaged(replays: Replays, change: str) -> None:
    report = replays.run(SOURCE)
    with replays.database.transaction() as connection:
        connection.execute(f"UPDATE runs SET {change}")
    with pytest.raises(NotResumable, match="damaged"):
        replays.replay(report.run_id)


def test_names_that_stand_for_nothing_are_not_kept(replays: Replays) -> None:
    source = """
for number in range(40):
    name = f"{number}" + "x" * 1_000_000
    getattr(tools, name)()
    vars(tools).pop(name)
"""
    report = replays.run(source)
    assert report.status == "completed"
    tracemalloc.start()
    try:
        assert replays.replay(report.run_id).identical
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20_000_000, "40 MB of names were sent"


def rewrite(connection: Any, change: Callable[[dict[str, Any]], None]) -> None:
    """Change receipts and recompute every hash and the head: all that can be done without the key."""
    previous = None
    for seq, body in list(connection.execute("SELECT seq, CAST(body AS BLOB) FROM receipts ORDER BY seq")):
        fields = json.loads(body)
        change(fields)
        fields["previous_hash"] = previous or fields["previous_hash"]
        written = canonical_json(in_profile(fields))
        previous = digest(written)
        connection.execute("UPDATE receipts SET body = ?, receipt_hash = ? WHERE seq = ?", (written, previous, seq))
    connection.execute("UPDATE receipt_head SET receipt_hash = ?", (previous,))


def test_a_log_that_was_rewritten_with_all_its_hashes_is_found_by_its_seal(replays: Replays) -> None:
    report = replays.run("tools.ledger.look(of='a').unwrap()")
    replays.world.log.close()  # It would notice by itself, sooner or later.
    forged = digest(b'"forged"')

    def forge(fields: dict[str, Any]) -> None:
        fields["result_hash"] = fields["result_hash"] and forged
        if fields["type"] == "run.finished":
            fields["payload"] |= {"heard": mark, "value_hash": value_digest("forged")}

    with replays.database.transaction() as connection:
        ((row,),) = connection.execute("SELECT body FROM journal")
        row = row.replace(json.loads(row)[1], forged)
        mark = f"1:{digest(row.encode())[:32]}"
        connection.execute("UPDATE journal SET body = ?", (row,))
        connection.execute("INSERT INTO contents VALUES (?, ?)", (forged, b'"forged"'))
        rewrite(connection, forge)
    with ReceiptLog(replays.database, KEY) as log:  # As in a process that has written nothing yet.
        runtime = Runtime(replace(replays.world.services(), log=log))
        found = runtime.replay(report.run_id, lambda name: replays.engine, replays.world.registry(*TOOLS))
    assert found.difference is not None
    assert "seal" in found.difference.message


def test_a_log_that_was_cut_with_its_journal_is_found_by_its_seal(replays: Replays) -> None:
    report = replays.run(SOURCE)
    replays.world.log.close()  # It would notice by itself, sooner or later.
    with replays.database.transaction() as connection:
        connection.execute("DELETE FROM receipts WHERE seq > 4")
        connection.execute("DELETE FROM journal WHERE key > 1")
        connection.execute("UPDATE runs SET status = 'suspended'")
    with ReceiptLog(replays.database, KEY) as log:
        runtime = Runtime(replace(replays.world.services(), log=log))
        registry = replays.world.registry(*TOOLS)
        found = runtime.replay(report.run_id, lambda name: replays.engine, registry)
        assert found.difference is not None
        assert "does not end as its seal says" in found.difference.message
        with pytest.raises(LogUnwritable):
            runtime.resume(report.run_id, lambda name: replays.engine, registry)
    assert len(replays.lines()) == 1


def test_a_run_that_is_under_way_is_left_alone(replays: Replays) -> None:
    report = replays.run("1")
    with replays.database.transaction() as connection:
        connection.execute("UPDATE runs SET status = 'running'")
    with pytest.raises(NotResumable, match="under way"):
        replays.replay(report.run_id)
    with pytest.raises(NoSuchRun):
        replays.replay("run-nothing")


def test_answers_are_made_ready_ahead_only_as_far_as_they_are_small(
    replays: Replays, monkeypatch: pytest.MonkeyPatch
) -> None:
    @define_tool(id="a.text", risk="read")
    def text(ctx: ToolContext, size: int, mark: int) -> str:
        return f"{mark:08}".ljust(size)

    source = """
sizes = [10] * 70 + [200_000] * 20 + [10] * 70
waiting = [tools.a.text.start(size=size, mark=mark) for mark, size in enumerate(sizes)]
unread = [tools.a.text.start(size=200_000, mark=1000 + mark) for mark in range(5)]
told = [len(tools.a.text(size=size, mark=2000 + mark).unwrap()) for mark, size in enumerate(sizes)]
[told == sizes, [len(each.result().unwrap()) for each in waiting] == sizes]
"""
    report = replays.run(source, text)
    assert report.value == [True, True], report.error
    held: list[int] = []
    read = _Answers._read

    def watched(answers: _Answers, numbers: Sequence[int]) -> int:
        count = read(answers, numbers)
        held.append(sum(map(len, answers._ready.values())))
        return count

    monkeypatch.setattr(_Answers, "_read", watched)
    assert replays.replay(report.run_id, text).identical
    assert len(held) < 60, "many small ones come at once"
    assert max(held) < 512 * 1024 + 200_000, "a batch, and one that is delivered later"
