"""The bridge takes what a snippet sends for what it is: the words of a stranger, each with its receipts."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from tests.conftest import World
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.sandbox import Deadline
from coilclaw.sandbox.escapes import Payload
from coilclaw.sdk import Tool, ToolContext, define_tool


@pytest.mark.req("R4", "R20", "R21", "R36")
@payloads_of("the bridge")
def test_the_bridge_believes_nothing(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)


def hanging(release: threading.Event) -> Tool:
    @define_tool(id="canary.hang", risk="read")
    def hang(ctx: ToolContext) -> str:
        while not ctx.cancelled and not release.is_set():
            release.wait(0.01)
        return "late"

    return hang


@pytest.mark.req("R36", "R42")
def test_two_hundred_abandoned_calls_all_have_their_receipts(world: World) -> None:
    release = threading.Event()
    try:
        report = world.run("for _ in range(200): tools.canary.hang.start()\n'left'", hanging(release), seconds=2)
    finally:
        release.set()
    assert report.status == "timed_out"
    receipts = world.log.of_run(report.run_id)
    types = Counter(receipt.type for receipt in receipts)
    # One that notices the end of the run in time has returned before it.
    ended = types.pop("tool.call.failed") + types.pop("tool.call.succeeded", 0)
    assert ended == types["tool.call.requested"] == types["tool.call.started"] == 200
    codes = {receipt.payload["code"] for receipt in receipts if receipt.type == "tool.call.failed"}
    assert codes <= {"abandoned", "timeout"}  # As the run's time is up, that of its tools is too.
    assert receipts[-1].type == "run.finished"
    assert world.log.verify().ok


@pytest.mark.req("R36")
def test_a_call_from_a_destructor_has_its_receipts(world: World) -> None:
    seen: list[str] = []

    @define_tool(id="canary.note", risk="read")
    def note(ctx: ToolContext, what: str) -> str:
        seen.append(what)
        return "noted"

    source = "class Odd:\n    def __del__(self): tools.canary.note(what='gone')\nheld = Odd()\ndel held\n1"
    report = world.run(source, note)
    assert report.value == 1
    assert seen == ["gone"]
    assert world.types() == ["tool.call.requested", "tool.call.started", "tool.call.succeeded"]


@pytest.mark.req("R36")
@pytest.mark.parametrize("call", ["tools.canary.cancel()", "tools.canary.cancel.start()"], ids=["waiting", "beside"])
def test_after_a_cancellation_nothing_is_called(world: World, call: str) -> None:
    deadline = Deadline(60.0)
    calls: list[int] = []

    @define_tool(id="canary.cancel", risk="read")
    def cancel(ctx: ToolContext) -> str:
        calls.append(1)
        deadline.cancel()
        return "cancelled"

    source = f"while True:\n    try:\n        {call}\n    except BaseException: pass"
    report = world.run(source, cancel, deadline=deadline)
    assert report.status == "cancelled"
    receipts = world.log.of_run(report.run_id)
    types = Counter(receipt.type for receipt in receipts)
    assert types["tool.call.started"] >= len(calls)
    assert types["tool.call.requested"] == types["tool.call.succeeded"] + types["tool.call.failed"]
    assert receipts[-1].type == "run.finished"
    if "start" not in call:
        assert len(calls) == 1
