"""Agent: answers messages in conversations, with a model and the tools of an app."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from coilclaw.agent.answer import ignore
from coilclaw.agent.evidence import ConversationActivity
from coilclaw.agent.execution import Execution
from coilclaw.agent.guard import LoopGuard, Spending
from coilclaw.agent.requests import Requests, give_up
from coilclaw.agent.settings import AgentSettings
from coilclaw.agent.threads import finished
from coilclaw.agent.tool_texts import ToolTextFile
from coilclaw.agent.tools import Toolset
from coilclaw.agent.transcript import Transcript
from coilclaw.agent.turn import Turn
from coilclaw.bridge import Caller, allowed_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coilclaw.agent.answer import Answer, Listen, TurnEvent
    from coilclaw.app import CoilClaw
    from coilclaw.providers import Provider

__all__ = ["Agent"]

_logger = logging.getLogger(__name__)

_MOST_KNOWN: Final = 64
"""Conversations that are kept between their turns; others are read again."""


class Agent:
    """Answers in any number of conversations of one app. Its methods belong to one event loop."""

    def __init__(self, claw: CoilClaw, provider: Provider, *, settings: AgentSettings | None = None) -> None:
        self._claw = claw
        self._provider = provider
        self._settings = settings or AgentSettings.of(claw.settings.config)
        self._toolsets: dict[tuple[str, ...] | None, Toolset] = {}
        self._under_way: dict[str, Listen] = {}
        self._known: dict[str, tuple[Transcript, ConversationActivity]] = {}

    async def answer(
        self,
        message: str,
        *,
        data: str | None = None,
        conversation: str | None = None,
        caller: Caller | None = None,
        listen: Listen = ignore,
        model: str | None = None,
        hint: str | None = None,
        profile: str | None = None,
    ) -> Answer:
        """Answer a person's message, in a new conversation or an earlier one.

        `data` is what the message is about, and comes from a tool: it is kept as that, and is no instruction.
        The message is in memory before anything else happens. Raises NoSuchConversation, ConversationWaits if a call
        of the conversation waits for a decision, and ConversationBusy. A task that is cancelled leaves a turn that can
        be resumed.
        """
        caller = caller or Caller()

        def begin() -> Transcript:
            memory = self._claw.memory
            if conversation is None:
                return Transcript.begin(memory, caller.channel, caller.agent, caller.project, message, data)
            known = self._transcript(conversation)
            execution = Execution(self._claw, conversation, caller)
            known.say(message, partial(give_up, execution, known), data)
            return known

        metadata = {"hint": hint, "profile": profile}
        return await self._completed(begin, partial(self._turn, caller, listen, model, metadata))

    async def resume(
        self, conversation: str, *, caller: Caller | None = None, listen: Listen = ignore, model: str | None = None
    ) -> Answer:
        """Continue the last turn of a conversation: one that waited for a decision, was interrupted or failed.

        Calls that were made are not made again. Raises NothingToResume, NoSuchConversation and ConversationBusy.
        """

        def take_up() -> Transcript:
            known = self._transcript(conversation)
            known.take_up()
            return known

        return await self._completed(take_up, partial(self._turn, caller or Caller(), listen, model, {}, resumed=True))

    async def abandon(self, conversation: str) -> None:
        """End an unfinished turn without an answer; calls that wait for approval are not made.

        Raises NothingToResume, NoSuchConversation and ConversationBusy.
        """
        known = self._transcript(conversation)
        execution = Execution(self._claw, conversation, Caller())
        await finished(lambda: known.abandon(partial(give_up, execution, known)))

    def tell(self, conversation: str | None, event: TurnEvent) -> None:
        """Pass an event on to whoever listens to the turn that is under way in a conversation."""
        if conversation in self._under_way:
            self._under_way[conversation](event)

    async def aclose(self) -> None:
        """Close the provider."""
        await self._provider.aclose()

    async def _completed(self, claim: Callable[[], Transcript], make: Callable[[Transcript], Turn]) -> Answer:
        """Claim a turn and work on it. Whatever happens, the claim is given back."""
        claimed: list[Transcript] = []

        def begun() -> Turn:
            claimed.append(claim())
            return make(claimed[0])

        try:
            turn = await finished(begun)
            conversation = turn.transcript.conversation
            self._under_way[conversation] = turn.listen
            try:
                return await turn.complete()
            finally:
                del self._under_way[conversation]
        except BaseException:
            for each in claimed:
                await finished(each.leave)
            raise

    def _turn(
        self,
        caller: Caller,
        listen: Listen,
        model: str | None,
        metadata: Mapping[str, Any],
        transcript: Transcript,
        *,
        resumed: bool = False,
    ) -> Turn:
        conversation, settings = transcript.conversation, self._settings
        allowed = self._allowed(conversation, caller)
        bounded = replace(caller, conversation=conversation, tools_allow=allowed)
        toolset = self._toolset(allowed)
        steps = transcript.current.steps
        answered = [
            request
            for step in steps
            for request, result in zip(step.requests, step.results, strict=True)
            if result is not None
        ]
        told = _listening(listen)
        activity = self._activity(transcript)
        said = {"conversation": conversation, **metadata}
        return Turn(
            claw=self._claw,
            provider=self._provider,
            settings=settings,
            transcript=transcript,
            toolset=toolset,
            requests=Requests(
                Execution(self._claw, conversation, bounded),
                transcript,
                toolset,
                LoopGuard(answered),
                settings.seconds,
                told,
            ),
            activity=activity,
            spending=Spending(settings, [(step.provider, step.usage) for step in steps]),
            listen=told,
            model=model,
            metadata={name: value for name, value in said.items() if value is not None},
            done_before=None if resumed else activity.evidence(),
        )

    def _transcript(self, conversation: str) -> Transcript:
        known = self._known.get(conversation)
        return Transcript(self._claw.memory, conversation) if known is None else known[0]

    def _activity(self, transcript: Transcript) -> ConversationActivity:
        """What the conversation has done. Both are kept for its next turn."""
        conversation = transcript.conversation
        known = self._known.pop(conversation, None)
        activity = ConversationActivity(self._claw, conversation) if known is None else known[1]
        self._known[conversation] = (transcript, activity)
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        return activity

    def _allowed(self, conversation: str, caller: Caller) -> tuple[str, ...] | None:
        """What the conversation may call: as its caller says, or else as both channels do: where it was begun, and
        where it goes on."""
        if caller.tools_allow is not None:
            return caller.tools_allow
        channels = dict.fromkeys((self._claw.memory.show(conversation).channel, caller.channel))
        bounds = [found for each in channels if (found := self._settings.tools_allow.get(each)) is not None]
        if len(bounds) < 2:
            return bounds[0] if bounds else None
        ids = (allowed_tools(self._claw.tools.registry, each) for each in bounds)
        return tuple(sorted(frozenset.intersection(*ids)))

    def _toolset(self, allowed: tuple[str, ...] | None) -> Toolset:
        registry = self._claw.tools.registry
        known = self._toolsets.get(allowed)
        if known is None or not known.is_of(registry):
            known = self._toolsets[allowed] = Toolset(
                registry,
                allowed,
                self._claw.tools.policy,
                tokens=self._settings.tool_tokens,
                python=self._claw.tools.python,
                kept=ToolTextFile(self._claw.settings.home),
            )
        return known


def _listening(listen: Listen) -> Listen:
    if listen is ignore:
        return ignore

    def told(event: TurnEvent) -> None:
        try:
            listen(event)
        except Exception:  # Whoever only looks on must not end a turn.
            _logger.exception("a listener of a turn failed")

    return told
