"""Everything this command prints for a person, and the streams it is printed to.

Nothing that a snippet, a tool or a file wrote may control a terminal, hide, or pass for a line of ours. So all text
for people goes through `say`, one line at a time, whether or not a terminal is on the other end; only `say` can colour
it. What else is printed to stderr in this process, by tools and libraries, passes a guard. JSON for programs goes
through `say_json`; output of snippets through `pass_through`.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import textwrap
from typing import Any, Final, NamedTuple, TextIO

import click

from coilclaw.cli.streams import unguarded
from coilclaw.sdk import CoilClawError
from coilclaw.sdk.legible import as_name, cells, one_line, visible, visible_block

__all__ = [
    "Styled",
    "counted",
    "pass_through",
    "say",
    "say_json",
    "say_progress",
    "say_text",
    "say_wrapped",
    "show_error",
    "show_problem",
    "show_usage_error",
    "styled",
    "terminal_size",
    "warn",
]


_NARROWEST: Final = 20
"""Columns that are worth breaking a text for."""


class Styled(NamedTuple):
    """A part of a line in colours of its own."""

    text: str
    style: dict[str, Any]


def styled(text: str, **style: Any) -> Styled:
    return Styled(text, style)


def say(*parts: str | Styled, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print one line for a person; a newline in it is shown as `\\n`. Parts without a style have that of the line."""
    click.echo("".join(_painted(part, style) for part in parts), file=_stream(err), nl=nl)


def say_wrapped(lead: str, text: str, *, mark: Styled | None = None, err: bool = False, **style: Any) -> None:
    """Print one line for a person; a terminal that is too narrow for it gets more, broken between words and marked.

    `mark` stands before `lead`, in colours of its own.
    """
    stream = _stream(err)
    marks = () if mark is None else (mark,)
    width = sum(len(each.text) for each in marks) + len(lead)
    room = terminal_size(stream)[0] - width if stream.isatty() else 0
    if room < _NARROWEST or cells(text) <= room:
        say(*marks, f"{lead}{text}".rstrip(" "), err=err, **style)
        return
    first, *others = textwrap.wrap(visible(text), room, break_on_hyphens=False) or [""]
    say(*marks, f"{lead}{first}", err=err, **style)
    for each in others:
        say(f"{' ' * max(0, width - 2)}… {each}", err=err, **style)


def terminal_size(stream: TextIO) -> tuple[int, int]:
    """Return the columns and lines of the terminal behind a stream, or what is usual where it does not say."""
    try:
        columns, lines = os.get_terminal_size(unguarded(stream).fileno())
    except (OSError, ValueError):
        columns, lines = 0, 0
    return columns or 80, lines or 24


def say_text(text: str, *, err: bool = False) -> None:
    """Print text of several lines, for output that is nothing but this text."""
    click.echo(visible_block(text), file=_stream(err))


def say_json(value: Any) -> None:
    """Print one line of JSON for a program, in ASCII."""
    click.echo(json.dumps(value), file=_stream(False))


def say_progress(text: str) -> None:
    """Replace the line that stands on the terminal by another one."""
    stream = _stream(True)
    stream.write(f"\r\x1b[K{visible(text)}")
    stream.flush()


def warn(text: str) -> None:
    say_wrapped("Warning: ", one_line(text), err=True, fg="yellow")


def show_error(message: str, hint: str | None) -> None:
    say(f"Error: {one_line(message)}", err=True)
    if hint:
        say(f"Hint: {one_line(hint)}", err=True)


def show_problem(error: CoilClawError) -> None:
    """Print an error that a person can do something about; one with several problems has a line for each."""
    problems = getattr(error, "problems", None)
    if not problems:
        show_error(error.message, error.hint)
        return
    say(f"Error: {counted(len(problems), 'problem')} in {as_name(str(getattr(error, 'path', '')))}:", err=True)
    for problem in problems:
        say_wrapped("  ", one_line(str(problem)), err=True)
    if error.hint:
        say(f"Hint: {one_line(error.hint)}", err=True)


def show_usage_error(error: click.ClickException) -> None:
    """Print what click would print, as one line each."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and context is not None:
        say_text(context.get_help(), err=True)
        return
    if context is not None:
        for line in context.get_usage().split("\n"):
            say(line, err=True)
        if context.command.get_help_option(context) is not None:
            say(f"Try '{context.command_path} {context.help_option_names[-1]}' for help.", err=True)
        say(err=True)
    show_error(" ".join(error.format_message().split()), None)  # A list of choices has a line for each.


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def pass_through(text: str, stream: TextIO, *, prompts: bool = False) -> str:
    """Return a snippet's output for a stream: as it is for a file or a pipe, visible for a person.

    With `prompts`, a person may be asked on the terminal meanwhile. A pipe may end on that same terminal (`| tee`),
    so what could redraw the question is written out there too.
    """
    if stream.isatty():
        return visible_block(text)
    return _uncontrolled(text) if prompts and _is_pipe(stream) else text


def _uncontrolled(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(visible(char) if _controls(char) else char for char in text)


def _controls(char: str) -> bool:
    return char not in "\n\t\r" and (char < " " or "\x7f" <= char <= "\x9f")


def _is_pipe(stream: TextIO) -> bool:
    try:
        return not stat.S_ISREG(os.fstat(unguarded(stream).fileno()).st_mode)
    except (OSError, ValueError):
        return False


def _painted(part: str | Styled, style: dict[str, Any]) -> str:
    text, wanted = part if isinstance(part, Styled) else (part, style)
    own = {name: value for name, value in wanted.items() if value is not None}
    return click.style(visible(text), **own) if own else visible(text)


def _stream(err: bool) -> TextIO:
    return unguarded(sys.stderr if err else sys.stdout)
