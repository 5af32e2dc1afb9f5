"""Large results stay outside the prompt, and later snippets get them whole."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest
from tests.agent.conftest import Open
from tests.agent.scripted import Scripted, call, code, say

from coilclaw.agent import Agent
from coilclaw.agent.handles import Handle, HandleLost, shape_of

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw


def name_in(text: str) -> str:
    found = re.search(r"as `(\w+)`", text)
    assert found is not None
    return found[1]


def test_a_later_snippet_gets_the_whole_result_by_its_name(claw: CoilClaw) -> None:
    model = Scripted(
        call("mail__inbox", limit=2000),
        lambda request: code(f"len({name_in(request.messages[-1].text)})"),
        say("There are many."),
    )
    agent = Agent(claw, model)
    first = asyncio.run(agent.answer("Count"))
    told = model.requests[1].messages[-1].text
    assert len(told) < 3000
    assert "list of 2000 items of object with keys from, subject" in told
    assert "value: 2000" in model.requests[2].messages[-1].text
    later = Scripted(code(f"{name_in(told)}[-1]['from']"), say("It is the last one."))
    answer = asyncio.run(Agent(claw, later).answer("Which?", conversation=first.conversation_id))
    assert "p1999@x.org" in later.requests[1].messages[-1].text
    assert claw.replay(answer.run_ids[0]).identical


def test_what_was_printed_is_a_handle_too(claw: CoilClaw) -> None:
    model = Scripted(
        code("print('x' * 50_000)"),
        lambda request: code(f"len({name_in(request.messages[-1].text)})"),
        say("Much."),
    )
    asyncio.run(Agent(claw, model).answer("Print"))
    assert "value: 50001" in model.requests[2].messages[-1].text


def test_a_handle_of_another_conversation_is_just_a_name(opened: Open, claw: CoilClaw) -> None:
    model = Scripted(call("mail__inbox", limit=2000), say("Many."))
    asyncio.run(Agent(claw, model).answer("Count"))
    other = Scripted(code(f"len({name_in(model.requests[1].messages[-1].text)})"), say("No."))
    asyncio.run(Agent(claw, other).answer("Count"))
    assert "NameError" in other.requests[1].messages[-1].text


def test_a_forged_handle_gives_nothing_of_another_conversation(claw: CoilClaw) -> None:
    """Whatever stands in memory, which no seal covers: a run belongs to the conversation in its header."""
    first = asyncio.run(Agent(claw, Scripted(call("mail__inbox", limit=2000), say("Many."))).answer("Count"))
    forged = Handle(name="result_3", run_id=first.run_ids[0], part="value")
    with pytest.raises(HandleLost):
        forged.read(claw, "conversation-of-another")
    assert len(forged.read(claw, first.conversation_id)) == 2000


def test_shapes_are_short() -> None:
    assert shape_of([{"a": 1, "b": 2}]) == "list of 1 items of object with keys a, b, the first"
    assert shape_of({str(number): 1 for number in range(20)}).endswith("and 8 more")
    assert shape_of("x" * 10_000) == "text of 10000 characters"
    assert shape_of([]) == "empty list"
