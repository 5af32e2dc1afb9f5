"""Calls of a conversation that need a person's approval."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.agent.conftest import Open
from tests.agent.scripted import Scripted, call, code, say

from coilclaw.agent import Agent, ConversationWaits, NothingToResume, WaitingForApproval
from coilclaw.app import Answer as Decision
from coilclaw.app import Caller, Question
from coilclaw.sdk import ToolContext, define_tool

if TYPE_CHECKING:
    from tests.agent.conftest import Mailbox

    from coilclaw.agent import ExchangeEvent
    from coilclaw.app import CoilClaw

SENDING = {
    "a snippet": lambda: code("tools.mail.send(to='a@x.org').unwrap()"),
    "a direct call": lambda: call("mail__send", to="a@x.org"),
}


@pytest.mark.req("R403", "R257")
@pytest.mark.parametrize("way", SENDING)
def test_a_conversation_waits_for_approval_and_continues(supervised: CoilClaw, mailbox: Mailbox, way: str) -> None:
    events: list[ExchangeEvent] = []
    model = Scripted(SENDING[way](), say("It is sent."))
    waiting = asyncio.run(Agent(supervised, model).answer("Send it", listen=events.append))
    assert (waiting.status, mailbox.sent) == ("waiting", [])
    (asked,) = waiting.approvals
    assert (asked.tool, asked.arguments["to"]) == ("mail.send", "a@x.org")
    assert [item.approval for item in waiting.activity] == ["required"]
    assert any(isinstance(event, WaitingForApproval) for event in events)
    assert supervised.memory.show(waiting.conversation_id).is_waiting

    supervised.approvals.approve(asked.id, by="ada")
    again = Scripted(say("I have sent the mail to a@x.org."))
    answer = asyncio.run(Agent(supervised, again).resume(waiting.conversation_id))
    assert (answer.status, mailbox.sent) == ("answered", ["a@x.org"])
    assert answer.run_ids == waiting.run_ids
    assert [(item.status, item.approval, item.decided_by) for item in answer.activity] == [
        ("succeeded", "granted", "ada")
    ]
    assert len(again.requests) == 1
    assert again.requests[0].messages[-1].role == "tool"
    with pytest.raises(NothingToResume):
        asyncio.run(Agent(supervised, again).resume(waiting.conversation_id))


@pytest.mark.req("R344")
def test_what_destroys_something_is_asked_about_and_not_just_blocked(opened: Open) -> None:
    """Supervised: a person may say yes to a call of high risk."""
    gone: list[int] = []

    @define_tool(id="mail.delete", risk="destructive")
    def delete(ctx: ToolContext, id: int) -> int:
        """Delete a mail."""
        gone.append(id)
        return id

    claw = opened(delete)
    waiting = asyncio.run(Agent(claw, Scripted(call("mail__delete", id=1))).answer("Delete it"))
    assert (waiting.status, gone) == ("waiting", [])
    claw.approvals.approve(waiting.approvals[0].id, by="ada")
    asyncio.run(Agent(claw, Scripted(say("It is deleted."))).resume(waiting.conversation_id))
    assert gone == [1]


@pytest.mark.req("R221")
@pytest.mark.parametrize("way", SENDING)
def test_a_denied_call_goes_back_to_the_model_as_an_error(supervised: CoilClaw, mailbox: Mailbox, way: str) -> None:
    waiting = asyncio.run(Agent(supervised, Scripted(SENDING[way]())).answer("Send it"))
    supervised.approvals.deny(waiting.approvals[0].id, by="ada", reason="not now")
    model = Scripted(say("You have denied it, so it was not sent."))
    answer = asyncio.run(Agent(supervised, model).resume(waiting.conversation_id))
    assert (answer.status, mailbox.sent) == ("answered", [])
    assert [(item.status, item.approval) for item in answer.activity] == [("denied", "denied")]
    told = model.requests[0].messages[-1]
    assert told.is_error
    assert "not now" in told.text


def test_a_turn_that_nobody_decided_about_waits_on(supervised: CoilClaw, mailbox: Mailbox) -> None:
    waiting = asyncio.run(Agent(supervised, Scripted(SENDING["a snippet"]())).answer("Send it"))
    again = asyncio.run(Agent(supervised, Scripted(say("never asked"))).resume(waiting.conversation_id))
    assert (again.status, again.approvals) == ("waiting", waiting.approvals)
    assert mailbox.sent == []


class Person:
    """Somebody at hand, who decides at once."""

    def __init__(self, decision: str) -> None:
        self.decision = decision
        self.asked: list[str] = []

    def decide(self, question: Question) -> Decision:
        self.asked.append(question.tool)
        return Decision(decision=self.decision, decided_by="ada")  # type: ignore[arg-type]


@pytest.mark.parametrize(("decision", "sent"), [("allow-once", ["a@x.org"]), ("deny", [])])
def test_a_person_at_hand_is_asked_at_once(
    supervised: CoilClaw, mailbox: Mailbox, decision: str, sent: list[str]
) -> None:
    person = Person(decision)
    model = Scripted(SENDING["a snippet"](), say("So be it."))
    answer = asyncio.run(Agent(supervised, model).answer("Send it", caller=Caller(approver=person)))
    assert (answer.status, mailbox.sent, person.asked) == ("answered", sent, ["mail.send"])


def test_a_new_message_is_refused_while_a_call_waits(supervised: CoilClaw, mailbox: Mailbox) -> None:
    agent = Agent(supervised, Scripted(SENDING["a snippet"](), say("Well.")))
    waiting = asyncio.run(agent.answer("Send it"))
    with pytest.raises(ConversationWaits):
        asyncio.run(agent.answer("And now?", conversation=waiting.conversation_id))
    asyncio.run(agent.abandon(waiting.conversation_id))
    answer = asyncio.run(agent.answer("And now?", conversation=waiting.conversation_id))
    assert (answer.status, mailbox.sent) == ("answered", [])
    assert supervised.approvals.pending() == ()
    roles = [turn.role for turn in supervised.memory.turns(waiting.conversation_id)]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]


def test_later_requests_of_a_reply_come_after_the_decision(supervised: CoilClaw, mailbox: Mailbox) -> None:
    """A reply may ask for several tools: what comes behind a call that waits is not carried out before it."""
    first, second = call("mail__send", to="a@x.org"), call("mail__inbox", limit=1)
    both = say("", tool_calls=(*first.tool_calls, *second.tool_calls))
    waiting = asyncio.run(Agent(supervised, Scripted(both)).answer("Send it"))
    assert [item.tool_id for item in waiting.activity] == ["mail.send"]
    supervised.approvals.approve(waiting.approvals[0].id, by="ada")
    model = Scripted(say("Done with both."))
    answer = asyncio.run(Agent(supervised, model).resume(waiting.conversation_id))
    assert [message.role for message in model.requests[0].messages] == ["user", "assistant", "tool", "tool"]
    assert (len(answer.run_ids), answer.folded_reads) == (2, 1)
