"""Agent: answers messages in conversations, with a model and the tools of an app."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from coilclaw.agent.answer import ignore
from coilclaw.agent.evidence import ConversationActivity
from coilclaw.agent.exchange_loop import ExchangeLoop
from coilclaw.agent.execution import Execution
from coilclaw.agent.guard import ExchangeClock, LoopGuard, Spending
from coilclaw.agent.requests import Requests, give_up
from coilclaw.agent.settings import AgentSettings, ModelChoice
from coilclaw.agent.threads import finished
from coilclaw.agent.tool_texts import ToolTextFile
from coilclaw.agent.tools import Toolset
from coilclaw.agent.transcript import Transcript
from coilclaw.bridge import Caller, allowed_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from coilclaw.agent.answer import Answer, ExchangeEvent, Listen
    from coilclaw.app import CoilClaw
    from coilclaw.providers import Provider

__all__ = ["Agent"]

_logger = logging.getLogger(__name__)

_MOST_KNOWN: Final = 64
"""Conversations that are kept between their exchanges; others are read again."""


class Agent:
    """Answers in any number of conversations of one app. Its methods belong to one event loop."""

    def __init__(self, claw: CoilClaw, provider: Provider, *, settings: AgentSettings | None = None) -> None:
        self._claw = claw
        self._provider = provider
        self._settings = settings or AgentSettings.of(claw.settings.config)
        self._toolsets: dict[tuple[str, ...] | None, Toolset] = {}
        self._under_way: dict[str, ExchangeLoop] = {}
        self._known: dict[str, tuple[Transcript, ConversationActivity]] = {}
        """Of conversations in which nothing is under way: what is changed belongs to one exchange alone."""

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
        of the conversation waits for a decision, and ConversationBusy. A task that is cancelled leaves an exchange
        that can be resumed.
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

        return await self._completed(begin, partial(self._loop, caller, listen, choice))

    async def post(self, message: str, *, conversation: str, caller: Caller | None = None) -> str:
        """Add a person's message to a conversation without answering it yet, and return its id; `resume` answers it.

        Raises NoSuchConversation, ConversationWaits and ConversationBusy.
        """

        def kept() -> str:
            transcript, activity = self._taken(conversation)
            execution = Execution(self._claw, conversation, caller or Caller())
            transcript.say(message, partial(give_up, execution, transcript))
            transcript.leave()
            self._keep(transcript, activity)
            return transcript.current.id

        return await finished(kept)

    async def resume(
        self,
        conversation: str,
        *,
        message: str | None = None,
        caller: Caller | None = None,
        listen: Listen = ignore,
        choice: ModelChoice | None = None,
    ) -> Answer:
        """Continue the last exchange of a conversation: one that waited for a decision, was interrupted or failed.

        With `message`, only if that is the id of the message that it is to answer. Calls that were made are not made
        again. Raises NothingToResume, NoSuchConversation and ConversationBusy.
        """

        def take_up() -> tuple[Transcript, ConversationActivity]:
            transcript, activity = self._taken(conversation)
            transcript.take_up(message)
            return transcript, activity

        return await self._completed(take_up, partial(self._loop, caller or Caller(), listen, choice, resumed=True))

    async def abandon(self, conversation: str) -> None:
        """End an unfinished exchange without an answer; calls that wait for approval are not made.

        Raises NothingToResume, NoSuchConversation and ConversationBusy.
        """
        transcript, _ = self._taken(conversation)
        execution = Execution(self._claw, conversation, Caller())
        await finished(lambda: transcript.abandon(partial(give_up, execution, transcript)))

    def tell(self, conversation: str | None, event: ExchangeEvent) -> None:
        """Pass an event on to whoever listens to the exchange that is under way in a conversation."""
        if conversation in self._under_way:
            self._under_way[conversation].listen(event)

    async def aclose(self) -> None:
        """Close the provider."""
        await self._provider.aclose()

    async def _completed(
        self,
        claim: Callable[[], tuple[Transcript, ConversationActivity]],
        make: Callable[[Transcript, ConversationActivity], ExchangeLoop],
    ) -> Answer:
        """Claim an exchange and work on it. Whatever happens, the claim is given back."""
        claimed: list[Transcript] = []

        def begun() -> ExchangeLoop:
            transcript, activity = claim()
            claimed.append(transcript)
            return make(transcript, activity)

        try:
            loop = await finished(begun)
            conversation = loop.transcript.conversation
            self._under_way[conversation] = loop
            try:
                answer = await loop.complete()
            finally:
                if self._under_way.get(conversation) is loop:  # Else the next one has begun.
                    del self._under_way[conversation]
            self._keep(loop.transcript, loop.activity)
            return answer
        except BaseException:
            for each in claimed:
                await finished(each.leave)
            raise

    def _loop(
        self,
        caller: Caller,
        listen: Listen,
        choice: ModelChoice | None,
        transcript: Transcript,
        activity: ConversationActivity,
        *,
        resumed: bool = False,
    ) -> ExchangeLoop:
        conversation, settings = transcript.conversation, self._settings
        allowed = self._allowed(conversation, caller)
        # Whoever continues it, a conversation stays in its project.
        project = self._claw.memory.show(conversation).project
        bounded = replace(caller, conversation=conversation, tools_allow=allowed, project=project)
        toolset = self._toolset(allowed)
        rounds = transcript.current.rounds
        answered = [
            request
            for round_ in rounds
            for request, result in zip(round_.requests, round_.results, strict=True)
            if result is not None
        ]
        told, clock = _listening(listen), ExchangeClock(settings.exchange_seconds)
        return ExchangeLoop(
            claw=self._claw,
            provider=self._provider,
            settings=settings,
            transcript=transcript,
            toolset=toolset,
            requests=Requests(
                Execution(self._claw, conversation, clock.stopped_for_people(bounded)),
                transcript,
                toolset,
                LoopGuard(answered),
                settings.seconds,
                clock,
                told,
            ),
            activity=activity,
            spending=Spending(settings, [(round_.provider, round_.usage) for round_ in rounds]),
            clock=clock,
            listen=told,
            choice=choice or ModelChoice(),
            view=caller.view,
            done_before=None if resumed else activity.evidence(),
        )

    def _taken(self, conversation: str) -> tuple[Transcript, ConversationActivity]:
        """A conversation and what it has done, for one exchange alone."""
        known = self._known.pop(conversation, None)
        return known or (
            Transcript(self._claw.memory, conversation),
            ConversationActivity(self._claw, conversation),
        )

    def _keep(self, transcript: Transcript, activity: ConversationActivity) -> None:
        """Keep what an exchange knows for the next one of its conversation."""
        self._known[transcript.conversation] = (transcript, activity)
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

    def told(event: ExchangeEvent) -> None:
        try:
            listen(event)
        except Exception:  # Whoever only looks on must not end an exchange.
            _logger.exception("a listener of an exchange failed")

    return told
