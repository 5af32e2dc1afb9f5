"""A conversation read from memory, whatever stands there."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.scripted import Scripted, call, say

from coilclaw.agent import Agent, ConversationBusy, NothingToResume
from coilclaw.agent.exchange import RequestResult
from coilclaw.agent.transcript import Transcript
from coilclaw.memory import Memory, PendingChanged, TurnDraft
from coilclaw.providers import ChatResponse, ProviderError, ToolRequest
from coilclaw.sdk import ToolContext, define_tool

if TYPE_CHECKING:
    from tests.agent.conftest import Mailbox, Open

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


@pytest.mark.req("R219")
def test_an_unfinished_exchange_is_read_whole_however_large(claw: CoilClaw) -> None:
    """What it has done must be known: what is left is one request."""
    memory = claw.memory
    conversation = memory.begin("cli")
    memory.append(conversation, TurnDraft(role="user", content="Do it"))
    result = RequestResult(text="x" * 70_000).facts
    for number in range(20):
        calls = [{"id": str(number), "name": "run_python", "arguments": {"code": "1"}, "problem": None}]
        (asked,) = memory.append(conversation, TurnDraft(role="assistant", tool_calls=calls))
        if number < 19:
            memory.append(conversation, TurnDraft(role="tool", tool_results=[result(f"{asked.id}.0")]))
    transcript = Transcript(memory, conversation)
    transcript.take_up()
    assert (len(transcript.current.rounds), len(transcript.current.open_requests)) == (20, 1)


def test_what_is_answered_before_a_claim_is_made_is_read_after_it(
    claw: CoilClaw, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Scripted(say("One."), say("Three."))
    agent, other = Agent(claw, here), Agent(claw, Scripted(say("Two.")))
    conversation = asyncio.run(agent.answer("1")).conversation_id
    _before_the_next_claim(monkeypatch, lambda: asyncio.run(other.answer("2", conversation=conversation)))
    asyncio.run(agent.answer("3", conversation=conversation))
    assert [message.text for message in here.requests[1].messages] == ["1", "One.", "2", "Two.", "3"]


def test_a_turn_that_is_resumed_elsewhere_first_is_not_resumed_again(
    claw: CoilClaw, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, other = Agent(claw, Scripted(ProviderError("down", kind="network"))), Agent(claw, Scripted(say("Hello.")))
    conversation = asyncio.run(agent.answer("Hi")).conversation_id
    _before_the_next_claim(monkeypatch, lambda: asyncio.run(other.resume(conversation)))
    with pytest.raises(NothingToResume):
        asyncio.run(agent.resume(conversation))
    assert [turn.role for turn in claw.memory.turns(conversation)] == ["user", "assistant"]
    assert claw.memory.pending(conversation) is None


def test_messages_at_the_same_time_do_not_share_what_they_read(claw: CoilClaw, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is answered, the other is refused; both found the conversation idle."""
    here = Scripted(say("One."), say("Three."))
    agent = Agent(claw, here)
    conversation = asyncio.run(agent.answer("1")).conversation_id
    asyncio.run(Agent(claw, Scripted(say("Two."))).answer("2", conversation=conversation))
    both_looked, over, reading = threading.Barrier(2), threading.Event(), threading.Semaphore(1)
    pending, recent, suspend = Memory.pending, Memory.recent, Memory.suspend

    def looked(*given: Any) -> Any:
        found = pending(*given)
        both_looked.wait(30)
        return found

    def read(*given: Any, **more: Any) -> Any:
        if not reading.acquire(blocking=False):
            over.set()
        over.wait(30)
        return recent(*given, **more)

    def claimed(*given: Any, **more: Any) -> Any:
        try:
            return suspend(*given, **more)
        except PendingChanged:
            over.set()
            raise

    async def answers() -> list[Any]:
        both = (agent.answer("3", conversation=conversation) for _ in range(2))
        return await asyncio.gather(*both, return_exceptions=True)

    with monkeypatch.context() as patch:
        for name, made in (("pending", looked), ("recent", read), ("suspend", claimed)):
            patch.setattr(Memory, name, made)
        results = asyncio.run(answers())
    assert sorted(type(each).__name__ for each in results) == ["Answer", ConversationBusy.__name__]
    assert [message.text for message in here.requests[1].messages] == ["1", "One.", "2", "Two.", "3"]


