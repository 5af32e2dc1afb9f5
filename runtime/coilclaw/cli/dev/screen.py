"""The live view on a terminal, which it has for itself until it ends."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Final, TextIO

from coilclaw.bridge import Registry
from coilclaw.cli.dev.events import DevEvent, Note
from coilclaw.cli.dev.view import Picture, view
from coilclaw.cli.terminal import terminal_size

if TYPE_CHECKING:
    from rich.live import Live

__all__ = ["Screen", "suits"]

_LONGEST_NOTE: Final = 2000


def suits(stream: TextIO) -> bool:
    """Whether a live view can be drawn there."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


class Screen:
    """Draws the picture whenever it changed. What anything in this process prints becomes a note in it."""

    def __init__(self, picture: Picture, terminal: TextIO, note: Callable[[Note], None]) -> None:
        from rich.console import Console

        self._picture = picture
        self._terminal = terminal
        self._notes = _Notes(note)
        self._console = Console(
            file=terminal, force_terminal=True, force_interactive=True, markup=False, emoji=False, highlight=False
        )
        self._live: Live | None = None
        self._taken = ExitStack()

    def use(self, registry: Registry) -> None:
        self._picture.use(registry)

    def tell(self, event: DevEvent) -> None:
        self._picture.add(event)

    def refresh(self) -> None:
        """Draw; the size is asked for each time, because it changes."""
        from rich.console import Group
        from rich.live import Live

        if self._live is None:
            self._live = Live(
                console=self._console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
            )
            self._taken.enter_context(redirect_stdout(self._notes))
            self._taken.enter_context(redirect_stderr(self._notes))
            self._taken.enter_context(_without_echo())
            self._taken.callback(self._live.stop)
            self._live.start()
        columns, lines = terminal_size(self._terminal)
        width, height = self._console.size = max(20, columns), max(4, lines)
        self._live.update(Group(*view(self._picture, width, height)), refresh=True)

    def step_aside(self) -> None:
        self._live = None
        self._taken.close()

    def __enter__(self) -> Screen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.step_aside()


class _Notes(io.TextIOBase):
    """Stands in for stdout and stderr. Written to by any thread; a line in pieces may be told in pieces."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, tell: Callable[[Note], None]) -> None:
        self._tell = tell
        self._rest = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, rest = (self._rest + text).split("\n")
        if len(rest) > _LONGEST_NOTE:
            lines, rest = [*lines, rest], ""
        self._rest = rest
        for line in lines:
            if line.strip():
                self._tell(Note(text=line[:_LONGEST_NOTE]))
        return len(text)


@contextmanager
def _without_echo() -> Iterator[None]:
    """Keys pressed by accident would be drawn into the view."""
    import termios

    try:
        descriptor = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
        before = termios.tcgetattr(descriptor)
        termios.tcsetattr(descriptor, termios.TCSANOW, [*before[:3], before[3] & ~termios.ECHO, *before[4:]])
    except (OSError, ValueError, termios.error):
        yield  # Keys come from somewhere else, and are not drawn.
        return
    try:
        yield
    finally:
        with suppress(OSError, termios.error):  # The terminal is gone.
            # What was typed meanwhile was not meant for whoever reads next.
            termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)
