"""What a channel lets its conversations call."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.conftest import Mailbox, Open
from tests.agent.scripted import Scripted, call, code, say

from coilclaw.agent import Agent, AgentSettings
from coilclaw.agent.sop.agent_answers import AgentAnswers
from coilclaw.app import Caller

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw

ALLOWED = ("mail.inbox", "time")
SENDING = {
    "a snippet": lambda: code("tools.mail.send(to='a@x.org').error.message"),
    "an alias in a snippet": lambda: code("tools.send_mail(to='a@x.org').error.message"),
    "a direct call": lambda: call("mail__send", to="a@x.org"),
    "an alias": lambda: call("send_mail", to="a@x.org"),
}


def bounded(opened: Open, mailbox: Mailbox, allowed: tuple[str, ...], **config: Any) -> CoilClaw:
    return opened(
        *mailbox.tools(), config={"security.autonomy": "full", "channels.cli.tools_allow": list(allowed), **config}
    )


@pytest.mark.req("R286")
@pytest.mark.parametrize("engine", ["wasm", "restricted"])
@pytest.mark.parametrize("way", SENDING)
def test_a_tool_that_the_channel_does_not_allow_is_denied_with_a_receipt(
    opened: Open, mailbox: Mailbox, way: str, engine: str
) -> None:
    claw = bounded(opened, mailbox, ALLOWED, **{"sandbox.engine": engine})
    model = Scripted(SENDING[way](), say("It may not be called."))
    answer = asyncio.run(Agent(claw, model).answer("Send it", caller=Caller(channel="cli")))
    assert mailbox.sent == []
    assert [(item.tool_id, item.status, item.code) for item in answer.activity] == [("mail.send", "denied", "denied")]
    assert "tools_allow" in model.requests[1].messages[-1].text
    receipt = claw.receipts.find(answer.activity[0].receipt_ref)
    assert (receipt.type, receipt.payload["matched_rule"]) == ("tool.call.denied", "tools_allow")


@pytest.mark.req("R286", "R255")
def test_the_model_is_shown_what_it_may_call_and_nothing_else(opened: Open, mailbox: Mailbox) -> None:
    model = Scripted(say("Hello."))
    agent = Agent(bounded(opened, mailbox, ALLOWED), model)
    asyncio.run(agent.answer("Hi", caller=Caller(channel="cli")))
    asyncio.run(agent.answer("Hi", caller=Caller(channel="elsewhere")))
    here, elsewhere = model.requests
    assert [tool.name for tool in here.tools] == ["run_python", "mail__inbox", "time__now"]
    assert "inbox" in here.system_prompt
    assert "def send" not in here.system_prompt
    assert "mail__send" in [tool.name for tool in elsewhere.tools]
    assert "def send" in elsewhere.system_prompt


@pytest.mark.parametrize(
    "allowed", [("mail.send",), ("send_mail",), ("tools.mail.send",), ("mail.*",), ("*",), ("send*",)]
)
def test_ids_aliases_and_patterns_allow(opened: Open, mailbox: Mailbox, allowed: tuple[str, ...]) -> None:
    claw = bounded(opened, mailbox, allowed)
    model = Scripted(code("tools.mail.send(to='a@x.org').unwrap()"), say("Sent."))
    asyncio.run(Agent(claw, model).answer("Send it", caller=Caller(channel="cli")))
    assert mailbox.sent == ["a@x.org"]


@pytest.mark.parametrize("allowed", [(), ("mail",), ("mail.sen",), ("MAIL.SEND",), ("", ".*")])
def test_whatever_else_a_list_says_allows_nothing(opened: Open, mailbox: Mailbox, allowed: tuple[str, ...]) -> None:
    claw = bounded(opened, mailbox, allowed)
    asyncio.run(Agent(claw, Scripted(SENDING["a direct call"](), say("No."))).answer("x", caller=Caller(channel="cli")))
    assert mailbox.sent == []


def test_the_list_never_bounds_what_a_person_runs(opened: Open, mailbox: Mailbox) -> None:
    claw = bounded(opened, mailbox, ())
    claw.run("tools.mail.send(to='a@x.org').unwrap()", caller=Caller(channel="cli"))
    claw.call("mail.send", {"to": "b@x.org"}, caller=Caller(channel="cli"))
    assert mailbox.sent == ["a@x.org", "b@x.org"]


@pytest.mark.parametrize("resumed_by", ["the agent", "a person", "a looser list"])
def test_the_list_holds_when_the_run_is_resumed(opened: Open, mailbox: Mailbox, resumed_by: str) -> None:
    """Also by whoever resumes the run itself, and whatever the configuration says by then."""
    claw = opened(*mailbox.tools())
    source = "import asyncio\ntools.mail.send(to='a@x.org')\ntools.files.write(path='x', text='y').error.code"
    settings = AgentSettings(tools_allow={"cli": ("mail.send",)})
    waiting = asyncio.run(
        Agent(claw, Scripted(code(source)), settings=settings).answer("Send it", caller=Caller(channel="cli"))
    )
    claw.approvals.approve(waiting.approvals[0].id, by="ada")
    if resumed_by == "a person":
        report = claw.resume(waiting.run_ids[0])
        activity = report.activity
    else:
        later = settings if resumed_by == "the agent" else AgentSettings()
        agent = Agent(claw, Scripted(say("Well.")), settings=later)
        activity = asyncio.run(agent.resume(waiting.conversation_id, caller=Caller(channel="cli"))).activity
    assert [(item.tool_id, item.status, item.code) for item in activity] == [
        ("mail.send", "succeeded", None),
        ("files.write", "denied", "denied"),
    ]


def test_a_list_that_became_stricter_holds_too(opened: Open, mailbox: Mailbox) -> None:
    claw = opened(*mailbox.tools())
    source = "tools.mail.send(to='a@x.org').error.code"
    waiting = asyncio.run(Agent(claw, Scripted(code(source))).answer("Send it", caller=Caller(channel="cli")))
    claw.approvals.approve(waiting.approvals[0].id, by="ada")
    agent = Agent(claw, Scripted(say("No.")), settings=AgentSettings(tools_allow={"cli": ()}))
    answer = asyncio.run(agent.resume(waiting.conversation_id, caller=Caller(channel="cli")))
    assert (mailbox.sent, [item.status for item in answer.activity]) == ([], ["denied"])


@pytest.mark.req("R286")
def test_a_conversation_of_a_sop_may_call_what_the_channel_of_its_caller_allows(opened: Open, mailbox: Mailbox) -> None:
    claw = bounded(opened, mailbox, ALLOWED)
    agent = Agent(claw, Scripted(call("mail__send", to="a@x.org"), say("It may not be called.")))
    caller = Caller(channel="cli")
    with AgentAnswers(claw, lambda: nullcontext(agent)) as answers:
        conversation = answers.begin(caller)
        answers.ask(conversation, "Send it", None, caller, again=False, unknown=None)
    assert (claw.memory.show(conversation).channel, mailbox.sent) == ("sop", [])


@pytest.mark.parametrize("lists", [{"cli": ALLOWED}, {"cli": ("mail.*",), "app": ALLOWED}])
def test_a_conversation_that_goes_on_in_another_channel_is_bound_by_both(
    opened: Open, mailbox: Mailbox, lists: dict[str, tuple[str, ...]]
) -> None:
    claw = opened(*mailbox.tools(), config={"security.autonomy": "full"})
    model = Scripted(say("Hello."), SENDING["a direct call"](), say("No."))
    agent = Agent(claw, model, settings=AgentSettings(tools_allow=lists))
    conversation = asyncio.run(agent.answer("Hi", caller=Caller(channel="app"))).conversation_id
    answer = asyncio.run(agent.answer("Send it", conversation=conversation, caller=Caller(channel="cli")))
    assert (mailbox.sent, [item.status for item in answer.activity]) == ([], ["denied"])
    assert "mail__send" not in [tool.name for tool in model.requests[1].tools]
    assert "mail__inbox" in [tool.name for tool in model.requests[1].tools]
