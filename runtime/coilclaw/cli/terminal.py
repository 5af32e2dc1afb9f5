"""Text on a terminal: nothing that a snippet, a tool or a file wrote may control it."""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

import click

__all__ = ["json_value", "pass_through", "printable", "show_error"]


def printable(text: str) -> str:
    """The same text with control characters written out, except for line breaks and tabs."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode() for char in text
    )


def pass_through(text: str, *, err: bool, stream: TextIO | None = None) -> str:
    """Output of a snippet: as it is for a file or a pipe, printable for a person."""
    stream = stream or (sys.stderr if err else sys.stdout)
    encodable = text.encode("utf-8", "backslashreplace").decode()
    return printable(encodable) if stream is not None and stream.isatty() else encodable


def show_error(message: str, hint: str | None) -> None:
    click.echo(f"Error: {printable(message)}", err=True)
    if hint:
        click.echo(f"Hint: {printable(hint)}", err=True)


def json_value(text: str) -> Any:
    """A JSON value from the command line; ValueError for anything that could not be passed on as JSON."""
    from pydantic_core import PydanticSerializationError, to_json

    try:
        value = json.loads(text, parse_constant=_refuse)
        to_json(value)
    except (RecursionError, PydanticSerializationError):
        raise ValueError("nested too deeply, or not valid Unicode text") from None
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
