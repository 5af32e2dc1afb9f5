"""Questions at a terminal: what they are about is shown page by page, and a yes counts only after the last page."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, Literal

from coilclaw.app import Row
from coilclaw.cli.streams import unguarded
from coilclaw.cli.terminal import say, terminal_size
from coilclaw.sandbox import POLL_SECONDS
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import cells, visible

__all__ = ["Row", "ask", "chosen", "confirmed", "folded", "say_rows", "typed_line"]

_NARROWEST: Final = 40
_SHORTEST: Final = 8
_RESET: Final = "\x1b\\\x1b[0m\x1b(B"
"""Ends a sequence that was left open, and a colour: whatever was printed before must not hide the question."""


def ask(
    rows: Iterable[Row],
    question: str,
    *,
    err: bool = True,
    may_wait: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Literal["yes", "no", "later"]:
    """Show the rows and return the answer. No is the default; anything that is no answer is asked about again.

    Whoever leaves without an answer, with Ctrl-D or by closing the terminal, has decided nothing where that can wait.
    """
    # What goes elsewhere than to the terminal is not shown to whoever answers there.
    err = err or (sys.stderr.isatty() and not sys.stdout.isatty())
    stream = sys.stderr if err else sys.stdout
    paged = stream.isatty()
    columns, height = terminal_size(stream)
    if paged:
        _reset(err)
    lines = list(folded(rows, max(_NARROWEST, columns))) if paged else list(rows)
    page = max(_SHORTEST, height) - 3
    shown = len(lines) if not paged or len(lines) <= page else page
    say_rows(lines[:shown], err=err)
    while True:
        left = len(lines) - shown
        if left:
            later = ", [l]ater" if may_wait else ""
            prompt = f"-- {shown} of {len(lines)} lines: [m]ore, [a]ll, [n]o{later} -- "
        else:
            if may_wait:
                say("  l: decide later, and let the run wait", err=True, dim=True)
            prompt = f"{question} [y/N/l] " if may_wait else f"{question} [y/N] "
        _forget_what_was_typed()
        say(prompt, err=True, nl=False)
        line = _read_line(cancelled)
        if line is None:
            say(err=True)  # What follows is not an answer.
            return "later" if may_wait else "no"
        answer = line.strip().lower()
        if answer in ("n", "no") or (not answer and not left):
            return "no"
        if may_wait and answer in ("l", "later"):
            return "later"
        if left and answer in ("", "m", "more", "a", "all"):
            until = len(lines) if answer in ("a", "all") else min(len(lines), shown + page)
            say_rows(lines[shown:until], err=err)
            shown = until
        elif not left and answer in ("y", "yes"):
            return "yes"
        elif answer in ("y", "yes"):
            say("Not everything has been shown yet: look at the rest first.", err=True)
        else:
            letters = [*("man" if left else "yn"), *("l" if may_wait else "")]
            say(f"Please answer {', '.join(letters[:-1])} or {letters[-1]}.", err=True)


def confirmed(question: str, rows: Iterable[Row] = (), *, err: bool = True) -> bool:
    """Whether the person at the terminal says yes, after all rows were shown. Nobody there is an OperatorError."""
    if not sys.stdin.isatty():
        raise OperatorError(f"nobody is there to answer: {question}", hint="run it on a terminal, or add --yes")
    return ask(rows, question, err=err) == "yes"


def chosen(question: str, choices: Sequence[str], default: str) -> str:
    """Which of the choices the person at the terminal types; the default if nothing, or if the terminal is gone."""
    while True:
        _forget_what_was_typed()
        say(f"{question} ({', '.join(choices)}) [{default}]: ", err=True, nl=False)
        line = _read_line(lambda: False)
        if line is None:
            say(err=True)
            return default
        answer = line.strip().lower() or default
        if answer in choices:
            return answer
        say(f"Please answer {', '.join(choices[:-1])} or {choices[-1]}.", err=True)


def typed_line(prompt: str, *, cancelled: Callable[[], bool]) -> str | None:
    """The line that the person at the terminal types; None if the terminal is gone or the run was cancelled."""
    _reset(err=True)
    _forget_what_was_typed()
    say(prompt, err=True, nl=False)
    line = _read_line(cancelled)
    if line is None:
        say(err=True)
    return None if line is None else line.rstrip("\r\n")


def say_rows(rows: Iterable[Row], *, err: bool = False) -> None:
    for row in rows:
        say(f"{row.lead}{row.text}".rstrip(" "), err=err, fg=row.colour, bold=row.bold or None)


def folded(rows: Iterable[Row], columns: int) -> Iterator[Row]:
    """Break rows where the terminal would, so that what follows cannot pass for a line of its own."""
    for row in rows:
        lead, text = row.lead, visible(row.text)
        if cells(lead) > columns // 2:  # Deep inside something.
            lead, text = " " * (columns // 2), f"{lead.lstrip(' ')}{text}"
        more = f"{' ' * max(0, cells(lead) - 2)}… "
        first, *others = _pieces(text, columns - cells(lead), columns - cells(more))
        yield row._replace(lead=lead, text=first)
        yield from (row._replace(lead=more, text=each) for each in others)


def _reset(err: bool) -> None:
    """Give a terminal back its ordinary state."""
    stream = sys.stderr if err else sys.stdout
    raw = unguarded(stream)
    raw.write(_RESET)
    raw.flush()


def _pieces(text: str, first: int, others: int) -> Iterator[str]:
    """Cut the text into pieces of so many columns; marks stay with the character they sit on."""
    if text.isascii():
        yield text[:first]
        yield from (text[at : at + others] for at in range(first, len(text), others))
        return
    begun, used, most = 0, 0, first
    for at, char in enumerate(text):
        width = cells(char)
        if used + width > most and at > begun:
            yield text[begun:at]
            begun, used, most = at, 0, others
        used += width
    yield text[begun:]


def _read_line(cancelled: Callable[[], bool]) -> str | None:
    """One line from the terminal; None when it is gone or the run was cancelled.

    Read from the descriptor: a thread that is blocked inside the interpreter's own stdin would keep the process from
    ending.
    """
    data = b""
    descriptor = sys.stdin.fileno()
    while not cancelled():
        ready, _, _ = select.select([descriptor], [], [], POLL_SECONDS)
        if ready:
            chunk = os.read(descriptor, 1024)
            data += chunk
            if b"\n" in data or b"\r" in data:
                return data.decode(errors="replace")
            if not chunk:
                break
    return None


def _forget_what_was_typed() -> None:
    """An answer given before the question was asked is an answer to something else."""
    import termios

    with suppress(OSError, termios.error):  # The terminal is gone.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
