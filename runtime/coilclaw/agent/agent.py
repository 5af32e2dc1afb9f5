"""Agent: answers messages in conversations, with a model and the tools of an app."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from coilclaw.agent.answer import ignore
from coilclaw.agent.evidence import ConversationActivity
from coilclaw.agent.execution import Execution
from coilclaw.agent.guard import LoopGuard, Spending
from coilclaw.agent.requests import Requests, give_up
from coilclaw.agent.settings import AgentSettings, ModelChoice
from coilclaw.agent.threads import finished
from coilclaw.agent.tool_texts import ToolTextFile
from coilclaw.agent.tools import Toolset
from coilclaw.agent.transcript import Transcript
from coilclaw.agent.turn import Turn
from coilclaw.bridge import Caller, allowed_tools

if TYPE_CHECKING:
    from collections.abc import Callable

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
        self._under_way: dict[str, Turn] = {}
        self._known: dict[str, tuple[Transcript, ConversationActivity]] = {}
        """Of conversations in which nothing is under way: what is changed belongs to one turn alone."""

    async def answer(
        self,
        message: str,
        *,
        data: str | None = None,
        conversation: str | None = None,
        caller: Caller | None = None,
        listen: Listen = ignore,
        choice: ModelChoice | None = None,
    ) -> Answer:
        """Answer a person's message, in a new conversation or an earlier one.

        `data` is what the message is about, and comes from a tool: it is kept as that, and is no instruction.
        The message is in memory before anything else happens. Raises NoSuchConversation, ConversationWaits if a call
        of the conversation waits for a decision, and ConversationBusy. A task that is cancelled leaves a turn that can
        be resumed.
        """
        caller = caller or Caller()

        def begin() -> tuple[Transcript, ConversationActivity]:
            if conversation is None:
                made = Transcript.begin(self._claw.memory, caller.channel, caller.agent, caller.project, message, data)
                return made, ConversationActivity(self._claw, made.conversation, is_new=True)
            transcript, activity = self._taken(conversation)
            execution = Execution(self._claw, conversation, caller)
            transcript.say(message, partial(give_up, execution, transcript), data)
            return transcript, activity

        return await self._completed(begin, partial(self._turn, caller, listen, choice))

    async def resume(
        self,
        conversation: str,
        *,
        caller: Caller | None = None,
        listen: Listen = ignore,
        choice: ModelChoice | None = None,
    ) -> Answer:
        """Continue the last turn of a conversation: one that waited for a decision, was interrupted or failed.

        Calls that were made are not made again. Raises NothingToResume, NoSuchConversation and ConversationBusy.
        """

        def take_up() -> tuple[Transcript, ConversationActivity]:
            transcript, activity = self._taken(conversation)
            transcript.take_up()
            return transcript, activity

        return await self._completed(take_up, partial(self._turn, caller or Caller(), listen, choice, resumed=True))

    async def abandon(self, conversation: str) -> None:
        """End an unfinished turn without an answer; calls that wait for approval are not made.

        Raises NothingToResume, NoSuchConversation and ConversationBusy.
        """
        transcript, _ = self._taken(conversation)
        execution = Execution(self._claw, conversation, Caller())
        await finished(lambda: transcript.abandon(partial(give_up, execution, transcript)))

    def tell(self, conversation: str | None, event: TurnEvent) -> None:
        """Pass an event on to whoever listens to the turn that is under way in a conversation."""
        if conversation in self._under_way:
            self._under_way[conversation].listen(event)

    async def aclose(self) -> None:
        """Close the provider."""
        await self._provider.aclose()

    async def _completed(
        self,
        claim: Callable[[], tuple[Transcript, ConversationActivity]],
        make: Callable[[Transcript, ConversationActivity], Turn],
    ) -> Answer:
        """Claim a turn and work on it. Whatever happens, the claim is given back."""
        claimed: list[Transcript] = []

        def begun() -> Turn:
            transcript, activity = claim()
            claimed.append(transcript)
            return make(transcript, activity)

        try:
            turn = await finished(begun)
            conversation = turn.transcript.conversation
            self._under_way[conversation] = turn
            try:
                answer = await turn.complete()
            finally:
                if self._under_way.get(conversation) is turn:  # Else the next one has begun.
                    del self._under_way[conversation]
            self._keep(turn)
            return answer
        except BaseException:
            for each in claimed:
                await finished(each.leave)
            raise

    def _turn(
        self,
        caller: Caller,
        listen: Listen,
        choice: ModelChoice | None,
        transcript: Transcript,
        activity: ConversationActivity,
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
            choice=choice or ModelChoice(),
            done_before=None if resumed else activity.evidence(),
        )

    def _taken(self, conversation: str) -> tuple[Transcript, ConversationActivity]:
        """A conversation and what it has done, for one turn alone."""
        known = self._known.pop(conversation, None)
        return known or (
            Transcript(self._claw.memory, conversation),
            ConversationActivity(self._claw, conversation),
        )

    def _keep(self, turn: Turn) -> None:
        """Keep what a turn knows for the next one of its conversation."""
        self._known[turn.transcript.conversation] = (turn.transcript, turn.activity)
        while len(self._known) > _MOST_KNOWN:
            self._known.pop(next(iter(self._known)), None)

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
