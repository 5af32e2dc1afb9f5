"""Server-sent events, read from bytes as they arrive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from coilclaw.sdk.frozen import Frozen

__all__ = ["ServerEvent", "ServerEventReader"]

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = "\ufeff"


class ServerEvent(Frozen):
    """One event: its name, if it has one, and its lines of data."""

    name: str
    data: str
    id: str | None = None
    """The last id that the stream has given so far: what a reader continues from."""


class ServerEventReader:
    """Puts events together from pieces of any size. What follows the last blank line is no event."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._ended_with_return = False
        self._is_first = True
        self._name = ""
        self._data: list[str] = []
        self._id: str | None = None

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """Yield the events that a piece completes. Raises ValueError for a line that is not UTF-8."""
        if not piece:
            return
        if self._ended_with_return:
            piece = piece.removeprefix(b"\n")
        self._ended_with_return = piece.endswith(b"\r")
        head, *tails = _LINE_END.split(piece)
        self._line += head
        for tail in tails:
            line = self._line.decode()
            self._line = bytearray(tail)
            if (event := self._read(line)) is not None:
                yield event

    def _read(self, line: str) -> ServerEvent | None:
        if self._is_first:
            line, self._is_first = line.removeprefix(_BYTE_ORDER_MARK), False
        if not line:
            return self._complete()
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "data":
            self._data.append(value)
        elif key == "event":
            self._name = value
        elif key == "id" and "\0" not in value:
            self._id = value
        return None  # Anything else is a comment or no business of ours.

    def _complete(self) -> ServerEvent | None:
        name, data = self._name, self._data
        self._name, self._data = "", []
        return ServerEvent(name=name, data="\n".join(data), id=self._id) if data else None
