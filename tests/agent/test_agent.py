"""The loop: from a message to its answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.conftest import Open
from tests.agent.scripted import Scripted, call, code, say

from coilclaw.agent import Agent, CallChanged, ExchangeEvent
from coilclaw.agent.tool_texts import ToolTextFile
from coilclaw.policy import EmergencyStop
from coilclaw.sdk import ToolContext, define_tool

if TYPE_CHECKING:
    from tests.agent.conftest import Mailbox

    from coilclaw.app import CoilClaw


@pytest.mark.req("R394", "R395", "R399", "R400", "R409", "R410", "R253", "R254", "R261")
def test_a_message_is_answered_and_both_are_remembered(claw: CoilClaw) -> None:
    answer = asyncio.run(Agent(claw, Scripted(say("Hello."))).answer("Hi"))
    assert (answer.status, answer.text, answer.activity) == ("answered", "Hello.", ())
    turns = list(claw.memory.turns(answer.conversation_id))
    assert [(turn.role, turn.content) for turn in turns] == [("user", "Hi"), ("assistant", "Hello.")]
    assert turns[-1].id == answer.turn_id
    assert claw.memory.pending(answer.conversation_id) is None


@pytest.mark.req("R256", "R258", "R259", "R260", "R401", "R404", "R405", "R406", "R407")
def test_a_snippet_acts_and_its_result_goes_back(claw: CoilClaw, mailbox: Mailbox) -> None:
    model = Scripted(code("tools.mail.send(to='a@x.org').unwrap()"), say("Sent."))
    answer = asyncio.run(Agent(claw, model).answer("Send it"))
    assert mailbox.sent == ["a@x.org"]
    assert [(item.tool_id, item.status) for item in answer.activity] == [("mail.send", "succeeded")]
    told = model.requests[1].messages[-1]
    assert told.role == "tool"
    assert '"sent": "a@x.org"' in told.text
    assert "Sent mail to a@x.org" in told.text
    assert {each.conversation_id for each in claw.receipts.latest(50, run_id=answer.run_ids[0])} == {
        answer.conversation_id
    }


def test_what_a_service_wants_back_is_remembered_with_the_request(claw: CoilClaw, mailbox: Mailbox) -> None:
    asked = code("tools.mail.send(to='a@x.org').unwrap()")
    echo = {"model": "m", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]}
    thoughtful = replace(asked, tool_calls=(replace(asked.tool_calls[0], echo=echo),))
    model = Scripted(thoughtful, say("Sent."), say("Yes."))
    first = asyncio.run(Agent(claw, model).answer("Send it"))
    asyncio.run(Agent(claw, model).answer("Really?", conversation=first.conversation_id))
    for request in model.requests[1:]:
        (kept,) = [each.echo for message in request.messages for each in message.tool_requests]
        assert kept == echo


@pytest.mark.req("R189", "R218")
def test_calls_are_told_while_the_snippet_runs(opened: Open) -> None:
    told, tell = threading.Event(), threading.Event()

    @define_tool(id="slow.first", risk="read")
    def first(ctx: ToolContext) -> int:
        """Return at once."""
        return 1

    @define_tool(id="slow.second", risk="read")
    def second(ctx: ToolContext) -> bool:
        """Return when somebody has heard of the first call."""
        tell.set()
        return told.wait(20)

    states: list[tuple[str, str]] = []

    def listen(event: ExchangeEvent) -> None:
        if isinstance(event, CallChanged):
            states.append((event.item.tool_id, event.item.status))
            if states[-1] == ("slow.first", "succeeded"):
                told.set()

    source = "tools.slow.first().unwrap()\ntools.slow.second().unwrap()"
    model = Scripted(code(source), say("Well."))
    asyncio.run(Agent(opened(first, second), model).answer("Look", listen=listen))
    assert "value: true" in model.requests[1].messages[-1].text
    assert states[-1] == ("slow.second", "succeeded")
    assert len(states) == len(set(states))


def test_a_direct_call_takes_the_same_path(claw: CoilClaw, mailbox: Mailbox) -> None:
    model = Scripted(call("mail__send", to="a@x.org"), call("send_mail", to="b@x.org"), say("Sent."))
    answer = asyncio.run(Agent(claw, model).answer("Send it"))
    assert mailbox.sent == ["a@x.org", "b@x.org"]
    assert len(answer.run_ids) == 2


def test_files_are_read_off_the_event_loop(claw: CoilClaw, monkeypatch: pytest.MonkeyPatch) -> None:
    on_loop: list[str] = []

    def watched(kind: type, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*given: Any) -> Any:
            with suppress(RuntimeError):
                asyncio.get_running_loop()
                on_loop.append(f"{kind.__name__}.{name}")
            return work(*given)

        return noted

    for kind, name in ((ToolTextFile, "read"), (ToolTextFile, "write"), (EmergencyStop, "found")):
        monkeypatch.setattr(kind, name, watched(kind, name, getattr(kind, name)))
    asyncio.run(Agent(claw, Scripted(say("Hello."))).answer("Hi"))
    assert on_loop == []
