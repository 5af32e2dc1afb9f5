"""Turns that end early: provider errors, cancellation, processes that die."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.conftest import Open
from tests.agent.scripted import Scripted, call, code, say

from coilclaw.agent import Agent, ConversationBusy, ExchangeEvent, ignore
from coilclaw.agent.tools import Toolset
from coilclaw.agent.transcript import Transcript
from coilclaw.providers import ChatRequest, ChatResponse, CredentialsNeeded, ProviderError
from coilclaw.sdk import ToolContext, define_tool

if TYPE_CHECKING:
    from tests.agent.conftest import Mailbox

    from coilclaw.app import CoilClaw


@pytest.mark.req("R217", "R219")
def test_a_turn_whose_provider_failed_is_kept_and_can_be_retried(claw: CoilClaw, mailbox: Mailbox) -> None:
    broken = ProviderError("the service did not answer", kind="timeout", hint="try again")
    model = Scripted(call("mail__send", to="a@x.org"), broken, say("The mail is sent to a@x.org."))
    agent = Agent(claw, model)
    failed = asyncio.run(agent.answer("Send it"))
    assert (failed.status, failed.text) == ("failed", "")
    assert failed.error is not None
    assert (failed.error.code, failed.error.hint) == ("provider", "try again")
    assert [item.status for item in failed.activity] == ["succeeded"]
    answer = asyncio.run(agent.resume(failed.conversation_id))
    assert (answer.status, mailbox.sent) == ("answered", ["a@x.org"])


def test_missing_credentials_are_named(claw: CoilClaw) -> None:
    model = Scripted(CredentialsNeeded("no key", provider="x", hint="coilclaw auth add x"))
    answer = asyncio.run(Agent(claw, model).answer("Hi"))
    assert answer.error is not None
    assert (answer.status, answer.error.code, answer.error.hint) == ("failed", "credentials", "coilclaw auth add x")


def test_a_new_message_closes_a_turn_that_failed(claw: CoilClaw) -> None:
    model = Scripted(ProviderError("down", kind="network"), say("Hello again."))
    agent = Agent(claw, model)
    failed = asyncio.run(agent.answer("Hi"))
    answer = asyncio.run(agent.answer("Still there?", conversation=failed.conversation_id))
    assert answer.status == "answered"
    assert [message.role for message in model.requests[1].messages] == ["user", "assistant", "user"]


@pytest.mark.parametrize("listen", [ignore, lambda event: None])
def test_a_cancelled_run_leaves_a_conversation_that_can_be_continued(
    opened: Open, mailbox: Mailbox, listen: Callable[[ExchangeEvent], None]
) -> None:
    started = threading.Event()

    @define_tool(id="slow.wait", risk="read")
    async def wait(ctx: ToolContext) -> int:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()
        return 1

    claw = opened(wait, *mailbox.tools(), config={"security.autonomy": "full"})

    async def interrupted() -> None:
        source = "tools.mail.send(to='a@x.org')\ntools.slow.wait()"
        task = asyncio.create_task(Agent(claw, Scripted(code(source))).answer("Wait", listen=listen))
        await asyncio.to_thread(started.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    (known,) = claw.memory.list()
    assert not known.is_waiting
    roles = [turn.role for turn in claw.memory.turns(known.conversation_id)]
    assert roles == ["user", "assistant", "tool"]
    model = Scripted(say("It was interrupted."))
    answer = asyncio.run(Agent(claw, model).resume(known.conversation_id))
    assert answer.status == "answered"
    assert "cancelled" in model.requests[0].messages[-1].text
    assert mailbox.sent == ["a@x.org"]


def test_a_cancelled_request_to_the_model_leaves_the_message(claw: CoilClaw) -> None:
    async def interrupted() -> None:
        asked = asyncio.Event()

        class Silent(Scripted):
            async def chat(self, request: ChatRequest) -> ChatResponse:
                asked.set()
                await asyncio.Event().wait()
                raise AssertionError

        task = asyncio.create_task(Agent(claw, Silent()).answer("Hi"))
        await asked.wait()
        with pytest.raises(ConversationBusy):
            (known,) = claw.memory.list()
            await Agent(claw, Scripted(say("I am faster."))).answer("Hi?", conversation=known.conversation_id)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    (known,) = claw.memory.list()
    assert asyncio.run(Agent(claw, Scripted(say("Hello."))).resume(known.conversation_id)).text == "Hello."


def test_a_turn_that_cannot_begin_is_given_back(claw: CoilClaw, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is kept, and nobody is told that the conversation is busy."""
    agent = Agent(claw, Scripted(say("Hello.")))
    with monkeypatch.context() as patch:
        patch.setattr(Toolset, "__init__", lambda *given, **more: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            asyncio.run(agent.answer("Hi"))
    (known,) = claw.memory.list()
    assert not known.is_waiting
    assert asyncio.run(agent.resume(known.conversation_id)).text == "Hello."


def test_a_turn_that_is_cancelled_while_it_begins_is_given_back(claw: CoilClaw) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(Agent(claw, Scripted(say("Hello."))).answer("Hi"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert [known.is_waiting for known in claw.memory.list()] == [False]


@pytest.mark.parametrize("method", ["say", "take_up"])
def test_a_turn_that_is_cancelled_while_it_is_claimed_is_given_back(
    claw: CoilClaw, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Of an earlier conversation: whoever comes next is not told that it is being answered."""
    agent = Agent(claw, Scripted(ProviderError("down", kind="network"), say("Hello.")))
    conversation = asyncio.run(agent.answer("Hi")).conversation_id
    claim = getattr(Transcript, method)

    async def cancelled() -> None:
        loop, claimed = asyncio.get_running_loop(), asyncio.Event()

        def noted(*given: Any) -> None:
            claim(*given)
            loop.call_soon_threadsafe(claimed.set)

        monkeypatch.setattr(Transcript, method, noted)
        task = asyncio.create_task(
            agent.resume(conversation) if method == "take_up" else agent.answer("Hi?", conversation=conversation)
        )
        await claimed.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    monkeypatch.undo()
    assert asyncio.run(agent.resume(conversation)).text == "Hello."


def test_a_listener_that_fails_does_not_end_the_turn(claw: CoilClaw) -> None:
    def broken(event: object) -> None:
        raise RuntimeError("no screen")

    assert asyncio.run(Agent(claw, Scripted(say("Hello."))).answer("Hi", listen=broken)).text == "Hello."
