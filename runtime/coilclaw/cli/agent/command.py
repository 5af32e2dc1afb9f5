"""The command itself: one message and its answer, or a session."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from typing import TYPE_CHECKING, Final

import click

from coilclaw.cli.opening import open_app, settings_for, show_diagnostics
from coilclaw.cli.run_report import workspace_option
from coilclaw.cli.terminal import say_json
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import one_line

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.cli.agent.conversation import ExchangeOptions
    from coilclaw.cli.agent.interrupts import Interrupts

__all__ = ["agent", "answer_once"]

_MOST_INPUT: Final = 1024 * 1024


class _Request(Frozen):
    """What this command is asked to do: a message to answer, a conversation to resume, or neither for a session."""

    message: str | None
    resume: str | None = None
    conversation: str | None = None
    last: bool = False
    provider: str | None = None
    options: ExchangeOptions
    workspace: str = ""

    @property
    def is_session(self) -> bool:
        return self.message is None and self.resume is None

    @property
    def again(self) -> str:
        """The options that a command repeats to go on with the same workspace and model."""
        choice = self.options.choice
        given = {"provider": self.provider, **({} if choice is None else vars(choice))}
        named = (f" --{name} {shlex.quote(one_line(value))}" for name, value in given.items() if value is not None)
        return self.workspace + "".join(named)


@click.command(
    epilog='Example: coilclaw agent -m "What changed here?" < CHANGES.txt; coilclaw agent -m "And before?" --continue'
)
@click.option("-m", "--message", metavar="TEXT", help="Answer one message and end; '-' reads it from standard input.")
@click.option("--continue", "last", is_flag=True, help="Continue the last conversation.")
@click.option("--conversation", metavar="ID", help="Continue this conversation.")
@click.option("--resume", metavar="ID", help="Continue a conversation after what it waited for was decided.")
@click.option("--provider", metavar="NAME", help="The model service, instead of default_provider.")
@click.option("--model", metavar="NAME", help="Another model than the provider's own.")
@click.option("--profile", metavar="NAME", help="Use this auth profile and no other.")
@click.option("--hint", metavar="NAME", help="Which route of a provider of the kind router to take.")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools and files are used.")
@click.option("--yes", is_flag=True, help="Approve every call that needs approval. What policy denies stays denied.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@click.option("-v", "--verbose", count=True, help="Log what happens on stderr; twice for more.")
def agent(
    message: str | None,
    last: bool,
    conversation: str | None,
    resume: str | None,
    provider: str | None,
    model: str | None,
    profile: str | None,
    hint: str | None,
    workspace: str | None,
    yes: bool,
    as_json: bool,
    verbose: int,
) -> None:
    """Talk to a model that uses your tools. What it says it did is checked against receipts.

    Without a message this is a session: Enter sends, Alt-Enter begins a new line, /help lists its commands, Ctrl-C ends
    the exchange and Ctrl-D the session. Standard input that is not a terminal is a session too: each line is a message,
    and the first that is not answered ends it. With -m, what is piped in is added to the message.

    The answer goes to stdout: the model's text, and below it what was done, written from receipts. Exit codes:
    0 answered; 1 any other end; 2 wrong usage; 3 approval needed; 4 credentials needed; 130 interrupted.

    A call that needs approval while nobody is at the terminal suspends the conversation; --resume continues it.
    """
    if sum((last, conversation is not None, resume is not None)) > 1:
        raise click.UsageError("--continue, --conversation and --resume each name a conversation: give one of them")
    if resume is not None and message is not None:
        raise click.UsageError("--resume continues the exchange that waits: a new message comes after it")
    if verbose:
        from coilclaw.cli.logs import choose_logging

        choose_logging(verbose)
    from coilclaw.agent import ModelChoice
    from coilclaw.cli.agent.conversation import ExchangeOptions

    request = _Request(
        message=None if resume is not None else _message(message, as_json),
        resume=resume,
        conversation=conversation or resume,
        last=last,
        provider=provider,
        options=ExchangeOptions(choice=ModelChoice(model=model, profile=profile, hint=hint), yes=yes, as_json=as_json),
        workspace=workspace_option(workspace),
    )
    settings = settings_for(workspace)
    with open_app(settings, watch=request.is_session) as claw:
        code = _answered(claw, request)
    sys.exit(code)


def answer_once(message: str) -> int:
    """Answer one message as `agent -m` does, and return its exit code."""
    from coilclaw.cli.agent.conversation import ExchangeOptions

    with open_app(settings_for()) as claw:
        return _answered(claw, _Request(message=message, options=ExchangeOptions()))


def _answered(claw: CoilClaw, request: _Request) -> int:
    import asyncio

    from coilclaw.cli.agent.interrupts import Interrupts
    from coilclaw.providers import CredentialsNeeded

    show_diagnostics(claw.tools.registry)
    with Interrupts().watched() as interrupts:
        try:
            return asyncio.run(_talk(claw, request, interrupts))
        except CredentialsNeeded as error:
            from coilclaw.cli.terminal import show_problem

            show_problem(error)
            return 4


async def _talk(claw: CoilClaw, request: _Request, interrupts: Interrupts) -> int:
    from coilclaw.agent import open_agent
    from coilclaw.channels import RuntimeHandle
    from coilclaw.cli.agent.conversation import TerminalConversation
    from coilclaw.cli.agent.exchange_view import exit_code

    async with open_agent(claw, provider=request.provider, environment=os.environ) as opened:
        handle = RuntimeHandle(claw, opened, "cli")
        options, begun = request.options, _conversation(claw, request)
        conversation = TerminalConversation(handle, interrupts, options, begun, again=request.again)
        if request.is_session:
            from coilclaw.cli.agent.session import CliChannel

            channel = CliChannel(conversation)
            await channel.start(handle)
            return channel.code
        if request.message is not None:
            answer = await conversation.say(request.message)
        else:
            answer = await conversation.resume()
    if request.options.as_json and answer is not None:
        say_json(answer.facts())
    conversation.tell_end(answer)
    return 130 if answer is None else exit_code(answer)


def _conversation(claw: CoilClaw, request: _Request) -> str | None:
    if not request.last:
        return request.conversation
    found = claw.memory.list(channel="cli", limit=1).conversations
    if not found:
        raise OperatorError("there is no conversation to continue yet", hint='begin one: coilclaw agent -m "Hello"')
    return found[0].conversation_id


def _message(given: str | None, as_json: bool) -> str | None:
    """The message of a command for one message; None for a session."""
    if given == "-" or (given is None and as_json):
        if sys.stdin.isatty():
            raise click.UsageError("--json answers one message: give it with -m, or pipe it in")
        text = _piped()
    elif given is None:
        return None
    else:
        text = given if not _is_piped() or not (more := _piped()) else f"{given}\n\n{more}"
    if not text.strip():
        raise click.UsageError("the message is empty")
    return text


def _is_piped() -> bool:
    """Whether somebody gave us something to read: a file or a pipe, and not whatever a service inherited."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _piped() -> str:
    try:
        data = sys.stdin.buffer.read(_MOST_INPUT + 1)
    except OSError as error:
        raise click.UsageError(f"cannot read standard input: {error.strerror}") from None
    if len(data) > _MOST_INPUT:
        raise click.UsageError(f"standard input has more than {_MOST_INPUT} bytes; put it into a file of the workspace")
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise click.UsageError("standard input is not UTF-8 text") from None
