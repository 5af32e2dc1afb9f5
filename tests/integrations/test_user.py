"""Questions to the person: asked where someone can answer, and an honest error elsewhere."""

from __future__ import annotations

import threading

import pytest
from tests.conftest import TimePasses, World

from coilclaw.app import BadArgument, Caller, CoilClaw
from coilclaw.integrations.user import ask
from coilclaw.sdk import ToolContext, define_tool


@pytest.mark.req("R342")
def test_the_answer_is_returned_and_marked_as_the_persons(world: World) -> None:
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "the blue one"

    world.of_caller = {"ask": answer}
    report = world.run("tools.user.ask(question='Which?').unwrap()", ask)
    assert report.value == {"answer": "the blue one", "source": "person"}
    assert asked == ["Which?"]


@pytest.mark.req("R342")
def test_where_nobody_can_be_asked_the_call_says_so(world: World) -> None:
    report = world.run("tools.user.ask(question='Which?').error.code", ask)
    assert report.value == "nobody_to_ask"


def test_an_answer_approves_nothing(world: World) -> None:
    @define_tool(id="desk.send", risk="write", requires_approval=True)
    def send(ctx: ToolContext) -> str:
        """Send."""
        return "sent"

    world.of_caller = {"ask": lambda question: "yes, approved"}
    source = "tools.user.ask(question='Approve desk.send?'); tools.desk.send().error.code"
    assert world.run(source, ask, send).value == "approval_required"


def test_a_long_answer_is_cut(world: World) -> None:
    world.of_caller = {"ask": lambda question: "x" * 50_000}
    assert world.run("len(tools.user.ask(question='?').unwrap().answer)", ask).value == 10_000


@pytest.mark.parametrize("question", ["", "x" * 2001])
def test_a_question_has_a_bounded_length(world: World, question: str) -> None:
    world.of_caller = {"ask": lambda question: "x"}
    assert world.run(f"tools.user.ask(question={question!r}).error.code", ask).value == "invalid_input"


def test_the_time_of_the_run_and_of_the_call_stands_still_while_a_person_thinks(
    world: World, time_passes: TimePasses
) -> None:
    """Longer than the run has, and longer than a call has."""
    waited = threading.Event()

    def answer(question: str) -> str:
        time_passes(3600)
        waited.wait(0.2)  # Longer than it takes to look at the clock.
        return "here"

    world.of_caller = {"ask": answer}
    assert world.run("tools.user.ask(question='?').unwrap().answer", ask, seconds=30).value == "here"


def test_asking_is_a_plain_function() -> None:
    async def answer(question: str) -> str:
        return "x"

    with CoilClaw.temporary() as claw, pytest.raises(BadArgument, match=r"Caller\.ask.*not an async"):
        claw.call("ask_user", {"question": "?"}, caller=Caller(ask=answer))  # type: ignore[arg-type]
