"""What a run leaves behind is bounded, refused calls included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import KEY, World
from tests.sampling import EVERYTHING

from coilclaw.bridge import Handlers, Services, build_registry
from coilclaw.bridge.evidence_budget import EvidenceBudget
from coilclaw.policy import ApprovalStore, Autonomy, Policy, Rule
from coilclaw.receipts import ReceiptLog, digest
from coilclaw.runs import MIGRATIONS, Runtime
from coilclaw.sandbox import Deadline, Limits, Snippet
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk import Decision, ToolContext, define_tool
from coilclaw.store import Database

MIB = 1024 * 1024
CALLS, SIZE, BUDGET = (1000, MIB - 64, 64 * MIB) if EVERYTHING else (100, MIB // 8, 8 * MIB)


@define_tool(id="test.echo", risk="read")
def echo(ctx: ToolContext, text: str) -> str:
    return text


@define_tool(id="test.hidden", risk="read")
def hidden(ctx: ToolContext, text: str) -> int:
    return len(text)


@define_tool(id="test.save", risk="write")
def save(ctx: ToolContext, text: str) -> int:
    return len(text)


def _on_disk(database: Database) -> int:
    return sum(file.stat().st_size for file in database.path.parent.glob(database.path.name + "*"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("tool", ["test.nothing", "test.save", "test.hidden", "test.echo", "test.echo.start"])
def test_large_calls_leave_less_than_the_budget_on_disk(tmp_path: Path, engine: WasmEngine, tool: str) -> None:
    source = f"""
t, codes = tools, {{}}
for part in "{tool}".split("."):
    t = getattr(t, part)
for n in range({CALLS}):
    result = t(text=f"{{n:06}}" + "x" * {SIZE})
    result = result.result() if hasattr(result, "result") else result
    code = "ok" if result.ok else result.error.code
    codes[code] = codes.get(code, 0) + 1
codes
"""
    with Database(tmp_path / "home" / "runs.db", MIGRATIONS) as database:  # noqa: SIM117
        with ReceiptLog(database, KEY) as log:
            handlers = Handlers()
            rule = Rule(tool="test.hidden", decision=Decision.DENY, arguments={"text": {"matches": "*"}})
            around = Services(
                log=log,
                policy=Policy(Autonomy.READONLY, (rule,)),
                handlers=handlers,
                workspace=tmp_path,
                secret=lambda name: None,
                database=database,
                approvals=ApprovalStore(database, log),
                response_bytes=SIZE + 64,
            )
            limits = Limits(seconds=800, calls=CALLS, kept_bytes=BUDGET)
            registry = build_registry([([echo, hidden, save], [])])
            report = Runtime(around).run(Snippet(source=source), engine, registry, limits, deadline=Deadline(800))
            handlers.close()
            assert report.status == "completed", report.error
            assert sum(report.value.values()) == CALLS
            assert _on_disk(database) < BUDGET
            assert log.verify().ok
            if tool.startswith("test.echo"):
                # Nearly all of the budget is used before anything is refused.
                assert set(report.value) == {"ok", "evidence_budget"}
                assert report.value["ok"] * 2 * SIZE > BUDGET * 3 // 4
            else:
                assert set(report.value) <= {"unknown_tool", "denied"}
                assert _on_disk(database) < BUDGET // 2
    assert sum(file.stat().st_size for file in (tmp_path / "home").iterdir()) < BUDGET


def test_progress_of_many_calls_leaves_a_small_part_of_the_budget(world: World) -> None:
    shown: list[str] = []

    @define_tool(id="test.talk", risk="read")
    def talk(ctx: ToolContext) -> int:
        for _ in range(25):
            ctx.progress("\x01" * 2000)
        return 1

    world.of_caller["progress"] = lambda tool, message: shown.append(message)
    bridge = world.bridge(talk, limits=Limits(kept_bytes=8 * MIB))
    for _ in range(20):
        assert json.loads(bridge.call("test.talk", b"{}", 1))["ok"]
    bridge.close()
    assert len(shown) == 20 * 25
    kept = [each for each in world.log.of_run("run-test") if each.type == "tool.call.progress"]
    assert len(kept) > 30
    assert sum(len(json.dumps(each.payload)) for each in kept) < 8 * MIB // 15


def test_a_refused_call_keeps_its_hash_its_size_and_its_beginning(world: World) -> None:
    text = "a" * 5000
    bridge = world.bridge(echo)
    assert json.loads(bridge.call("test.nothing", json.dumps({"text": text}).encode(), 1))["code"] == "unknown_tool"
    requested, denied = world.log.of_run("run-test")
    arguments = json.dumps({"text": text}, separators=(",", ":")).encode()
    assert requested.args_hash == denied.args_hash == digest(arguments)
    assert world.log.contents(str(requested.args_hash)) is None
    assert requested.payload["arguments_bytes"] == denied.payload["arguments_bytes"] == len(arguments)
    assert denied.payload["arguments_prefix"] == arguments[:1024].decode()


@pytest.mark.parametrize("rehearse", [False, True])
def test_what_a_person_decides_about_is_kept_in_full(world: World, rehearse: bool) -> None:
    world.autonomy = Autonomy.SUPERVISED
    book = ApprovalStore(world.log._database, world.log)
    world.options |= {"database": world.log._database, "approvals": book}
    source = "tools.test.save(text='a' * 100_000)"
    if rehearse:
        registry = world.registry(save)
        rehearsal = world.runtime().rehearse(Snippet(source=source), world.engine, registry, Limits())
        (call,) = rehearsal.plan.calls
        assert len(call.arguments) > 100_000
        return
    assert world.run(source, save).status == "suspended"
    (approval,) = book.list("pending")
    kept = world.log.contents(approval.args_hash)
    assert kept is not None
    assert len(kept) > 100_000


def test_a_run_that_is_resumed_goes_on_with_the_budget_it_had(world: World) -> None:
    world.autonomy = Autonomy.SUPERVISED
    database = world.log._database
    book = ApprovalStore(database, world.log)
    world.options |= {"database": database, "approvals": book, "response_bytes": 300_000}
    source = """
