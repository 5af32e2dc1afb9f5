"""The standard streams of the command, made safe before anything uses them."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO, cast

__all__ = ["open_streams", "unguarded"]


class Guarded(io.TextIOBase):
    """A stream on which nothing but `terminal.say` can control the terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.buffer = getattr(stream, "buffer", None)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self.stream.errors

    def write(self, text: str) -> int:
        length = len(text)
        if not (text.isascii() and text.replace("\n", "").isprintable()):
            from coilclaw.sdk.legible import visible_block  # Most commands print nothing that needs it.

            text = visible_block(text)
        self.stream.write(text)
        return length

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self.stream.fileno()


def open_streams() -> None:
    """Make the three standard streams usable, once, before anything else is opened.

    One that was closed is replaced: otherwise the next file to be opened, perhaps the receipts, would get its number.
    Characters that a stream cannot encode are written out, since output must never end a run.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            # A closed input cannot be read: an empty one would pass for an empty snippet.
            opened = os.open(os.devnull, os.O_WRONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if not isinstance(sys.stderr, Guarded):
        sys.stderr = cast("TextIO", Guarded(sys.stderr))


def unguarded(stream: TextIO) -> TextIO:
    """Return the stream behind a guard, for text that is known to be safe and may be coloured."""
    return stream.stream if isinstance(stream, Guarded) else stream
