"""What a channel may ask of the runtime."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from coilclaw.agent import ignore
from coilclaw.sdk import OperatorError

if TYPE_CHECKING:
    from coilclaw.agent import Agent, Answer, Listen, ModelChoice
    from coilclaw.app import Caller, CoilClaw
    from coilclaw.config import Settings

__all__ = ["ChannelDisabled", "RuntimeHandle"]

_logger: Final = logging.getLogger(__name__)


class ChannelDisabled(OperatorError):
    """A channel that the configuration has turned off."""

    code = "channel_disabled"

    def __init__(self, channel: str, settings: Settings) -> None:
        super().__init__(
            f"the channel {channel!r} is turned off",
            hint=f"set `enabled = true` under [channels.{channel}] in {settings.path}",
        )


class RuntimeHandle:
    """The agent and its app, for the conversations of one channel. Raises ChannelDisabled if that is turned off.

    Whatever a channel says of itself, its calls carry its own name, by which policy rules and `tools_allow` know it.
    """

    def __init__(self, claw: CoilClaw, agent: Agent, channel: str) -> None:
        table = getattr(claw.settings.config.channels, channel, None)
        if table is None or not table.enabled:
            raise ChannelDisabled(channel, claw.settings)
        self.claw = claw
        self.channel = channel
        self._agent = agent
        _logger.info("channel.started", extra={"event": {"channel": channel}})

    async def answer(
        self,
        message: str,
        *,
        caller: Caller,
        conversation: str | None = None,
        listen: Listen = ignore,
        choice: ModelChoice | None = None,
    ) -> Answer:
        """Answer a message, in a new conversation unless one is named."""
        return await self._agent.answer(
            message,
            conversation=conversation,
            caller=replace(caller, channel=self.channel),
            listen=listen,
            choice=choice,
        )

    async def post(self, message: str, *, conversation: str, caller: Caller) -> str:
        """Add a message to a conversation without answering it yet, and return its id; `resume` answers it."""
        return await self._agent.post(message, conversation=conversation, caller=replace(caller, channel=self.channel))

    async def resume(
        self,
        conversation: str,
        *,
        caller: Caller,
        message: str | None = None,
        listen: Listen = ignore,
        choice: ModelChoice | None = None,
    ) -> Answer:
        """Continue a conversation that waited for a decision, or answer a message that was posted."""
        named = replace(caller, channel=self.channel)
        return await self._agent.resume(conversation, message=message, caller=named, listen=listen, choice=choice)

    async def abandon(self, conversation: str) -> None:
        """End an unfinished turn without an answer; calls that wait for approval are not made."""
        await self._agent.abandon(conversation)