def _before_the_next_claim(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    suspend = Memory.suspend

    def claimed(*given: Any, **more: Any) -> Any:
        monkeypatch.undo()
        happens()
        return suspend(*given, **more)

    monkeypatch.setattr(Memory, "suspend", claimed)


@pytest.mark.parametrize("many", ["[" * 101 + "]" * 101, str([1] * 600_000)], ids=["deep", "large"])
def test_a_request_that_cannot_be_kept_is_refused_and_the_conversation_goes_on(
    claw: CoilClaw, mailbox: Mailbox, many: str
) -> None:
    asked = ChatResponse(
        tool_calls=(
            ToolRequest(id="one", name="mail.send", arguments={"to": json.loads(many)}, echo=json.loads(many)),
            ToolRequest(id="two", name="mail.send", arguments={"to": "b@x.org"}),
        )
    )
    model = Scripted(asked, say("One of them."), say("Later."))
    conversation = asyncio.run(Agent(claw, model).answer("Send it")).conversation_id
    refused, sent = model.requests[1].messages[-2:]
    assert (refused.request_id, refused.is_error, sent.request_id, mailbox.sent) == ("one", True, "two", ["b@x.org"])
    assert "nested too deep" in refused.text
    assert asyncio.run(Agent(claw, model).answer("And?", conversation=conversation)).text == "Later."


def test_requests_that_are_too_large_together_are_carried_out_whole_or_not_at_all(opened: Open) -> None:
    written: list[int] = []

    @define_tool(id="notes.write", risk="write")
    def write(ctx: ToolContext, text: str) -> None:
        """Write a note."""
        written.append(len(text))

    asked = [ToolRequest(id=f"r{n}", name="notes.write", arguments={"text": str(n) * 190_000}) for n in range(7)]
    model = Scripted(ChatResponse(tool_calls=tuple(asked)), say("Some."))
    claw = opened(write, config={"security.autonomy": "full"})
    answer = asyncio.run(Agent(claw, model).answer("Write"))
    assert written == [190_000] * 4
    told = model.requests[1].messages[-7:]
    assert [each.is_error for each in told] == [False] * 4 + [True] * 3
    assert any("ask for fewer" in str(each.tool_results) for each in claw.memory.turns(answer.conversation_id))


@pytest.mark.parametrize("value", ["turn", "request", "text", "mail", "a@x.org"])
def test_a_secret_in_a_request_or_in_our_own_words_changes_nothing_that_is_done(
    claw: CoilClaw, mailbox: Mailbox, value: str
) -> None:
    claw.memory._redaction = lambda: lambda text: text.replace(value, "[secret X]")
    model = Scripted(call("mail.send", to="a@x.org", text="Hello"), say("Fine."), say("Later."))
    agent = Agent(claw, model)
    answer = asyncio.run(agent.answer("Go"))
    assert (mailbox.sent, len(answer.run_ids), model.requests[1].messages[-1].is_error) == (["a@x.org"], 1, False)
    assert "Sent mail" in answer.actions
    assert value not in str(model.requests[1].messages[1].tool_requests[0].arguments)
    assert asyncio.run(Agent(claw, model).answer("On", conversation=answer.conversation_id)).text == "Later."


def test_a_request_that_was_kept_redacted_is_not_carried_out_by_another_process(
    claw: CoilClaw, mailbox: Mailbox
) -> None:
    claw.memory._redaction = lambda: lambda text: text.replace("a@x.org", "[secret X]")
    conversation = claw.memory.begin("cli")
    request = {"id": "one", "name": "mail.send", "arguments": {"to": "a@x.org"}, "problem": None}
    claw.memory.append(
        conversation,
        TurnDraft(role="user", content="Send it"),
        TurnDraft(role="assistant", tool_calls=[request]),
    )
    model = Scripted(say("I could not."))
    asyncio.run(Agent(claw, model).resume(conversation))
    assert mailbox.sent == []
    assert "not kept as they were" in model.requests[0].messages[-1].text


def test_an_answer_whose_claims_cannot_be_kept_is_given_and_kept(claw: CoilClaw) -> None:
    long = " ".join(f"I have deleted the file {'😀' * 1800}{number}." for number in range(60))
    answer = asyncio.run(Agent(claw, Scripted(say(long))).answer("Hello"))
    last = claw.memory.recent(answer.conversation_id, 10**9)[-1]
    assert (answer.status, last.id, last.metadata["status"]) == ("answered", answer.turn_id, "answered")
