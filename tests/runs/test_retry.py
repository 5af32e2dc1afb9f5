"""A retry makes no write again that succeeded before: it is answered from the receipts of the earlier run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.runs.conftest import Replays
from tests.runs.journaled import TOOLS, add, look

from coilclaw.bridge import Caller
from coilclaw.policy import Answer, Autonomy, Question, Rule
from coilclaw.receipts import Draft
from coilclaw.runs import NoSuchRun, NotRetryable, RunReport, cancel_run, find_run, report_of
from coilclaw.sandbox import Deadline, Limits, Snippet
from coilclaw.sdk import Decision, Judged, Tool, ToolContext, ToolFailure, define_tool

AB = "tools.ledger.add(line='a'); tools.ledger.add(line='b'); 1/0"


@define_tool(id="ledger.slow", risk="write", timeout=0.2)
def slow(ctx: ToolContext, line: str) -> int:
    """Writes, and does not return in time."""
    add.handler(ctx, line)
    threading.Event().wait(1)
    return 1


@define_tool(id="ledger.refuse", risk="write")
def refuse(ctx: ToolContext, line: str) -> int:
    """Fails before it writes."""
    add.handler(ctx, line)
    raise ToolFailure("come again", code="not_today")


class Asked:
    """Somebody who is asked, and says the same each time."""

    def __init__(self, decision: Any) -> None:
        self.decision = decision
        self.questions: list[Question] = []

    def decide(self, question: Question) -> Answer:
        self.questions.append(question)
        return Answer(decision=self.decision, decided_by="ada")


def retry(
    replays: Replays, source: str, earlier: RunReport, *tools: Tool, caller: Caller | None = None, **given: Any
) -> RunReport:
    registry = replays.world.registry(*(tools or TOOLS))
    return replays.runtime.run(
        Snippet(source=source),
        replays.engine,
        registry,
        Limits(),
        caller=caller,
        retry_of=earlier.run_id,
        **given,
    )


def resume(replays: Replays, run_id: str, *tools: Tool) -> RunReport:
    return replays.runtime.resume(run_id, lambda name: replays.engine, replays.world.registry(*(tools or TOOLS)))


def kinds(replays: Replays, report: RunReport) -> list[str]:
    ends = ("succeeded", "failed", "denied", "reused")
    found = (each.type.removeprefix("tool.call.") for each in replays.world.log.of_run(report.run_id))
    return [each for each in found if each in ends]


def test_a_corrected_snippet_repeats_no_write(either: Replays) -> None:
    first = either.run(AB)
    assert first.status == "failed"
    again = retry(either, "[tools.ledger.add(line=each).unwrap() for each in 'abc']", first)
    assert (again.status, again.value) == ("completed", [1, 2, 3])
    assert either.lines() == ["1 a", "2 b", "3 c"]
    assert kinds(either, again) == ["reused", "reused", "succeeded"]
    assert again.retry_of == first.run_id
    assert either.replay(again.run_id).identical
    assert either.world.log.verify().ok


def test_a_call_that_is_started_beside_the_snippet_is_answered_too(either: Replays) -> None:
    first = either.run(AB)
    source = "x = tools.ledger.add.start(line='b'); y = tools.ledger.add.start(line='a')\n[x.result().value, y.result().value]"
    again = retry(either, source, first)
    assert (again.value, either.lines()) == ([2, 1], ["1 a", "2 b"])
    assert either.replay(again.run_id).identical


def test_the_receipt_names_the_call_that_succeeded(replays: Replays) -> None:
    first = replays.run(AB)
    again = retry(replays, "tools.ledger.add(line='b').value", first)
    log = replays.world.log
    (made,) = [each for each in log.of_run(again.run_id) if each.type == "tool.call.reused"]
    source = log.find(made.payload["source_receipt"])
    assert (source.type, source.run_id, source.tool_call_id) == (
        "tool.call.succeeded",
        first.run_id,
        f"call-{first.run_id.removeprefix('run-')}-2",
    )
    assert (made.payload["source_run"], made.result_hash) == (first.run_id, source.result_hash)
    assert (made.args_hash, made.tool_version) == (source.args_hash, source.tool_version)
    assert not any(each.type == "tool.call.started" for each in log.of_run(again.run_id))


def test_a_write_is_answered_as_often_as_it_succeeded(either: Replays) -> None:
    first = either.run("for _ in range(2): tools.ledger.add(line='a')\n1/0")
    again = retry(either, "[tools.ledger.add(line='a').value for _ in range(3)]", first)
    assert (again.value, len(either.lines())) == ([1, 2, 3], 3)


def test_reads_and_other_arguments_are_made_anew(replays: Replays) -> None:
    first = replays.run("tools.ledger.look(); tools.ledger.add(line='a'); 1/0")
    again = retry(replays, "[tools.ledger.look().value, tools.ledger.add(line='A').value]", first)
    assert again.value == ["x 2", 2]
    assert kinds(replays, again) == ["succeeded", "succeeded"]


def test_arguments_are_the_same_however_they_are_written(replays: Replays) -> None:
    first = replays.run("tools.ledger.add(line='a'); 1/0")
    assert retry(replays, "tools.ledger.add('a').value", first).value == 1
    assert replays.lines() == ["1 a"]


def test_what_policy_denies_now_stays_denied(replays: Replays) -> None:
    first = replays.run(AB)
    replays.world.rules = (Rule(tool="ledger.add", decision=Decision.DENY),)
    again = retry(replays, "add = tools.ledger.add; add(line='a').code", first)
    assert (again.value, kinds(replays, again)) == ("denied", ["denied"])


def test_the_emergency_stop_stops_it(replays: Replays) -> None:
    first = replays.run(AB)
    replays.world.options["stop"] = lambda: "everything is stopped"
    assert retry(replays, "tools.ledger.add(line='a').code", first).value == "stopped"


def test_nobody_is_asked_about_a_call_that_is_not_made(replays: Replays) -> None:
    first = replays.run(AB)
    replays.world.autonomy = Autonomy.SUPERVISED
    replays.world.approver = asked = Asked("allow-once")
    again = retry(replays, "[tools.ledger.add(line=each).value for each in 'abc']", first)
    assert again.value == [1, 2, 3]
    assert [each.arguments for each in asked.questions] == ['{"line":"c"}']


def test_a_failed_write_is_made_as_usual(replays: Replays) -> None:
    first = replays.run("tools.ledger.refuse(line='a'); 1/0", refuse)
    again = retry(replays, "tools.ledger.refuse(line='a').code", first, refuse)
    assert (again.value, len(replays.lines())) == ("not_today", 2)


def test_a_write_of_unknown_outcome_is_not_reused_and_a_person_decides(replays: Replays) -> None:
    first = replays.run("tools.ledger.slow(line='a').code", slow)
    assert first.value == "timeout"
    again = retry(replays, "tools.ledger.slow(line='a').code", first, slow)
    assert (again.status, len(replays.lines())) == ("suspended", 1)
    (pending,) = replays.book.list("pending", run_id=again.run_id)
    assert f"the same call of {first.run_id} did not end in time; what it did is unknown" in pending.reason
    replays.book.decide(pending.id, approved=True, decided_by="ada")
    assert resume(replays, again.run_id, slow).value == "timeout"
    started = [each for each in replays.world.log.of_run(again.run_id) if each.type == "tool.call.started"]
    assert "unknown" in started[0].payload["doubt"]


def test_a_call_that_was_under_way_when_its_process_died_is_not_reused(replays: Replays) -> None:
    first = replays.run("tools.ledger.add(line='a'); 1/0")
    log = replays.world.log
    started = next(each for each in log.of_run(first.run_id) if each.type == "tool.call.started")
    fields = {**started._asdict(), "risk": "write", "args_hash": started.args_hash}
    kept = {name: fields[name] for name in Draft._fields if name in fields}
    log.append(Draft(**{**kept, "tool_call_id": f"call-{first.run_id.removeprefix('run-')}-2"}))
    answers = retry(replays, "[tools.ledger.add(line='a').value, tools.ledger.add(line='a')]", first)
    assert answers.status == "suspended"
    (pending,) = replays.book.list("pending", run_id=answers.run_id)
    assert "was under way when its process ended" in pending.reason
    assert replays.lines() == ["1 a"]


def test_another_version_of_a_tool_is_not_answered_for(replays: Replays) -> None:
    first = replays.run(AB)
    changed = replace(add, source_digest="another")
    again = retry(replays, "tools.ledger.add(line='a').value", first, changed, look)
    assert again.status == "suspended"
    (pending,) = replays.book.list("pending", run_id=again.run_id)
    assert "the tool has changed since" in pending.reason
    assert len(replays.lines()) == 2


def test_a_call_that_would_run_something_else_is_not_answered_for(replays: Replays) -> None:
    """The arguments of these calls do not say what they run."""

    runs = ["a"]

    @define_tool(id="ledger.sweep", risk="write", classify=lambda input, ctx: Judged(risk="write", runs=runs[-1]))
    def sweep(ctx: ToolContext) -> str:
        return str(add.handler(ctx, str(ctx.judged)))

    replays.world.autonomy = Autonomy.SUPERVISED
    replays.world.approver = asked = Asked("unanswered")
    first = replays.run("tools.ledger.sweep()", sweep)
    replays.book.decide(replays.book.list("pending")[0].id, approved=True, decided_by="ada")
    assert resume(replays, first.run_id, sweep).value == {"ok": True, "value": "1"}
    assert retry(replays, "tools.ledger.sweep().value", first, sweep).value == "1"
    runs.append("b")
    assert retry(replays, "tools.ledger.sweep().value", first, sweep).status == "suspended"
    assert "what it runs may have changed since" in asked.questions[-1].reason
    assert replays.lines() == ["1 a"]


@pytest.mark.parametrize(
    "done", ["UPDATE contents SET body = 'x' WHERE hash = ?", "DELETE FROM contents WHERE hash = ?"]
)
def test_a_result_that_was_changed_or_taken_away_is_not_reused(replays: Replays, done: str) -> None:
    first = replays.run(AB)
    log = replays.world.log
    succeeded = next(each for each in log.of_run(first.run_id) if each.type == "tool.call.succeeded")
    with replays.database.transaction() as connection:
        connection.execute(done, (succeeded.result_hash,))
    assert retry(replays, "tools.ledger.add(line='a').value", first).status == "suspended"
    assert len(replays.lines()) == 2


def test_a_retry_of_a_retry_counts_what_all_of_them_have_written(either: Replays) -> None:
    first = either.run("for each in 'abc': tools.ledger.add(line=each)\n1/0")
    second = retry(either, "tools.ledger.add(line='a'); tools.ledger.add(line='d'); 1/0", first)
    third = retry(either, "[tools.ledger.add(line=each).value for each in 'abcde']", second)
    assert third.value == [1, 2, 3, 4, 5]
    assert [each.split()[1] for each in either.lines()] == [*"abcde"]
    assert kinds(either, third) == ["reused"] * 4 + ["succeeded"]
    twice = retry(either, "[tools.ledger.add(line='a').value for _ in range(2)]", third)
    assert twice.value == [1, 6], "what was reused is not there twice"


def test_two_retries_at_once_are_both_answered(replays: Replays) -> None:
    first = replays.run(AB)
    done: list[Any] = []

    def work() -> None:
        done.append(retry(replays, "[tools.ledger.add(line=each).value for each in 'ab']", first).value)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (done, len(replays.lines())) == ([[1, 2]] * 4, 2)
    assert replays.world.log.verify().ok


def test_a_retry_that_is_suspended_and_resumed_repeats_no_write(either: Replays) -> None:
    first = either.run("for each in 'aab': tools.ledger.add(line=each)\n1/0")
    either.world.autonomy = Autonomy.SUPERVISED
    source = "[tools.ledger.add(line=each).value for each in 'axabay']"
    again = retry(either, source, first)
    assert again.status == "suspended"
    for _ in range(3):
        (pending,) = either.book.list("pending", run_id=again.run_id)
        either.book.decide(pending.id, approved=True, decided_by="ada")
        again = resume(either, again.run_id)
    assert (again.status, again.value) == ("completed", [1, 4, 2, 3, 5, 6])
    assert [each.split()[1] for each in either.lines()] == [*"aabxay"]
    assert kinds(either, again) == ["reused", "succeeded", "reused", "reused", "succeeded", "succeeded"]
    assert either.replay(again.run_id).identical
    assert again == report_of(either.database, either.world.log, again.run_id)


def suspended(replays: Replays) -> str:
    replays.world.autonomy = Autonomy.SUPERVISED
    return replays.run("tools.ledger.add(line='a')").run_id


def running(replays: Replays) -> str:
    run_id = replays.run(AB).run_id
    with replays.database.transaction() as connection:
        connection.execute("UPDATE runs SET status = 'running' WHERE run_id = ?", (run_id,))
    return run_id


def orphaned(replays: Replays) -> str:
    run_id = running(replays)
    with replays.database.transaction() as connection:
        connection.execute("UPDATE runs SET process = '1:0:another-boot' WHERE run_id = ?", (run_id,))
    return run_id


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (suspended, "is suspended, and may still make calls"),
        (running, "is running, and may still make calls"),
        (orphaned, "has not ended although its process did"),
    ],
)
def test_a_run_that_is_not_over_is_refused(replays: Replays, made: Callable[[Replays], str], message: str) -> None:
    run_id = made(replays)
    registry = replays.world.registry(*TOOLS)
    before = replays.traces()
    with pytest.raises(NotRetryable, match=message):
        replays.runtime.run(Snippet(source="1"), replays.engine, registry, Limits(), retry_of=run_id)
    assert replays.traces() == before


def test_a_suspended_run_that_was_cancelled_can_be_retried(replays: Replays) -> None:
    first = replays.run("tools.ledger.add(line='a')\n1/0")
    replays.world.autonomy = Autonomy.SUPERVISED
    waits = retry(replays, "tools.ledger.add(line='a'); tools.ledger.add(line='b')", first)
    cancel_run(replays.database, replays.world.log, replays.book, waits.run_id, decided_by="ada")
    assert retry(replays, "tools.ledger.add(line='a').value", waits).value == 1
    assert replays.lines() == ["1 a"]


def test_a_run_of_another_workspace_or_home_is_refused(replays: Replays, tmp_path: Any) -> None:
    first = replays.run(AB)
    replays.world.workspace = tmp_path
    with pytest.raises(NotRetryable, match="began in the workspace"):
        retry(replays, "1", first)
    with pytest.raises(NoSuchRun):
        retry(replays, "1", replace(first, run_id="run-of-another-home"))


def test_a_run_of_another_conversation_is_refused_to_a_conversation(replays: Replays) -> None:
    first = replays.run(AB)
    with pytest.raises(NotRetryable, match="another conversation"):
        retry(replays, "1", first, caller=Caller(conversation="talk-2"))


def test_receipts_that_were_changed_prove_nothing(replays: Replays) -> None:
    failed = replays.run("tools.ledger.add(line=1)")
    log = replays.world.log
    receipt = next(each for each in log.of_run(failed.run_id) if each.type == "tool.call.failed")
    with replays.database.transaction() as connection:
        ((body,),) = replays.database.read("SELECT body FROM receipts WHERE seq = ?", (receipt.seq,))
        forged = body.replace(b"tool.call.failed", b"tool.call.succeeded")
        connection.execute("UPDATE receipts SET body = ? WHERE seq = ?", (forged, receipt.seq))
    with pytest.raises(NotRetryable, match="do not prove what it did"):
        retry(replays, "1", failed)


def test_a_header_that_was_changed_proves_nothing(replays: Replays) -> None:
    """Otherwise a row in a table could choose whose writes count."""
    first, other = replays.run(AB), replays.run("1")
    with replays.database.transaction() as connection:
        ((text,),) = replays.database.read("SELECT header FROM runs WHERE run_id = ?", (other.run_id,))
        forged = text[:-1] + f', "retry_of": "{first.run_id}"}}'
        connection.execute("UPDATE runs SET header = ? WHERE run_id = ?", (forged, other.run_id))
    assert find_run(replays.database, other.run_id).header.retry_of == first.run_id
    with pytest.raises(NotRetryable, match="header is not the one"):
        retry(replays, "1", other)


def test_a_retry_that_was_cancelled_can_be_retried(replays: Replays) -> None:
    first = replays.run(AB)
    deadline = Deadline(20)
    replays.world.of_caller["show"] = lambda stream, text: deadline.cancel()
    source = "x = tools.ledger.add(line='a').value\nprint(x)\nwhile True: pass"
    again = retry(replays, source, first, deadline=deadline)
    assert again.status == "cancelled"
    assert retry(replays, "tools.ledger.add(line='a').value", again).value == 1
    assert len(replays.lines()) == 2
