"""The standard streams of the command, made safe before anything uses them.

Only `sys.stdout` and `sys.stderr` lead to where the command was told to write, and by other descriptors than 1 and 2.
Those two belong to whatever else runs in this process or is started by it: what tools, libraries and child processes
write there is shown on stderr, made visible, and so never becomes part of a command's output.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import select
import sys
import threading
from typing import Any, Final, TextIO, cast

__all__ = ["close_streams", "open_streams", "unguarded"]

_READ_BYTES: Final = 65_536
_LAST_READS: Final = 16
_LAST_SECONDS: Final = 1.0


class Guarded(io.TextIOBase):
    """A stream on which nothing but `terminal.say` can control the terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.behind = stream
        self.buffer = _GuardedBytes(self)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.behind.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self.behind.errors

    def write(self, text: str) -> int:
        length = len(text)
        if not (text.isascii() and text.replace("\n", "").isprintable()):
            from coilclaw.sdk.legible import visible_block  # Most commands print nothing that needs it.

            text = visible_block(text)
        self.behind.write(text)
        return length

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        self.behind.flush()

    def isatty(self) -> bool:
        return self.behind.isatty()

    def fileno(self) -> int:
        # For whoever passes it to a child process; only what is behind the guard leads to the terminal.
        return 2


class _GuardedBytes(io.RawIOBase):
    """The guard for whoever writes bytes."""

    def __init__(self, guarded: Guarded) -> None:
        self._guarded = guarded

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self._guarded.write(bytes(view).decode("utf-8", "replace"))
        return view.nbytes

    def flush(self) -> None:
        if not self.closed:
            self._guarded.flush()


class _Output:
    """Standard output. It is the command's own thread that writes to it; what another one prints is shown on stderr.

    A thread that a tool left behind may print at any time, also in the middle of the report.
    """

    def __init__(self, stream: TextIO, others: TextIO) -> None:
        self.behind = stream
        self._others = others

    def __getattr__(self, name: str) -> Any:
        is_ours = threading.current_thread() is threading.main_thread()
        return getattr(self.behind if is_ours else self._others, name)


class _Stray:
    """What is written to descriptors 1 and 2, shown on stderr as it comes."""

    def __init__(self, guarded: TextIO) -> None:
        self._guarded = guarded
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lock = threading.Lock()
        self._reading, writing = os.pipe()
        for number in (1, 2):
            os.dup2(writing, number)
        os.close(writing)
        threading.Thread(target=self._show_always, name="coilclaw-stray-output", daemon=True).start()

    def finish(self) -> None:
        """Show what is there by now. What processes that are left behind write later is nobody's output."""
        # Kept from then on. Whatever a tool made of `sys.stderr` must not change how the command ends.
        if self._lock.acquire(timeout=_LAST_SECONDS):
            with contextlib.suppress(Exception):
                for _ in range(_LAST_READS):
                    if not self._show():
                        break

    def _show_always(self) -> None:
        with contextlib.suppress(Exception):
            while select.select([self._reading], [], []):
                with self._lock:
                    if not self._show():
                        return

    def _show(self) -> bool:
        """Show a piece of it, if there is one; False if there is none."""
        data = os.read(self._reading, _READ_BYTES) if select.select([self._reading], [], [], 0)[0] else b""
        # A full-screen view takes stderr over, and shows what comes in its own way.
        stream = self._guarded if sys.stderr is None else sys.stderr
        stream.write(self._decoder.decode(data))
        stream.flush()
        return bool(data)


_stray: _Stray | None = None


def open_streams() -> None:
    """Make the three standard streams usable, once, before anything else is opened.

    One that was closed is replaced: otherwise the next file to be opened, perhaps the receipts, would get its number.
    Characters that a stream cannot encode are written out, since output must never end a run.
    """
    global _stray
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
    if _stray is None:
        output, sys.stderr = _moved(sys.stdout), cast("TextIO", Guarded(_moved(sys.stderr)))
        sys.stdout = cast("TextIO", _Output(output, sys.stderr))
        _stray = _Stray(sys.stderr)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Write out characters that a stream cannot encode as JSON does, so that a printed value stays JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error("coilclaw-json", _escaped)


def _moved(stream: TextIO) -> TextIO:
    """The same stream by a descriptor that no child process inherits."""
    stream.flush()
    moved = os.fdopen(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors="coilclaw-json")
    as_it_comes = stream is sys.stderr or stream.isatty()
    moved.reconfigure(line_buffering=as_it_comes, write_through=getattr(stream, "write_through", False))
    return moved


def close_streams() -> None:
    """Write out what is left to write, before the process ends. OSError if that is not possible."""
    if _stray is not None:
        _stray.finish()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def unguarded(stream: TextIO) -> TextIO:
    """Return the stream behind all that stand before it, for text that is known to be safe and may be coloured."""
    while (behind := getattr(stream, "behind", None)) is not None:
        stream = behind
    return stream
