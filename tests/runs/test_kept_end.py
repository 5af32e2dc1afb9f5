"""What a run gave and printed can be shown again, as it was when it ended."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runs.conftest import Replays
from tests.runs.journaled import TOOLS

from coilclaw.policy import Autonomy
from coilclaw.receipts import DamagedReceipt, Draft
from coilclaw.runs import NoSuchRun, RunReport, cancel_run, find_run, report_of
from coilclaw.sandbox import Deadline, Failed, Rejected

ENDS = {
    "completed": "print('ä\\n', end=''); {'a': [1, 2.5, None, 'é', 10**20], 'b': float('inf')}",
    "failed": "print('so far')\ndef f(): raise ValueError('no')\nf()",
    "rejected": "tools.ledger.nothing(); tools.ledger.neither()",
    "out_of_memory": "print('x'); a = [0] * 10**9",
    "output_exceeded": "print('x' * 5_000)",
    "cancelled": "print('so far'); tools.ledger.peek()\nwhile True: pass",
    "timed_out": "while True: pass",
}


def shown(replays: Replays, report: RunReport) -> RunReport | None:
    return report_of(replays.database, replays.world.log, report.run_id)


@pytest.mark.parametrize("status", ENDS)
def test_every_end_is_shown_as_it_was(replays: Replays, status: str) -> None:
    deadline = Deadline(0.5 if status == "timed_out" else 20)
    if status == "cancelled":
        replays.world.of_caller["show"] = lambda stream, text: deadline.cancel()
    report = replays.run(ENDS[status], deadline=deadline, output_bytes=4_000, memory_bytes=128 * 2**20)
    assert report.status == status
    again = shown(replays, report)
    assert again == report
    assert again is not None
    assert again.error == report.error
    assert replays.world.log.verify().ok


@pytest.mark.parametrize("status", ["diverged", "crashed"])
def test_an_end_that_is_the_hosts_doing_is_shown_too(
    replays: Replays, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if status == "crashed":

        class Broken(type(replays.engine)):  # type: ignore[misc]
            def execute(self, *args: Any) -> Any:
                raise ZeroDivisionError

        monkeypatch.setattr(replays.engine, "__class__", Broken)
        report = replays.run("1")
    else:
        replays.world.autonomy = Autonomy.SUPERVISED
        waits = replays.run("tools.ledger.look(); tools.ledger.add(line='x')")
        with replays.database.transaction() as connection:
            connection.execute("DELETE FROM journal")
        registry = replays.world.registry()
        report = replays.runtime.resume(waits.run_id, lambda name: replays.engine, registry)
    assert report.status == status
    assert shown(replays, report) == report


def test_a_suspended_run_shows_what_it_printed_and_still_does_when_it_is_cancelled(replays: Replays) -> None:
    replays.world.autonomy = Autonomy.SUPERVISED
    report = replays.run("print('before')\ntools.ledger.add(line='x')")
    assert report.status == "suspended"
    assert shown(replays, report) == report
    cancel_run(replays.database, replays.world.log, replays.book, report.run_id, decided_by="me")
    again = shown(replays, report)
    assert again is not None
    assert (again.status, again.stdout, again.duration_ms) == ("cancelled", "before\n", report.duration_ms)
    assert not again.unkept


def test_a_resumed_run_shows_its_last_end(replays: Replays) -> None:
    replays.world.autonomy = Autonomy.SUPERVISED
    waits = replays.run("print('before')\nn = tools.ledger.add(line='x').unwrap()\nprint('after')\nn")
    (asked,) = replays.book.list("pending")
    replays.book.decide(asked.id, approved=True, decided_by="me")
    report = replays.runtime.resume(waits.run_id, lambda name: replays.engine, replays.world.registry(*TOOLS))
    assert (report.status, report.value, report.stdout) == ("completed", 1, "before\nafter\n")
    assert shown(replays, report) == report


def test_a_run_that_has_not_ended_has_no_report(replays: Replays) -> None:
    report = replays.run("1")
    with replays.database.transaction() as connection:
        connection.execute("DELETE FROM receipts WHERE seq = (SELECT max(seq) FROM receipts)")
    assert shown(replays, report) is None
    with pytest.raises(NoSuchRun):
        report_of(replays.database, replays.world.log, "run-0")


@pytest.mark.parametrize(
    ("source", "unkept"),
    [
        ("print('x' * 90_000); 'y' * 3_000", {"stdout"}),
        ("print('x'); 'y' * 90_000", {"value"}),
        ("print('x' * 90_000); 'y' * 90_001", {"value", "stdout"}),
        ("print('x' * 90_000); raise ValueError('y' * 90_000)", {"error", "stdout"}),
    ],
)
def test_an_end_without_room_loses_no_run_and_says_what_is_missing(
    replays: Replays, source: str, unkept: set[str]
) -> None:
    report = replays.run(source, kept_bytes=64 * 1024, output_bytes=10**6)
    assert report.status in ("completed", "failed")
    again = shown(replays, report)
    assert again is not None
    assert again.unkept == unkept
    assert again.status == report.status
    if "error" in unkept:
        assert isinstance(again.outcome, Failed)
        assert "was not kept" in again.outcome.error.message
    if "stdout" not in unkept:
        assert again.stdout == report.stdout
    if "value" not in unkept:
        assert again.value == report.value
    assert replays.world.log.verify().ok
    assert replays.replay(report.run_id).identical


def test_a_run_whose_receipts_are_older_than_kept_ends_says_that_nothing_was_kept(replays: Replays) -> None:
    kinds = {"completed": "print(1); 2", "failed": "1 / 0", "rejected": "tools.ledger.nothing()"}
    for status, source in kinds.items():
        report = replays.run(source)
        log = replays.world.log
        old = next(each for each in log.of_run(report.run_id) if each.type == "run.finished")
        facts = {key: value for key, value in old.payload.items() if key not in ("kept", "error_hash", "stderr_hash")}
        log.append(Draft("run.finished", old.status, old.timestamp, report.run_id, payload=facts))
        again = shown(replays, report)
        assert again is not None
        assert again.status == status
        assert again.unkept == ({"value", "stdout"} if status == "completed" else {"error", "stdout"})
        assert (again.value, again.stdout) == (None, "")
        assert again.duration_ms == report.duration_ms


def test_a_kept_value_that_was_changed_is_not_shown(replays: Replays) -> None:
    report = replays.run("'something'")
    with replays.database.transaction() as connection:
        connection.execute(
            "UPDATE contents SET body = CAST('\"forged\"' AS BLOB) WHERE body = CAST(? AS BLOB)", ('"something"',)
        )
    with pytest.raises(DamagedReceipt, match="were changed"):
        shown(replays, report)


@pytest.mark.parametrize("part", ["value", "stdout"])
def test_a_kept_end_that_was_taken_away_is_missing(replays: Replays, part: str) -> None:
    report = replays.run("print('printed'); 'given'")
    (end,) = [each for each in replays.world.log.of_run(report.run_id) if each.type == "run.finished"]
    with replays.database.transaction() as connection:
        connection.execute("DELETE FROM contents WHERE hash = ?", (end.payload[f"{part}_hash"],))
    verified = replays.world.log.verify()
    assert verified.first_bad == end.seq
    assert "1 content is missing" in str(verified.problem)
    again = shown(replays, report)
    assert again is not None
    assert again.unkept == {part}


def test_what_suspensions_kept_counts_when_the_run_is_resumed(replays: Replays) -> None:
    """Each suspension keeps what was printed until then; together they stay within the budget."""
    replays.world.autonomy = Autonomy.SUPERVISED
    replays.world.options["response_bytes"] = 1000
    source = "for n in range(6):\n    print(str(n) * 20_000)\n    tools.ledger.add(line=str(n))"
    report = replays.run(source, kept_bytes=128 * 1024, output_bytes=10**6)
    unkept = []
    while report.status == "suspended":
        again = shown(replays, report)
        assert again is not None
        unkept.append(again.unkept)
        (asked,) = replays.book.list("pending")
        replays.book.decide(asked.id, approved=True, decided_by="me")
        report = replays.runtime.resume(report.run_id, lambda name: replays.engine, replays.world.registry(*TOOLS))
    assert report.status == "completed", report.error
    assert unkept[:2] == [frozenset(), frozenset()]
    assert unkept[-1] == {"stdout"}
    ((size,),) = replays.database.read("SELECT sum(length(body)) FROM contents")
    assert size < 128 * 1024
    assert find_run(replays.database, report.run_id).state == "completed"


def test_problems_of_a_rejected_run_are_all_there_again(replays: Replays) -> None:
    report = replays.run(ENDS["rejected"])
    again = shown(replays, report)
    assert again is not None
    assert isinstance(again.outcome, Rejected)
    assert len(again.outcome.problems) == 2
