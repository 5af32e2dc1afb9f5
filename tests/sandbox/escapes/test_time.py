"""Time ends a run wherever it is: in its own code, in the compiler, in a call, or before a person."""

from __future__ import annotations

import threading
import time

import pytest
from tests.conftest import World
from tests.sandbox.escapes.conftest import Arena, payloads_of

from coilclaw.policy import Answer, Question
from coilclaw.sandbox import Deadline
from coilclaw.sandbox.escapes import Payload
from coilclaw.sdk import Tool, ToolContext, define_tool


@pytest.mark.req("R3", "R19")
@payloads_of("time")
def test_a_deadline_ends_a_run_wherever_it_is(arena: Arena, payload: Payload) -> None:
    arena.holds(payload)


def guarded(done: list[str]) -> Tool:
    @define_tool(id="canary.write", risk="write", requires_approval=True)
    def write(ctx: ToolContext) -> str:
        done.append("written")
        return "written"

    return write


class SlowPerson:
    """Says yes, but only after the run's time would have been up."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def decide(self, question: Question) -> Answer:
        ends = time.monotonic() + 2 * self._deadline.seconds
        while time.monotonic() < ends:
            threading.Event().wait(0.01)
        return Answer(decision="allow-once", decided_by="a slow person")


class DepartingPerson:
    """Cancels the run while it waits for an answer."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def decide(self, question: Question) -> Answer:
        self._deadline.cancel()
        return Answer(decision="allow-once", decided_by="somebody who was too late")


@pytest.mark.req("R32", "R38")
def test_the_time_of_a_run_stands_still_while_a_person_decides(world: World) -> None:
    done: list[str] = []
    deadline = Deadline(0.75)
    world.approver = SlowPerson(deadline)
    report = world.run("tools.canary.write().unwrap()", guarded(done), deadline=deadline)
    assert (report.value, done) == ("written", ["written"])


@pytest.mark.req("R32", "R39")
def test_a_run_that_is_over_when_a_person_answers_calls_nothing(world: World) -> None:
    done: list[str] = []
    deadline = Deadline(60.0)
    world.approver = DepartingPerson(deadline)
    report = world.run(
        "while True:\n    try: tools.canary.write()\n    except BaseException: pass", guarded(done), deadline=deadline
    )
    assert (report.status, done) == ("cancelled", [])
    assert world.types() == ["tool.call.requested", "tool.call.failed"]


@pytest.mark.req("R42")
def test_a_tool_that_never_returns_is_an_error_value(world: World) -> None:
    release = threading.Event()

    @define_tool(id="canary.stuck", risk="read", timeout=0.05)
    def stuck(ctx: ToolContext) -> str:
        release.wait(60)
        return "late"

    try:
        report = world.run("tools.canary.stuck().code", stuck)
    finally:
        release.set()
    assert report.value == "timeout"
