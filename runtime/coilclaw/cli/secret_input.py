"""Reading a secret from a person or from standard input; never from the command line, which others can read."""

from __future__ import annotations

import sys
from typing import Final

import click

from coilclaw.sdk import OperatorError

__all__ = ["no_secrets_here", "read_secret"]

_MOST_INPUT: Final = 1024 * 1024


def read_secret(prompt: str, *, piped: bool = False, optional: bool = False) -> str:
    """Ask for a secret without showing it; with `piped`, or when no terminal is there, read standard input.

    With `optional`, nothing is an answer too.
    """
    if not piped and sys.stdin.isatty():
        default = "" if optional else None
        value: str = click.prompt(prompt, default=default, show_default=False, hide_input=True, err=True)
        return value
    data = sys.stdin.buffer.read(_MOST_INPUT + 1)
    if len(data) > _MOST_INPUT:
        raise OperatorError(f"standard input has more than {_MOST_INPUT} bytes; nothing was changed")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise OperatorError("standard input is not UTF-8 text; nothing was changed") from None
    # `echo` and editors end the last line; the secret does not.
    return text.removesuffix("\n").removesuffix("\r")


def no_secrets_here(rest: tuple[str, ...]) -> None:
    """Refuse further arguments of a command that needs none: one of them may be the secret."""
    if rest:
        raise click.UsageError(
            "A value is not taken from the command line, where other programs can read it. "
            "Leave it out: it is asked for, or read from standard input."
        )
