"""The one path: every exit leaves its receipts, in order."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from typing import Any

import pytest
from pydantic import BaseModel
from tests.conftest import TimePasses, World

from coilclaw.policy import Answer, ApproveAll, Autonomy, Question
from coilclaw.receipts import LogUnwritable
from coilclaw.sandbox import Cancelled, Failed, Limits, OutputExceeded, RunEnded, TimedOut
from coilclaw.sdk import Forbid, Risk, ToolContext, ToolFailure, define_tool

effects: list[str] = []


@pytest.fixture(autouse=True)
def no_effects() -> None:
    effects.clear()


@define_tool(id="test.echo", risk="read")
def echo(ctx: ToolContext, text: str, times: int = 1) -> str:
    """Say it again."""
    return text * times


@define_tool(id="test.save", risk="write")
def save(ctx: ToolContext, text: str) -> dict[str, str]:
    effects.append(text)
    return {"saved": text}


@define_tool(id="test.erase", risk="destructive")
def erase(ctx: ToolContext) -> None:
    effects.append("erased")


@define_tool(id="test.fail", risk="read")
def fail(ctx: ToolContext) -> None:
    raise ToolFailure("there is none", code="not_found", hint="look elsewhere")


@define_tool(id="test.crash", risk="write")
def crash(ctx: ToolContext) -> None:
    raise RuntimeError("boom")


@define_tool(id="test.hang", risk="write", timeout=0.05)
def hang(ctx: ToolContext) -> None:
    while not ctx.cancelled:
        time.sleep(0.001)


@define_tool(id="test.hang_async", risk="read", timeout=0.05)
async def hang_async(ctx: ToolContext) -> None:
    await asyncio.sleep(1000)


@define_tool(id="test.flood", risk="read")
def flood(ctx: ToolContext) -> str:
    return "x" * 10_000


@define_tool(id="test.forbidden", risk="read", classify=lambda input, ctx: Forbid(reason="never"))
def forbidden(ctx: ToolContext) -> None:
    effects.append("forbidden")


TOOLS = (echo, save, erase, fail, crash, hang, hang_async, flood, forbidden)


def call(world: World, tool: str, arguments: Any = None, **options: Any) -> dict[str, Any]:
    bridge = world.bridge(*TOOLS, **options)
    answer: dict[str, Any] = json.loads(bridge.call(tool, json.dumps(arguments or {}).encode(), 7))
    bridge.close()
    return answer


@pytest.mark.req("R6", "R14", "R36", "R37", "R40", "R41", "R85", "R140", "R371", "R372", "R373", "R374", "R375", "R376")
def test_a_read_runs_at_once_and_leaves_its_trail(world: World) -> None:
    assert call(world, "test.echo", {"text": "a", "times": 2}) == {"ok": True, "value": "aa"}
    assert world.types() == ["tool.call.requested", "tool.call.started", "tool.call.succeeded"]
    requested, started, succeeded = world.log.of_run("run-test")
    assert requested.tool == "test.echo"
    assert requested.run_id == "run-test"
    assert requested.tool_call_id is not None
    assert requested.conversation_id == "talk-1"
    assert requested.risk is Risk.READ
    assert requested.payload == {"line": 7, "number": 1}
    assert requested.tool_version == world.registry(*TOOLS).tools["test.echo"].version
    assert [requested.status, started.status, succeeded.status] == ["pending", "allowed", "allowed"]
    assert requested.tool_call_id == started.tool_call_id == succeeded.tool_call_id
    assert world.log.contents(str(requested.args_hash)) == b'{"text":"a","times":2}'
    assert world.log.contents(str(succeeded.result_hash)) == b'"aa"'


@pytest.mark.req("R14", "R42", "R102", "R368", "R375")
@pytest.mark.parametrize(
    ("tool", "arguments", "code", "types"),
    [
        ("test.fail", {}, "not_found", ["requested", "started", "failed"]),
        ("test.crash", {}, "tool_crashed", ["requested", "started", "failed"]),
        ("test.hang", {}, "timeout", ["requested", "started", "failed"]),
        ("test.hang_async", {}, "timeout", ["requested", "started", "failed"]),
        ("test.flood", {}, "output_too_large", ["requested", "started", "failed"]),
        ("test.echo", {"text": 3}, "invalid_input", ["requested", "failed"]),
        ("test.echo", {"text": "a", "times": "2"}, "invalid_input", ["requested", "failed"]),
        ("test.echo", {"text": "a", "more": 1}, "invalid_input", ["requested", "failed"]),
        ("test.echo", {}, "invalid_input", ["requested", "failed"]),
        ("test.nothing", {}, "unknown_tool", ["requested", "denied"]),
        ("test.forbidden", {}, "denied", ["requested", "denied"]),
    ],
)
def test_every_way_to_fail_is_a_value_with_receipts(
    world: World, tool: str, arguments: dict[str, Any], code: str, types: list[str]
) -> None:
    world.options["response_bytes"] = 5000
    answer = call(world, tool, arguments)
    assert not answer["ok"]
    assert answer["code"] == code
    assert world.types() == [f"tool.call.{each}" for each in types]
    last = world.log.latest(1)[0]
    assert (last.status, last.payload["code"]) == (types[-1], code)
    assert not effects


@pytest.mark.req("R30")
@pytest.mark.parametrize("name", ["", ".", "test", "test.echo.more", "__class__", "test._private", "x" * 10_000, "é.ü"])
def test_nothing_outside_the_contracts_is_callable(world: World, name: str) -> None:
    assert call(world, name)["code"] == "unknown_tool"
    assert world.log.verify().ok


@pytest.mark.req("R39", "R499")
def test_readonly_denies_a_write_and_says_why(world: World) -> None:
    world.autonomy = Autonomy.READONLY
    answer = call(world, "test.save", {"text": "a"})
    assert answer["code"] == "denied"
    assert "readonly" in answer["message"]
    assert not effects
    assert world.types() == ["tool.call.requested", "tool.call.denied"]
    denied = world.log.latest(1)[0]
    assert (denied.tool, denied.status, denied.payload["code"]) == ("test.save", "denied", "denied")
    assert "readonly" in denied.payload["message"]


class Recording:
    """A person who gives the same answer every time."""

    def __init__(self, decision: Any) -> None:
        self.decision = decision
        self.questions: list[Question] = []

    def decide(self, question: Question) -> Answer:
        self.questions.append(question)
        return Answer(decision=self.decision, decided_by="ada")


@pytest.mark.req("R33", "R38", "R368", "R486")
def test_an_approved_call_runs_and_names_who_approved(world: World) -> None:
    world.autonomy = Autonomy.SUPERVISED
    world.approver = person = Recording("allow-once")
    assert call(world, "test.save", {"text": "a"})["ok"]
    assert effects == ["a"]
    assert world.types() == [f"tool.call.{each}" for each in ("requested", "approved", "started", "succeeded")]
    approved = world.log.of_run("run-test")[1]
    assert approved.payload == {"decision": "allow-once", "decided_by": "ada", "scope": "once"}
    (question,) = person.questions
    assert (question.tool, question.arguments, question.number, question.line) == ("test.save", '{"text":"a"}', 1, 7)


@pytest.mark.req("R33", "R39", "R367", "R368")
@pytest.mark.parametrize(("decision", "code"), [("deny", "approval_denied"), ("unanswered", "approval_required")])
def test_without_a_yes_nothing_runs(world: World, decision: str, code: str) -> None:
    world.autonomy = Autonomy.SUPERVISED
    world.approver = Recording(decision)
    assert call(world, "test.erase")["code"] == code
    assert not effects
    assert world.types() == ["tool.call.requested", "tool.call.denied"]


def test_the_question_is_on_disk_before_it_is_asked(world: World) -> None:
    seen: list[list[str]] = []

    class Looking:
        def decide(self, question: Question) -> Answer:
            seen.append(world.types())
            return Answer(decision="deny", decided_by="ada")

    world.autonomy = Autonomy.SUPERVISED
    world.approver = Looking()
    call(world, "test.save", {"text": "a"})
    assert seen == [["tool.call.requested"]]


def test_a_write_is_on_disk_before_its_handler_runs(world: World) -> None:
    seen: list[list[str]] = []

    @define_tool(id="test.look", risk="write")
    def look(ctx: ToolContext) -> None:
        rows = world.log._database.read("SELECT body FROM receipts ORDER BY seq")
        seen.append([json.loads(body)["type"] for (body,) in rows])

    bridge = world.bridge(look)
    bridge.call("test.look", b"{}", 1)
    assert seen == [["tool.call.requested", "tool.call.started"]]


@pytest.mark.req("R32")
def test_time_stands_still_while_a_person_decides(world: World, time_passes: TimePasses) -> None:
    class Slow:
        def decide(self, question: Question) -> Answer:
            time_passes(1000)
            return Answer(decision="allow-once", decided_by="ada")

    world.autonomy = Autonomy.SUPERVISED
    world.approver = Slow()
    assert call(world, "test.save", {"text": "a"}, seconds=60)["ok"]


# What a snippet can send ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"nonsense",
        b"3",
        b'"text"',
        b"[1, 2, 3]",
        b'[["a"], []]',
        b'{"text": NaN}',
        b'{"text": "\\ud800"}',
        b'{"text": 1e999}',
        b"\xff\xfe",
        b'{"text":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"text": "' + b"x" * (2 * 1024 * 1024) + b'"}',
        b'{"": "not JSON data"}',
    ],
)
def test_hostile_input_is_refused_with_receipts(world: World, sent: bytes) -> None:
    bridge = world.bridge(*TOOLS)
    answer = json.loads(bridge.call("test.echo", sent, 1))
    assert answer["code"] == "invalid_input"
    bridge.close()
    assert world.types() == ["tool.call.requested", "tool.call.failed"]
    assert world.log.verify().ok


def test_what_is_hashed_is_what_runs(world: World) -> None:
    bridge = world.bridge(*TOOLS)
    answer = json.loads(bridge.call("test.echo", b'{"text": "a", "text": "b"}', 1))
    requested = world.log.of_run("run-test")[0]
    assert json.loads(world.log.contents(str(requested.args_hash)) or b"")["text"] == answer["value"]


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ('[["a"], {}]', "a"),
        ('[["a", 3], {}]', "aaa"),
        ('[["a"], {"times": 2}]', "aa"),
        ('[[{"text": "a"}], {}]', "a"),
    ],
)
def test_positional_arguments_take_the_parameters_names(world: World, sent: str, value: str) -> None:
    assert json.loads(world.bridge(*TOOLS).call("test.echo", sent.encode(), 1)) == {"ok": True, "value": value}


@pytest.mark.parametrize("sent", ['[["a", 1, 2], {}]', '[["a"], {"text": "b"}]'])
def test_too_many_or_doubled_arguments_are_refused(world: World, sent: str) -> None:
    assert json.loads(world.bridge(*TOOLS).call("test.echo", sent.encode(), 1))["code"] == "invalid_input"


# What a tool can return ---------------------------------------------------------------------------------


class Point(BaseModel):
    x: int


@pytest.mark.parametrize(
    "returned",
    [
        (n for n in range(3)),
        asyncio.new_event_loop,
        object(),
        ValueError("x"),
        open,
        float("nan"),
        {1, object()},
        "\ud800",
    ],
)
def test_what_is_not_json_does_not_pass(world: World, returned: Any) -> None:
    @define_tool(id="test.odd", risk="read")
    def odd(ctx: ToolContext) -> Any:
        return returned

    answer = json.loads(world.bridge(odd).call("test.odd", b"{}", 1))
    assert answer.get("code") == "invalid_output" or answer["value"] is None
    assert world.log.verify().ok


@pytest.mark.parametrize("returned", ["three", "3", 3.0, True, [3]])
def test_a_wrong_type_does_not_pass(world: World, returned: Any) -> None:
    @define_tool(id="test.odd", risk="read")
    def odd(ctx: ToolContext) -> int:
        return returned  # type: ignore[no-any-return]

    assert json.loads(world.bridge(odd).call("test.odd", b"{}", 1))["code"] == "invalid_output"


def test_models_become_plain_data(world: World) -> None:
    @define_tool(id="test.point", risk="read")
    def point(ctx: ToolContext) -> list[Point]:
        return [Point(x=1)]

    assert json.loads(world.bridge(point).call("test.point", b"{}", 1))["value"] == [{"x": 1}]


# Secrets ------------------------------------------------------------------------------------------------

SECRET = 's3cr"et\\\u00e9'


@pytest.mark.req("R455", "R500")
def test_secrets_never_leave(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    @define_tool(id="test.leak", risk="write", secrets=["API_KEY"])
    def leak(ctx: ToolContext, how: str, echo: str = "") -> dict[str, str]:
        value = ctx.secrets["API_KEY"]
        if how == "raise":
            raise RuntimeError(f"bad key {value}")
        if how == "fail":
            raise ToolFailure(f"bad key {value}", hint=value)
        return {value: f"<{value}>"}

    world.secrets["API_KEY"] = SECRET
    bridge = world.bridge(leak)
    answers = [
        bridge.call("test.leak", json.dumps({"how": how, "echo": SECRET}).encode(), 1)
        for how in ("raise", "fail", "return")
    ]
    bridge.close()
    stored = world.log._database.read("SELECT body FROM receipts UNION ALL SELECT body FROM contents")
    assert not caplog.text or "test.leak" in caplog.text
    everything = b"".join([*answers, *(body for (body,) in stored), caplog.text.encode()])
    for form in (SECRET, json.dumps(SECRET)[1:-1], json.dumps(SECRET, ensure_ascii=False)[1:-1]):
        assert form.encode() not in everything
    assert b"[secret API_KEY]" in everything
    assert all(json.loads(answer) for answer in answers)


def test_a_missing_secret_is_a_failure_that_names_it(world: World) -> None:
    @define_tool(id="test.needs", risk="read", secrets=["API_KEY"])
    def needs(ctx: ToolContext) -> None:
        effects.append("ran")

    bridge = world.bridge(needs)
    answer = json.loads(bridge.call("test.needs", b"{}", 1))
    assert answer["code"] == "missing_secret"
    assert "API_KEY" in answer["hint"]
    assert bridge.unmet == {"missing_secret"}
    assert not effects


# Limits, parallel calls, the end --------------------------------------------------------------------------


def test_one_call_too_many_ends_the_run(world: World) -> None:
    bridge = world.bridge(*TOOLS, limits=Limits(calls=2))
    for _ in range(2):
        bridge.call("test.echo", b'{"text": "a"}', 1)
    with pytest.raises(RunEnded) as ended:
        bridge.call("test.echo", b'{"text": "a"}', 1)
    assert isinstance(ended.value.outcome, Failed)
    assert ended.value.outcome.error.type == "TooManyCalls"
    assert world.types()[-2:] == ["tool.call.requested", "tool.call.denied"]


def test_output_is_counted(world: World) -> None:
    bridge = world.bridge(limits=Limits(output_bytes=2000))
    bridge.write(1, "é" * 900)
    with pytest.raises(RunEnded) as ended:
        bridge.write(2, "é" * 200)
    assert isinstance(ended.value.outcome, OutputExceeded)


def test_parallel_calls_land_at_the_right_call(world: World) -> None:
    gate = threading.Barrier(10)

    @define_tool(id="test.together", risk="read")
    def together(ctx: ToolContext, n: int) -> int:
        gate.wait(60)  # Passes only when all ten are under way at once.
        return n * n

    bridge = world.bridge(together)
    numbers = {bridge.begin("test.together", b'{"n": %d}' % n, 1): n for n in range(10)}
    answers: dict[int, Any] = {}
    while len(answers) < 10:
        answers |= {number: json.loads(answer) for number, answer in json.loads(bridge.wait(60))}
    assert {numbers[number]: answer["value"] for number, answer in answers.items()} == {n: n * n for n in range(10)}
    assert list(numbers) == list(range(1, 11))


def test_a_begun_call_that_is_refused_answers_too(world: World) -> None:
    bridge = world.bridge(*TOOLS)
    number = bridge.begin("test.nothing", b"{}", 1)
    ((answered, answer),) = json.loads(bridge.wait(60))
    assert answered == number
    assert json.loads(answer)["code"] == "unknown_tool"
    assert json.loads(bridge.wait(0)) == []


def test_calls_left_behind_are_given_up_and_say_so(world: World) -> None:
    release = threading.Event()

    @define_tool(id="test.slow", risk="write")
    def slow(ctx: ToolContext) -> None:
        release.wait(60)

    bridge = world.bridge(slow)
    for _ in range(3):
        bridge.begin("test.slow", b"{}", 1)
    while world.types().count("tool.call.started") < 3:
        pass
    bridge.close()
    release.set()
    assert world.types().count("tool.call.failed") == 3
    assert {receipt.payload.get("code") for receipt in world.log.latest(3)} == {"abandoned"}


def test_a_cancelled_run_makes_no_more_calls(world: World) -> None:
    bridge = world.bridge(*TOOLS)
    bridge._deadline.cancel()
    for attempt in (bridge.call, bridge.begin):
        with pytest.raises(RunEnded) as ended:
            attempt("test.save", b'{"text": "a"}', 1)
        assert isinstance(ended.value.outcome, Cancelled)
    assert not effects


def test_a_deadline_inside_a_call_ends_the_run(world: World, time_passes: TimePasses) -> None:
    release = threading.Event()

    @define_tool(id="test.wait", risk="read")
    def wait(ctx: ToolContext) -> None:
        time_passes(1000)
        release.wait(60)

    bridge = world.bridge(wait, seconds=60)
    with pytest.raises(RunEnded) as ended:
        bridge.call("test.wait", b"{}", 1)
    release.set()
    assert isinstance(ended.value.outcome, TimedOut)
    assert world.types()[-1] == "tool.call.failed"


@pytest.mark.req("R14")
@pytest.mark.parametrize("tool", ["test.save", "test.echo"])
def test_no_tool_runs_without_a_log(world: World, tool: str) -> None:
    bridge = world.bridge(*TOOLS)
    world.log.close()
    with pytest.raises(LogUnwritable, match="no tool runs"):
        bridge.call(tool, b'{"text": "a"}', 1)
    assert not effects


def test_yes_to_everything_is_recorded_as_such(world: World) -> None:
    world.autonomy = Autonomy.SUPERVISED
    world.approver = ApproveAll("ada (--yes)")
    assert call(world, "test.erase")["ok"]
    assert world.log.of_run("run-test")[1].payload["decided_by"] == "ada (--yes)"


def test_a_quick_tool_that_hangs_later_does_not_hold_up_the_answer(world: World, time_passes: TimePasses) -> None:
    release = threading.Event()
    calls: list[int] = []

    @define_tool(id="test.moody", risk="read")
    def moody(ctx: ToolContext) -> int:
        calls.append(1)
        if len(calls) > 5:
            time_passes(1000)
            release.wait(60)
        return len(calls)

    report = world.run("[tools.test.moody().unwrap() for _ in range(9)]", moody, seconds=60)
    release.set()
    assert report.status == "timed_out"
    assert world.types()[-1] == "tool.call.failed"
    assert world.run("1 + 1").value == 2
