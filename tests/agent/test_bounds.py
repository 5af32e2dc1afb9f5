"""Bounds of an exchange: rounds, repeated requests, tokens, price and time; the emergency stop."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from tests.agent.scripted import Scripted, call, code, say

from coilclaw.agent import Agent, AgentSettings, ConversationWaits, Price, TextReleased, ignore
from coilclaw.agent.guard import ExchangeClock
from coilclaw.bridge import Caller
from coilclaw.policy import Answer as Decision
from coilclaw.providers import ChatRequest, ChatResponse, ChatStream, TextDelta, Usage
from coilclaw.sandbox import deadline

if TYPE_CHECKING:
    from tests.agent.conftest import Mailbox

    from coilclaw.agent import ExchangeEvent, Listen
    from coilclaw.app import CoilClaw
    from coilclaw.policy import Question


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


class Endless(Scripted):
    """Says something, and then never ends."""

    async def stream(self, request: ChatRequest) -> ChatStream:
        self.requests.append(request)
        yield TextDelta(text="Let me think about it. And")
        await asyncio.Event().wait()


def test_an_exchange_ends_when_its_time_is_over_while_the_model_speaks(claw: CoilClaw) -> None:
    shown: list[str] = []

    def listen(event: ExchangeEvent) -> None:
        if isinstance(event, TextReleased):
            shown.append(event.text)

    bounded = AgentSettings(exchange_seconds=0.2)
    answer = asyncio.run(Agent(claw, Endless(), settings=bounded).answer("Hi", listen=listen))
    assert (answer.status, answer.text) == ("stopped", "".join(shown))
    assert answer.text.startswith("Let me think about it. \n\nI stopped here: ")
    assert "exchange_seconds" in answer.text
    assert claw.memory.pending(answer.conversation_id) is None
    again = asyncio.run(Agent(claw, Scripted(say("Back."))).answer("And?", conversation=answer.conversation_id))
    assert again.text == "Back."


@pytest.mark.parametrize("listen", [ignore, lambda event: None])
def test_an_exchange_ends_when_its_time_is_over_while_a_snippet_runs(
    claw: CoilClaw, mailbox: Mailbox, listen: Listen
) -> None:
    """What was done before is told, and requests behind it are not carried out."""
    source = "tools.mail.send(to='a@x.org')\nwhile True: pass"
    asked = (code(source).tool_calls[0], call("mail__send", to="b@x.org").tool_calls[0])
    model = Scripted(say("", tool_calls=asked, stop="tool_calls"), say("never"))
    bounded = AgentSettings(exchange_seconds=3)
    answer = asyncio.run(Agent(claw, model, settings=bounded).answer("Send", listen=listen))
    assert (answer.status, len(model.requests), mailbox.sent) == ("stopped", 1, ["a@x.org"])
    assert [each.status for each in answer.failed_snippets] == ["timed_out"]
    turns = list(claw.memory.turns(answer.conversation_id))
    assert "Not carried out" in turns[-2].tool_results[0]["text"]


def test_the_time_of_an_exchange_stands_still_while_a_person_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def asked(question: str) -> str:
        now[0] += 1000
        return "yes"

    class Slow:
        def decide(self, question: Question) -> Decision:
            now[0] += 1000
            return Decision(decision="unanswered", decided_by="nobody")

    clock = ExchangeClock(10)
    caller = clock.stopped_for_people(Caller(approver=Slow(), ask=asked))
    assert caller.ask("Which?") == "yes"
    caller.approver.decide(None)  # type: ignore[arg-type]
    assert (clock.exceeded, clock.remaining) == (None, 10)
    now[0] += 10
    assert "10 s" in str(clock.exceeded)
