"""One conversation at this terminal: messages in, answers shown."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from coilclaw.cli.agent.exchange_view import AnnouncedApprover, ExchangeView, tell_waiting
from coilclaw.cli.approver import approver_for
from coilclaw.cli.terminal import say
from coilclaw.cli.waiting import command_caller
from coilclaw.sandbox import Deadline
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.agent import Answer, Listen, ModelChoice
    from coilclaw.app import Caller
    from coilclaw.channels import RuntimeHandle
    from coilclaw.cli.agent.interrupts import Interrupts

__all__ = ["ExchangeOptions", "TerminalConversation"]


class ExchangeOptions(Frozen):
    """What the command line says about every exchange."""

    choice: ModelChoice | None = None
    yes: bool = False
    as_json: bool = False


class TerminalConversation:
    """Has messages answered one after the other, and shows each answer unless it is for a program."""

    def __init__(
        self,
        handle: RuntimeHandle,
        interrupts: Interrupts,
        options: ExchangeOptions,
        conversation: str | None = None,
        *,
        again: str = "",
    ) -> None:
        """`again` are the options that a command needs to continue it as it was begun."""
        self.handle = handle
        self._again = again
        self.id = conversation
        self._interrupts = interrupts
        self._options = options

    async def say(self, message: str) -> Answer | None:
        """Have a message answered. None if it was interrupted before anything was recorded."""
        choice = self._options.choice
        return await self._turn(
            lambda caller, listen: self.handle.answer(
                message, caller=caller, conversation=self.id, listen=listen, choice=choice
            )
        )

    async def resume(self) -> Answer | None:
        """Continue the conversation after what it waited for was decided."""
        conversation, choice = self.id, self._options.choice
        assert conversation is not None, "only what was begun can be resumed"
        return await self._turn(
            lambda caller, listen: self.handle.resume(conversation, caller=caller, listen=listen, choice=choice)
        )

    async def _turn(self, begin: Callable[[Caller, Listen], Coroutine[Any, Any, Answer]]) -> Answer | None:
        view, ended = ExchangeView(self._interrupts.cancel), Deadline(0)
        workspace = self.handle.claw.settings.config.workspace_dir
        approver = approver_for(self._options.yes, ended, may_wait=True, workspace=workspace)

        def tell(tool: str, message: str) -> None:
            view.clear()
            say(f"{as_name(tool)}: {one_line(message)}", err=True)

        def asked(question: str) -> str | None:
            from coilclaw.cli.questions import ask_on_terminal  # Few exchanges ask.

            view.clear()
            return ask_on_terminal(question, ended)

        caller = command_caller(approver=AnnouncedApprover(approver, view), ask=asked, progress=tell)
        listen = view.note_conversation if self._options.as_json else view.listen
        try:
            answer = await self._interrupts.run(begin(caller, listen), ended.cancel)
        except CancelledError:
            view.clear()
            self.id = self.id or view.conversation
            return None
        self.id = answer.conversation_id
        if not self._options.as_json:
            view.end(answer)
        return answer

    def tell_end(self, answer: Answer | None, *, in_session: bool = False) -> None:
        """Say on stderr how to continue an exchange that has no answer; commands stand on lines of their own."""
        if answer is not None and answer.turn_id is not None:
            return
        here = "/resume"
        if answer is not None and answer.status == "waiting":
            here = "/approve"
            tell_waiting(answer, self._again)
        elif self.id is not None:
            say(f"To continue: coilclaw agent --resume {as_name(self.id)}{self._again}", err=True)
        if in_session and self.id is not None:
            say(f"Or here: {here}", err=True)
