"""The agent as the one who answers the prompts of agent steps."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from coilclaw.agent import NothingToResume
from coilclaw.agent.sop.report import Answered, Cancelled, Failed, Outcome, Unknown, Waiting
from coilclaw.agent.sop.tool_arguments import as_text, bounded
from coilclaw.memory import NoSuchConversation

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from coilclaw.agent import Agent, Answer
    from coilclaw.app import Caller, CoilClaw

__all__ = ["AgentAnswers"]

_MOST_DATA: Final = 40_000
"""Characters of an earlier output in a prompt."""

_CHANNEL: Final = "sop"
"""Of the conversations of steps: nobody talks in them."""


class AgentAnswers:
    """Has prompts answered in conversations of one app, on an event loop of its own.

    Use it in `with`. `agent` opens the agent, which happens when the first prompt comes.
    """

    def __init__(self, claw: CoilClaw, agent: Callable[[], AbstractAsyncContextManager[Agent]]) -> None:
        self._claw = claw
        self._open = agent
        self._opened: Agent | None = None
        self._stack = AsyncExitStack()
        self._loop = asyncio.Runner()

    def __enter__(self) -> AgentAnswers:
        return self

    def __exit__(self, *ending: object) -> None:
        try:
            if self._opened is not None:
                self._loop.run(self._stack.aclose())
        finally:
            self._loop.close()

    def begin(self, caller: Caller) -> str:
        """Begin a conversation and return its id; nothing is asked yet."""
        return self._claw.memory.begin(_CHANNEL, agent=caller.agent, project=caller.project)

    def ask(
        self,
        conversation: str,
        prompt: str,
        data: Any,
        caller: Caller,
        *,
        again: bool,
        unknown: Unknown | None,
    ) -> Outcome:
        """Have a prompt answered; with `again`, continue the exchange that was begun, if one was."""
        caller = replace(caller, conversation=conversation)
        try:
            begun = again and bool(len(self._claw.memory.turns(conversation, limit=1)))
        except NoSuchConversation as error:  # Somebody cleared the memory meanwhile.
            return Failed(code=error.code, message=error.message, hint=error.hint)
        if begun and unknown is not None:
            self._decide(conversation, caller, unknown)
        known = None if data is None else bounded(as_text(data), _MOST_DATA)
        return self._loop.run(self._asked(conversation, None if begun else prompt, known, caller))

    def _decide(self, conversation: str, caller: Caller, unknown: Unknown) -> None:
        """Continue the runs of a conversation whose calls have an unknown outcome."""
        for each in self._claw.runs.of_conversation(conversation):
            if each.is_waiting:
                self._claw.resume(each.run_id, unknown=unknown, caller=caller)

    async def _asked(self, conversation: str, message: str | None, data: str | None, caller: Caller) -> Outcome:
        if self._opened is None:
            self._opened = await self._stack.enter_async_context(self._open())
        if message is not None:
            answer = await self._opened.answer(message, data=data, conversation=conversation, caller=caller)
            return _outcome(answer)
        return await self._resumed(self._opened, conversation, caller)

    async def _resumed(self, agent: Agent, conversation: str, caller: Caller) -> Outcome:
        try:
            return _outcome(await agent.resume(conversation, caller=caller))
        except NothingToResume:  # It was answered before the process ended: the answer is the last turn.
            last = self._claw.memory.latest_exchange(conversation)[-1]
            if last.role == "assistant" and last.metadata.get("status") == "answered":
                return Answered(output=last.content)
            return Failed(code="stopped", message="the agent's exchange ended without an answer")


def _outcome(answer: Answer) -> Outcome:
    match answer.status:
        case "answered":
            return Answered(output=answer.text)
        case "waiting":
            return Waiting(approvals=answer.approvals, unknown=answer.unknown)
        case "cancelled":
            return Cancelled()
        case "stopped" | "failed":
            error = answer.error
            if error is None:
                return Failed(code=answer.status, message=answer.text)
            return Failed(code=error.code, message=error.message, hint=error.hint)
