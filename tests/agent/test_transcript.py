"""A conversation read from memory, whatever stands there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.scripted import Scripted, call, say

from coilclaw.agent import Agent
from coilclaw.memory import TurnDraft

if TYPE_CHECKING:
    from tests.agent.conftest import Mailbox

    from coilclaw.app import CoilClaw


@pytest.mark.parametrize(
    "damaged", [[None], [{}], [{"id": 1, "name": 2, "arguments": 3}], [["x"]], [{"cut": "2 entries"}]]
)
def test_requests_that_were_not_kept_are_not_carried_out(claw: CoilClaw, damaged: list[Any]) -> None:
    conversation = claw.memory.begin("cli")
    claw.memory.append(
        conversation,
        TurnDraft(role="user", content="Send it"),
        TurnDraft(role="assistant", tool_calls=damaged, metadata={"usage": "none"}),
        TurnDraft(role="tool", tool_results=damaged),
    )
    model = Scripted(say("I could not go on."))
    answer = asyncio.run(Agent(claw, model).resume(conversation))
    assert (answer.status, answer.run_ids) == ("answered", ())
    assert "not kept" in model.requests[0].messages[-1].text


def test_a_request_that_memory_would_cut_is_not_carried_out(claw: CoilClaw, mailbox: Mailbox) -> None:
    """What is carried out is what was kept: half of a snippet may mean something else."""
    source = "tools.mail.send(to='a@x.org')\n" + "#" * 300_000
    model = Scripted(call("run_python", code=source), say("It was too long."))
    asyncio.run(Agent(claw, model).answer("Send it"))
    assert mailbox.sent == []
    assert "more than 200000 characters" in model.requests[1].messages[-1].text


def test_a_conversation_that_went_on_elsewhere_is_read_again(claw: CoilClaw) -> None:
    here, there = Scripted(say("One."), say("Three.")), Scripted(say("Two."))
    agent = Agent(claw, here)
    conversation = asyncio.run(agent.answer("1")).conversation_id
    asyncio.run(Agent(claw, there).answer("2", conversation=conversation))
    asyncio.run(agent.answer("3", conversation=conversation))
    assert [message.text for message in here.requests[1].messages] == ["1", "One.", "2", "Two.", "3"]
