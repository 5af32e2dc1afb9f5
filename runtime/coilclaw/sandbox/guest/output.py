"""stdout and stderr of a snippet."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Final

from coilclaw.sandbox.guest.run_warnings import run_warnings

__all__ = ["Output"]

_LINES_SENT_AT_ONCE: Final = 100
_CHUNK: Final = 8192
_PIECE: Final = 256 * 1024


class Output(io.TextIOBase):
    """Text on its way to the host.

    The first lines cross one by one, so that a run that is cut short has shown them; a flood
    crosses in chunks. Output is also sent before every tool call and at the end.
    """

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, stream: int, send: Callable[[int, str], None], waiting: list[Output]) -> None:
        self._stream = stream
        self._send = send
        self._waiting = waiting
        self._parts: list[str] = []
        self._size = 0
        self._lines = 0

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        text = str.__str__(text)  # A subclass may lie about its length.
        if text:
            if self._stream == 1:
                run_warnings.has_output = True
            if len(text) > _PIECE:
                # Without a second copy of it all: the host's limit is met before the sandbox's memory is gone.
                self.flush()
                for start in range(0, len(text), _PIECE):
                    self._pass_on(text[start : start + _PIECE])
                return len(text)
            if not self._parts:
                self._waiting.append(self)
            self._parts.append(text)
            self._size += len(text)
            if self._size >= _CHUNK or (self._lines < _LINES_SENT_AT_ONCE and text.endswith("\n")):
                self._lines += 1
                self.flush()
        return len(text)

    def flush(self) -> None:
        if self._parts:
            text = "".join(self._parts)
            self._parts.clear()
            self._size = 0
            self._pass_on(text)

    def _pass_on(self, text: str) -> None:
        # Lone surrogates have no place in a component's string.
        self._send(self._stream, text.encode("utf-8", "backslashreplace").decode("utf-8"))

    def writable(self) -> bool:
        return True
