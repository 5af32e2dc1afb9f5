"""Bounds of a turn: rounds, repeated requests, tokens and price; the emergency stop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.agent.scripted import Scripted, call, code, say

from coilclaw.agent import Agent, AgentSettings, ConversationWaits, Price
from coilclaw.providers import ChatRequest, ChatResponse, Usage

if TYPE_CHECKING:
    from tests.agent.conftest import Mailbox

    from coilclaw.app import CoilClaw


def endless(request: ChatRequest) -> ChatResponse:
    """Asks for tools as long as there are any."""
    return code(f"{len(request.messages)}") if request.tools else say("That is all I found.")


@pytest.mark.req("R408", "R411", "R416", "R216", "R167")
def test_after_the_last_round_the_model_has_to_answer(claw: CoilClaw) -> None:
    model = Scripted(endless)
    answer = asyncio.run(Agent(claw, model).answer("Look"))
    assert (answer.status, answer.text) == ("answered", "That is all I found.")
    assert len(model.requests) == 6
    assert model.requests[-1].tools == ()
    assert "No more tools" in model.requests[-1].messages[-1].text


def test_a_model_that_asks_for_tools_it_was_not_offered_gets_none(claw: CoilClaw, mailbox: Mailbox) -> None:
    model = Scripted(lambda request: call("mail__send", to=f"{len(request.messages)}@x.org"))
    answer = asyncio.run(Agent(claw, model, settings=AgentSettings(tool_rounds=2)).answer("Send"))
    assert len(mailbox.sent) == 2
    assert (answer.status, answer.text) == ("answered", "The model gave no answer in words.")


@pytest.mark.req("R416")
def test_a_request_that_was_made_twice_is_not_carried_out_again(claw: CoilClaw, mailbox: Mailbox) -> None:
    model = Scripted(*[call("mail__send", to="a@x.org") for _ in range(4)], say("Sent."))
    asyncio.run(Agent(claw, model).answer("Send"))
    assert len(mailbox.sent) == 2
    assert "not carried out again" in model.requests[4].messages[-1].text
    assert model.requests[4].messages[-1].is_error


@pytest.mark.req("R216")
def test_a_reply_cannot_ask_for_everything_at_once(claw: CoilClaw, mailbox: Mailbox) -> None:
    requests = tuple(call("mail__send", to=f"{number}@x.org").tool_calls[0] for number in range(100))
    model = Scripted(say("", tool_calls=requests), say("Some were sent."))
    asyncio.run(Agent(claw, model).answer("Send"))
    assert len(mailbox.sent) == 16
    assert sum(message.role == "tool" for message in model.requests[1].messages) == 100


def test_a_run_with_many_calls_stays_small_in_the_prompt(claw: CoilClaw, mailbox: Mailbox) -> None:
    model = Scripted(code("for n in range(300): tools.mail.send(to=f'{n}@x.org')"), say("They were sent."))
    answer = asyncio.run(Agent(claw, model).answer("Send"))
    assert len(mailbox.sent) == len(answer.activity) == 300
    told = model.requests[1].messages[-1].text
    assert "and 260 succeeded" in told
    assert len(told) < 5000


@pytest.mark.req("R172", "R216")
def test_a_turn_ends_when_it_has_used_its_tokens(claw: CoilClaw) -> None:
    def hungry(request: ChatRequest) -> ChatResponse:
        reply = endless(request)
        return ChatResponse(**{**vars(reply), "usage": Usage(input_tokens=60_000, output_tokens=1)})

    model = Scripted(hungry)
    answer = asyncio.run(
        Agent(claw, model, settings=AgentSettings(exchange_tokens=100_000, max_tokens=77)).answer("Look")
    )
    assert answer.status == "stopped"
    assert "exchange_tokens" in answer.text
    assert len(model.requests) == 2
    assert {request.max_tokens for request in model.requests} == {77}
    assert answer.usage is not None
    assert answer.usage.input_tokens == 120_000
    assert claw.memory.pending(answer.conversation_id) is None


def test_a_turn_ends_when_it_has_cost_its_price(claw: CoilClaw) -> None:
    settings = AgentSettings(exchange_price=0.001, prices={"scripted": Price(input=5.0, output=10.0)})
    model = Scripted(endless)
    answer = asyncio.run(Agent(claw, model, settings=settings).answer("Look"))
    assert (answer.status, len(model.requests)) == ("stopped", 2)
    assert "exchange_price" in answer.text


@pytest.mark.req("R479")
def test_while_tools_are_stopped_the_agent_answers_in_text_and_says_so(claw: CoilClaw, mailbox: Mailbox) -> None:
    claw.estop.set(by="ada", reason="too much mail")
    model = Scripted(call("mail__send", "I can only talk now.", to="a@x.org"))
    answer = asyncio.run(Agent(claw, model).answer("Send it"))
    assert (answer.status, mailbox.sent) == ("answered", [])
    assert "Tool use is stopped" in answer.text
    assert "too much mail" in answer.text
    assert "I can only talk now." in answer.text
    (request,) = model.requests
    assert request.tools == ()
    assert "emergency stop" in request.messages[-1].text


def test_a_turn_that_waits_stays_so_while_tools_are_stopped(supervised: CoilClaw, mailbox: Mailbox) -> None:
    waiting = asyncio.run(Agent(supervised, Scripted(call("mail__send", to="a@x.org"))).answer("Send it"))
    supervised.approvals.approve(waiting.approvals[0].id, by="ada")
    supervised.estop.set(by="ada", reason="wait")
    agent = Agent(supervised, Scripted(say("Sent.")))
    stopped = asyncio.run(agent.resume(waiting.conversation_id))
    assert stopped.status == "stopped"
    assert stopped.error is not None
    assert supervised.memory.show(waiting.conversation_id).is_waiting
    with pytest.raises(ConversationWaits):  # It would end what was approved.
        asyncio.run(agent.answer("And?", conversation=waiting.conversation_id))
    supervised.estop.clear(by="ada")
    assert asyncio.run(agent.resume(waiting.conversation_id)).status == "answered"
    assert mailbox.sent == ["a@x.org"]
