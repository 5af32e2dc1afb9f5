"""Ways in which snippets and tools got past the bridge, kept as tests."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

import pytest
from pydantic import BaseModel, field_validator
from tests.conftest import TimePasses, World

from coilclaw.policy import Answer, Autonomy, Question
from coilclaw.receipts import Draft, now
from coilclaw.sandbox import Abandoned, Crashed, Deadline, Limits, RunEnded
from coilclaw.sandbox.report import reported_outcome
from coilclaw.sdk import Forbid, ToolContext, ToolFailure, define_tool


def types(world: World) -> list[str]:
    return [receipt.type for receipt in world.log.latest(10_000)]


def test_preflight_answers_once_and_only_before_anything_ran(world: World) -> None:
    @define_tool(id="a.b", risk="read")
    def tool(ctx: ToolContext) -> None:
        return None

    call = {"path": "a.x", "line": 1, "positional": 0, "named": [], "complete": True, "object": False}
    calls = json.dumps([call]).encode()
    bridge = world.bridge(tool)
    assert len(json.loads(bridge.preflight(calls))) == 1
    assert bridge.preflight(calls) == b"[]"
    bridge = world.bridge(tool)
    bridge.call("a.b", b"{}", 1)
    assert bridge.preflight(calls) == b"[]"
    bridge = world.bridge(tool)
    bridge.write(1, "x")
    assert bridge.preflight(calls) == b"[]"
    assert world.bridge(tool).preflight(b"[" + b"[]," * 10**6 + b"[]]") == b"[]"
    assert len(json.loads(world.bridge(tool).preflight(json.dumps([call] * 10_000).encode()))) == 10


def test_a_name_that_no_component_could_carry_leaves_its_receipt_too(world: World) -> None:
    report = world.run("t = tools.a\nt._path = '\\ud800.x'\nt().error.code")
    assert (report.status, report.value) == ("completed", "unknown_tool"), report.error
    assert types(world).count("tool.call.requested") == 1


def test_answers_that_nobody_reads_are_bounded(world: World) -> None:
    @define_tool(id="a.big", risk="read")
    def big(ctx: ToolContext) -> str:
        return "x" * 900_000

    bridge = world.bridge(big)
    for _ in range(40):
        bridge.begin("a.big", b"{}", 1)
    while len(bridge.answers) < 40:
        pass
    answers: list[Any] = []
    while len(answers) < 40:
        delivered = json.loads(bridge.wait(60))
        assert sum(len(answer) for _, answer in delivered) < 10 * 1024 * 1024
        answers += [json.loads(answer) for _, answer in delivered]
    assert sum(answer["ok"] for answer in answers) == 16 * 1024 * 1024 // 900_021
    assert {answer["code"] for answer in answers if not answer["ok"]} == {"output_too_large"}
    bridge.close()


def test_a_slow_classifier_does_not_let_a_call_past_the_end_of_its_run(world: World, time_passes: TimePasses) -> None:
    ran = threading.Event()
    release = threading.Event()

    def slow(input: Any, ctx: ToolContext) -> None:
        time_passes(1000)
        release.wait(60)

    @define_tool(id="a.write", risk="write", classify=slow)
    def write(ctx: ToolContext) -> None:
        ran.set()

    report = world.run("tools.a.write()", write, seconds=60)
    assert report.status == "timed_out"
    release.set()
    assert not ran.wait(0.3)
    assert "tool.call.requested" in types(world)
    assert "tool.call.started" not in types(world)


def test_a_classifier_that_does_not_answer_forbids(world: World) -> None:
    made: list[int] = []
    release = threading.Event()

    def silent(input: Any, ctx: ToolContext) -> None:
        release.wait(60)

    @define_tool(id="a.write", risk="write", classify=silent)
    def write(ctx: ToolContext) -> None:
        made.append(1)

    bridge = world.bridge(write, seconds=60)
    answer = json.loads(bridge.call("a.write", b"{}", 1))
    release.set()
    bridge.close()
    assert (answer["ok"], answer["code"]) == (False, "classify_timeout")
    assert "a.write did not judge this call in time" in answer["message"]
    assert "`classify`" in answer["hint"]
    assert not made
    assert types(world) == ["tool.call.requested", "tool.call.denied"]


def test_a_call_admitted_too_late_is_not_made(world: World) -> None:
    made: list[int] = []

    @define_tool(id="a.write", risk="write")
    def write(ctx: ToolContext) -> None:
        made.append(1)

    bridge = world.bridge(write)
    bridge.close()
    with pytest.raises(RunEnded):
        bridge.call("a.write", b"{}", 1)
    assert not made
    assert types(world) == ["tool.call.requested", "tool.call.failed"]


@pytest.mark.parametrize("error", [SystemExit(7), KeyboardInterrupt(), RuntimeError("x")])
def test_code_of_the_author_cannot_end_the_host_or_skip_receipts(world: World, error: BaseException) -> None:
    def hostile(*args: Any) -> Any:
        raise error

    class Input(BaseModel):
        x: str

        @field_validator("x")
        @classmethod
        def check(cls, value: str) -> str:
            raise error if not isinstance(error, RuntimeError) else KeyError(value)

    @define_tool(id="a.classified", risk="write", classify=hostile)
    def classified(ctx: ToolContext) -> None:
        return None

    validated = define_tool(id="a.validated", risk="read", input=Input, output=int, handler=lambda input, ctx: 1)

    @define_tool(id="a.handled", risk="read")
    def handled(ctx: ToolContext) -> None:
        raise error

    @define_tool(id="a.awaited", risk="read")
    async def awaited(ctx: ToolContext) -> None:
        raise error

    @define_tool(id="a.fine", risk="read")
    async def fine(ctx: ToolContext) -> int:
        return 1

    source = "[tools.a.classified().code, tools.a.validated(x='q').code, tools.a.handled().code, tools.a.awaited().code, tools.a.fine().value]"
    report = world.run(source, classified, validated, handled, awaited, fine)
    assert report.value == ["denied", "tool_crashed", "tool_crashed", "tool_crashed", 1], report.error
    assert types(world).count("tool.call.requested") == 5
    assert types(world)[-1] == "run.finished"


def test_an_approver_that_fails_is_nobody(world: World) -> None:
    class Broken:
        def decide(self, question: Question) -> Answer:
            raise SystemExit(1)

    @define_tool(id="a.write", risk="write")
    def write(ctx: ToolContext) -> None:
        return None

    world.autonomy = Autonomy.SUPERVISED
    world.approver = Broken()
    assert world.run("tools.a.write().code", write).value == "approval_required"
    assert types(world)[-2:] == ["tool.call.denied", "run.finished"]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        5,
        "allow-once",
        Answer(decision="yes", decided_by="ada"),  # type: ignore[arg-type]
        Answer(decision="allow-once", decided_by=5),  # type: ignore[arg-type]
        Answer(decision="deny", decided_by=None),  # type: ignore[arg-type]
        Answer(decision="allow-once", decided_by="ada", scope="\ud800"),  # type: ignore[arg-type]
    ],
)
def test_an_approver_that_says_nothing_that_counts_is_nobody(
    world: World, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Odd:
        def decide(self, question: Question) -> Answer:
            return answer  # type: ignore[no-any-return]

    @define_tool(id="a.write", risk="write")
    def write(ctx: ToolContext) -> None:
        return None

    world.autonomy = Autonomy.SUPERVISED
    world.approver = Odd()
    assert world.run("tools.a.write().code", write).value == "approval_required"
    assert types(world)[-2:] == ["tool.call.denied", "run.finished"]
    assert "asking about a.write brought nothing that counts as an Answer" in caplog.text


def test_an_outcome_never_stands_behind_the_end_of_its_run(world: World) -> None:
    @define_tool(id="a.write", risk="write")
    def write(ctx: ToolContext, ms: int) -> str:
        threading.Event().wait(ms / 1000)
        return "x" * 500_000

    for number in range(30):
        world.run(f"import time\ntools.a.write.start(ms=10)\ntime.sleep({0.009 + number * 0.0002})", write)
    ends: dict[str, list[str]] = {}
    finished: set[str] = set()
    for receipt in world.log.latest(10_000):
        if receipt.type == "run.finished":
            finished.add(str(receipt.run_id))
        elif receipt.tool_call_id:
            assert receipt.run_id not in finished
            ends.setdefault(receipt.tool_call_id, []).append(receipt.type.rsplit(".", 1)[-1])
    assert len(ends) == 30
    assert all(trail[:2] == ["requested", "started"] and len(trail) == 3 for trail in ends.values())


@pytest.mark.parametrize("returned", [12345, [12345.5], {"1234": {"n": -1234}}, "x1234x", True])
def test_redaction_leaves_valid_json(world: World, returned: Any) -> None:
    @define_tool(id="a.leak", risk="read", secrets=["PIN"])
    def leak(ctx: ToolContext) -> Any:
        return returned

    world.secrets["PIN"] = "1234"
    answer = world.bridge(leak).call("a.leak", b"{}", 1)
    assert b"1234" not in answer
    assert json.loads(answer)["ok"]


def test_secrets_do_not_leave_through_codes_reasons_or_invalid_arguments(world: World) -> None:
    @define_tool(id="a.code", risk="read", secrets=["KEY"])
    def code(ctx: ToolContext) -> None:
        raise ToolFailure("no", code=ctx.secrets["KEY"])

    @define_tool(id="a.forbid", risk="read", secrets=["KEY"], classify=lambda i, ctx: Forbid(reason=ctx.secrets["KEY"]))
    def forbid(ctx: ToolContext, n: int = 0) -> None:
        return None

    world.secrets["KEY"] = "COILCLAW-PLANTED-super"
    bridge = world.bridge(code, forbid)
    answers = [
        bridge.call("a.code", b"{}", 1),
        bridge.call("a.forbid", b"{}", 1),
        bridge.call("a.forbid", b'{"n": "COILCLAW-PLANTED-super"}', 1),
    ]
    bridge.close()
    stored = world.log._database.read("SELECT body FROM receipts UNION ALL SELECT body FROM contents")
    assert b"COILCLAW-PLANTED-super" not in b"".join([*answers, *(body for (body,) in stored)])


def test_a_slow_yes_leaves_the_tool_its_time(world: World, time_passes: TimePasses) -> None:
    seen: list[float | None] = []

    class Slow:
        def decide(self, question: Question) -> Answer:
            time_passes(1000)
            return Answer(decision="allow-once", decided_by="ada")

    @define_tool(id="a.write", risk="write")
    def write(ctx: ToolContext) -> None:
        seen.append(ctx.remaining_seconds)

    world.autonomy = Autonomy.SUPERVISED
    world.approver = Slow()
    bridge = world.bridge(write, seconds=60)
    assert json.loads(bridge.call("a.write", b"{}", 1))["ok"]
    assert seen[0] is not None
    assert seen[0] > 1


def test_an_engine_that_cannot_start_still_ends_the_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise MemoryError("no room for a guest")

    for way in ("take", "take_if_alone"):
        monkeypatch.setattr(world.engine.guests, way, broken)
    report = world.run("1")
    assert report.status == "crashed"
    assert types(world) == ["run.started", "run.finished"]


@pytest.mark.parametrize(
    "answer",
    [
        '{"status":"completed","value":[NaN]}',
        '{"status":"completed","value":1e999}',
        '{"status":"completed"}',
        '{"status":"failed","error":3}',
        '{"status":"perhaps"}',
        "3",
        "",
    ],
)
def test_a_forged_outcome_is_a_crash(answer: str) -> None:
    assert isinstance(reported_outcome(answer, Limits()), Crashed)


def test_commits_do_not_fall_on_the_callers_thread(world: World) -> None:
    """An interrupt hits the main thread; a commit there would be cut in half."""
    threads: list[int] = []
    write = world.log._commits._write
    world.log._commits._write = lambda batch: (threads.append(threading.get_ident()), write(batch))[1]  # type: ignore[func-returns-value]
    world.run("1 + 1")
    world.log.append(Draft("x.y", "done", now()))
    assert threads
    assert threading.get_ident() not in threads


def test_a_deadline_that_is_over_starts_nothing(world: World) -> None:
    deadline = Deadline(0.0)
    assert deadline.over
    with pytest.raises(Abandoned):
        world.handlers.run("v", lambda: sys.exit("must not run"), 0, deadline)
