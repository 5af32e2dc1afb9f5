"""What a channel may ask of the runtime."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.agent.scripted import Scripted, say

from coilclaw.agent import Agent, ModelChoice, open_agent
from coilclaw.app import Caller, CoilClaw
from coilclaw.channels import ChannelDisabled, RuntimeHandle
from coilclaw.providers import ProviderError


@pytest.mark.req("R307", "R395", "R410")
def test_a_message_is_answered_under_the_name_of_its_channel() -> None:
    async def answered() -> None:
        with CoilClaw.temporary() as claw:
            async with open_agent(claw) as agent:
                handle = RuntimeHandle(claw, agent, "cli")
                # Whatever the channel says of itself.
                answer = await handle.answer("hi", caller=Caller(channel="owner"))
                assert answer.status == "answered"
                assert claw.memory.show(answer.conversation_id).channel == "cli"
                again = await handle.answer("hi", caller=Caller(), conversation=answer.conversation_id)
                assert again.conversation_id == answer.conversation_id

    asyncio.run(answered())


def test_what_is_chosen_reaches_the_provider_in_an_answer_and_when_it_is_resumed() -> None:
    model = Scripted(ProviderError("down", kind="network"), say("Hello."))
    choice = ModelChoice(model="large", profile="work", hint="code")

    async def answered() -> None:
        with CoilClaw.temporary() as claw:
            handle = RuntimeHandle(claw, Agent(claw, model), "cli")
            failed = await handle.answer("hi", caller=Caller(), choice=choice)
            await handle.resume(failed.conversation_id, caller=Caller(), choice=choice)

    asyncio.run(answered())
    asked = [(each.model, each.metadata["profile"], each.metadata["hint"]) for each in model.requests]
    assert asked == [("large", "work", "code")] * 2


@pytest.mark.req("R285")
@pytest.mark.parametrize("channel", ["cli", "pigeon"])
def test_a_channel_that_is_off_or_not_known_gets_no_handle(channel: str) -> None:
    async def refused() -> None:
        with CoilClaw.temporary(config={"channels.cli.enabled": False}) as claw:
            async with open_agent(claw) as agent:
                with pytest.raises(ChannelDisabled) as caught:
                    RuntimeHandle(claw, agent, channel)
                assert f"[channels.{channel}]" in str(caught.value.hint)
                assert Path(claw.settings.path).name in str(caught.value.hint)

    asyncio.run(refused())
