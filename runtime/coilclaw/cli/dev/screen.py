"""The live view on a terminal, which it has for itself until it ends."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TextIO

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
        self._echo = _Echo()
        self._streams: tuple[Any, Any] | None = None

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
            self._take()
            self._live.start()
        columns, lines = terminal_size(self._terminal)
        width, height = self._console.size = max(20, columns), max(4, lines)
        self._live.update(Group(*view(self._picture, width, height)), refresh=True)

    def step_aside(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            try:
                live.stop()
            finally:
                self._give_back()

    def __enter__(self) -> Screen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.step_aside()

    def _take(self) -> None:
        self._streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self._notes
        self._echo.turn_off()

    def _give_back(self) -> None:
        self._echo.restore()
        if self._streams is not None:
            sys.stdout, sys.stderr = self._streams


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


class _Echo:
    """Keys pressed by accident would be drawn into the view."""

    def __init__(self) -> None:
        self._before: list[Any] | None = None

    def turn_off(self) -> None:
        import termios

        try:
            descriptor = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
            before = termios.tcgetattr(descriptor)
            termios.tcsetattr(descriptor, termios.TCSANOW, [*before[:3], before[3] & ~termios.ECHO, *before[4:]])
            self._before = before
        except (OSError, ValueError, termios.error):
            return  # Keys come from somewhere else, and are not drawn.

    def restore(self) -> None:
        before, self._before = self._before, None
        if before is not None and sys.__stdin__ is not None:
            import termios

            try:
                # What was typed meanwhile was not meant for whoever reads next.
                termios.tcsetattr(sys.__stdin__.fileno(), termios.TCSAFLUSH, before)
            except (OSError, termios.error):
                return  # The terminal is gone.
