"""Where the lines of a session come from: an editor with history and completion, or a plain stream."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from coilclaw.cli.streams import unguarded
from coilclaw.cli.terminal import say, terminal_size
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.private_file import replace_file

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.key_binding import KeyBindings

__all__ = ["EndOfInput", "Interrupted", "Line", "Lines", "open_lines"]

_PROMPT: Final = "> "
_LONGEST_LINE: Final = 1024 * 1024
_KEPT_LINES: Final = 1000


class Line(Frozen):
    """What a person entered; it may have several lines."""

    text: str


class EndOfInput(Frozen):
    """There is nothing more to read."""


class Interrupted(Frozen):
    """Ctrl-C instead of an input."""


_Next: TypeAlias = Line | EndOfInput | Interrupted


class Lines(Protocol):
    """A source of lines."""

    is_person: bool

    async def next(self) -> _Next: ...


def open_lines(history: Path, commands: Mapping[str, str]) -> Lines:
    """The best source there is: an editor needs a terminal that can move its cursor."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _Plain(is_person=sys.stdin.isatty())
    if os.environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        return _Plain(is_person=True)
    return _Editor(history, commands)


class _Plain:
    """Lines as they come. Reading blocks the loop, on which nothing happens between two exchanges."""

    def __init__(self, *, is_person: bool) -> None:
        self.is_person = is_person

    async def next(self) -> _Next:
        if self.is_person:
            say(_PROMPT, err=True, nl=False)
        try:
            data = sys.stdin.buffer.readline(_LONGEST_LINE)
        except KeyboardInterrupt:
            if not self.is_person:
                raise
            say(err=True)
            return Interrupted()
        if not data:
            if self.is_person:
                say(err=True)
            return EndOfInput()
        return Line(text=data.decode("utf-8", "replace").rstrip("\r\n"))


class _Editor:
    """A line editor with history, completion of commands, and input of several lines."""

    is_person = True

    def __init__(self, history: Path, commands: Mapping[str, str]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.data_structures import Size
        from prompt_toolkit.input.defaults import create_input
        from prompt_toolkit.output.vt100 import Vt100_Output

        terminal = unguarded(sys.stdout)

        def size() -> Size:
            columns, rows = terminal_size(terminal)
            return Size(rows=rows, columns=columns)

        self._session: PromptSession[str] = PromptSession(
            _PROMPT,
            multiline=True,
            prompt_continuation=lambda width, number, wrapped: " " * width,
            history=_history(history),
            completer=_completer(commands),
            complete_while_typing=False,
            key_bindings=_keys(),
            enable_open_in_editor=False,
            reserve_space_for_menu=4,
            input=create_input(sys.stdin),
            # Never asked where the cursor is: an answer that comes late would be taken for typed text.
            output=Vt100_Output(terminal, size, term=os.environ.get("TERM"), enable_cpr=False),
        )

    async def next(self) -> _Next:
        try:
            return Line(text=await self._session.prompt_async(handle_sigint=False))
        except KeyboardInterrupt:
            return Interrupted()
        except EOFError:
            return EndOfInput()


def _keys() -> KeyBindings:
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter")
    def send(event: Any) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def begin_line(event: Any) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _completer(commands: Mapping[str, str]) -> Any:
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    class Commands(Completer):
        """Completes the first word of a line that begins with a slash."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            typed = document.text
            if typed.startswith("/") and " " not in typed and "\n" not in typed:
                for name, does in commands.items():
                    if name.startswith(typed):
                        yield Completion(name, start_position=-len(typed), display_meta=does)

    return Commands()


def _history(path: Path) -> Any:
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    from coilclaw.cli.logs.secrets import Secrets

    secrets = Secrets(os.environ)

    class PrivateHistory(FileHistory):
        """Lines of earlier sessions, for this person alone. One that begins with a blank, or has a secret in it, is
        not kept."""

        def store_string(self, string: str) -> None:
            if string.startswith(" ") or secrets.removed(string) != string:
                return
            with suppress(OSError):  # A session without history is still a session.
                super().store_string(string)

    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        path.chmod(0o600)
        _shorten(path)
    except OSError:  # Such as a link, which may lead to anybody's file.
        return InMemoryHistory()
    return PrivateHistory(str(path))


def _shorten(path: Path) -> None:
    """Keep the end of a history that has grown long."""
    entries = path.read_text(encoding="utf-8", errors="replace").split("\n# ")
    if len(entries) > 2 * _KEPT_LINES:
        replace_file(path, ("\n# " + "\n# ".join(entries[-_KEPT_LINES:])).encode())
