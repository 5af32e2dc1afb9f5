"""What a channel may ask of the runtime."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from coilclaw.agent import open_agent
from coilclaw.app import Caller, CoilClaw
from coilclaw.channels import ChannelDisabled, RuntimeHandle


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
