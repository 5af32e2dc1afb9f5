"""The CLI channel: a session of messages and commands at a terminal, or from whatever is piped in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from coilclaw.cli.agent.exchange_view import exit_code
from coilclaw.cli.agent.lines import EndOfInput, Interrupted, Line, open_lines
from coilclaw.cli.agent.slash_commands import COMMANDS, SlashCommands
from coilclaw.cli.terminal import say, say_text, show_problem
from coilclaw.cli.waiting import warn_if_stopped
from coilclaw.providers import CredentialsNeeded
from coilclaw.sdk import CoilClawError

if TYPE_CHECKING:
    from coilclaw.agent import Answer
    from coilclaw.channels import RuntimeHandle
    from coilclaw.cli.agent.conversation import TerminalConversation

__all__ = ["CliChannel"]

_HISTORY: Final = "agent-history"


class CliChannel:
    """Reads messages at the terminal and shows answers there, until the person leaves."""

    def __init__(self, conversation: TerminalConversation) -> None:
        self._conversation = conversation
        self.code = 0
        """The exit code of the session so far."""

    def name(self) -> str:
        return "cli"

    def supports_draft_updates(self) -> bool:
        return sys.stdout.isatty()

    async def send(self, conversation_id: str, message: str) -> None:
        say_text(message)

    async def start(self, runtime_handle: RuntimeHandle) -> None:
        claw = runtime_handle.claw
        lines = open_lines(claw.settings.home / _HISTORY, COMMANDS)
        commands = SlashCommands(claw, self._conversation)
        warn_if_stopped(claw)
        if lines.is_person:
            say("Enter sends, Alt-Enter begins a new line, /help lists commands, Ctrl-D ends.", err=True, dim=True)
        while True:
            match await lines.next():
                case EndOfInput():
                    return
                case Interrupted():
                    continue
                case Line(text=text):
                    goes_on = await self._answered(text, commands)
                    if lines.is_person:
                        self.code = 0  # They have seen how each exchange ended.
                    if not goes_on or self.code:
                        return

    async def _answered(self, text: str, commands: SlashCommands) -> bool:
        """Answer one line; False if it ends the session."""
        if not text.strip():
            return True
        try:
            if text.startswith("/"):
                answer = await commands.run(text)
            else:
                answer = await self._conversation.say(text)
        except CoilClawError as error:
            show_problem(error)
            self.code = 4 if isinstance(error, CredentialsNeeded) else 1
            return True
        if isinstance(answer, bool):
            return answer
        self._tell(answer)
        return True

    def _tell(self, answer: Answer | None) -> None:
        self.code = 130 if answer is None else exit_code(answer)
        self._conversation.tell_end(answer, in_session=sys.stdin.isatty())
        say()