first = [tools.test.echo(text=f"{n}" + "x" * 250_000).ok for n in range(4)]
saved = tools.test.save(text="s" * 250_000).ok
then = [tools.test.echo(text=f"{n}" + "y" * 250_000) for n in range(20)]
t = tools
refused = t.test.nothing(text="z" * 250_000).error.code
(first, saved, sum(each.ok for each in then), {each.error.code for each in then if not each.ok}.pop(), refused)
"""
    report = world.run(source, echo, save, kept_bytes=6 * MIB)
    assert report.status == "suspended", report.error
    (approval,) = book.list("pending")
    book.decide(approval.id, approved=True, decided_by="me")
    runtime, registry = world.runtime(), world.registry(echo, save)
    resumed = runtime.resume(report.run_id, lambda name: world.engine, registry)
    assert resumed.status == "completed", resumed.error
    first, saved, ok, code, refused = resumed.value
    assert (first, saved, code, refused) == ([True] * 4, True, "evidence_budget", "unknown_tool")
    # The same as in one go: what the first stretch kept is counted in the second.
    world.autonomy = Autonomy.FULL
    at_once = world.run(source, echo, save, kept_bytes=6 * MIB)
    assert at_once.value[2] == ok
    # And a replay gives the same answers, of refused calls too, by their hashes.
    comparison = runtime.replay(report.run_id, lambda name: world.engine, registry)
    assert comparison.identical, comparison.difference


def test_a_refused_call_is_repeated_by_its_hash_which_is_all_that_is_left_of_it(world: World) -> None:
    world.autonomy = Autonomy.SUPERVISED
    database = world.log._database
    book = ApprovalStore(database, world.log)
    world.options |= {"database": database, "approvals": book}
    report = world.run("t = tools\nt.test.nothing(text='a' * 5000)\ntools.test.save(text='b')", save)
    assert report.status == "suspended"
    (approval,) = book.list("pending")
    book.decide(approval.id, approved=True, decided_by="me")
    resumed = world.runtime().resume(report.run_id, lambda name: world.engine, world.registry(save))
    assert resumed.status == "completed", resumed.error


def test_the_same_contents_take_room_once() -> None:
    kept = EvidenceBudget(8000 * 8 // 7 + 8)
    kept.count("a", 5000)
    kept.count("a", 5000)
    assert kept.has_room("a", 5000, 3000)
    assert not kept.has_room("b", 5000, 3000)


def test_an_eighth_of_the_budget_is_left_for_receipts() -> None:
    assert EvidenceBudget(8000).has_room("a", 1000, 6000)
    assert not EvidenceBudget(8000).has_room("a", 1000, 6001)


def test_room_that_a_call_holds_is_nobody_elses_until_it_is_given_back() -> None:
    kept = EvidenceBudget(8000)
    assert kept.hold(4000, lambda: False)
    assert not kept.hold(4000, lambda: True), "there is no time to wait for it"
    kept.release(4000)
    assert kept.hold(4000, lambda: True)


def test_the_source_of_a_run_counts(world: World) -> None:
    world.options["response_bytes"] = 1000
    source = "tools.test.hidden(text='a').error"
    assert world.run(source, hidden, kept_bytes=10_000).value is None
    report = world.run(f"{source}.code #{'x' * 9000}", hidden, kept_bytes=10_000)
    assert report.value == "evidence_budget", report.error


@pytest.mark.parametrize("size", [500, 5000])
def test_arguments_count_whatever_their_size(world: World, size: int) -> None:
    world.options["response_bytes"] = 100
    bridge = world.bridge(hidden, limits=Limits(kept_bytes=80_000, calls=1000))
    codes: list[str | None] = []
    while "evidence_budget" not in codes:
        sent = json.dumps({"text": f"{len(codes):0{size}}"}).encode()
        codes.append(json.loads(bridge.call("test.hidden", sent, 1)).get("code"))
        assert len(codes) * size < 80_000
    bridge.close()
    assert len(codes) * size > 50_000


def test_calls_side_by_side_wait_for_each_other_s_room(world: World) -> None:
    """Twenty results of up to a megabyte do not fit at once; they are small, so all of them are given."""
    bridge = world.bridge(echo, limits=Limits(kept_bytes=4 * MIB))
    for n in range(20):
        bridge.begin("test.echo", json.dumps({"text": str(n)}).encode(), 1)
    answers: list[Any] = []
    while len(answers) < 20:
        answers += json.loads(bridge.wait(None))
    bridge.close()
    assert all(json.loads(answer)["ok"] for _, answer in answers)
