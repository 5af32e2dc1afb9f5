"""Bodies of HTTP answers, unpacked piece by piece and never beyond a limit.

A few kilobytes can unpack to gigabytes, and an encoding applied twice to much more. One gzip or deflate is
unpacked here in small pieces; anything else a server chooses to send is refused.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final

from coilclaw.sdk import ToolFailure

__all__ = ["ACCEPTED_ENCODINGS", "LARGEST_BODY", "Unpacking"]

ACCEPTED_ENCODINGS: Final = "gzip, deflate"
LARGEST_BODY: Final = 10 * 1024 * 1024
"""Bytes, packed or unpacked, that a tool can take in with one answer."""

_PIECE: Final = 64 * 1024


class Unpacking:
    """One answer's body: pieces go in as they come, and come out unpacked."""

    def __init__(self, encoding: str, limit: int = LARGEST_BODY) -> None:
        self._encoding = encoding.strip().lower()
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ToolFailure(
                f"the server's answer is encoded as {encoding[:60]!r}, which was not asked for",
                code="encoding_refused",
                hint="ask another server, or send no Accept-Encoding header",
            )
        self._plain = self._encoding in ("", "identity")
        self._limit = limit
        self._taken = 0
        self._given = 0
        self._inflate: Any = None
        self._held = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._taken = self._within(self._taken + len(data))
        if self._plain:
            yield data
            return
        data = self._held + data
        self._held = b""
        try:
            while data:
                if self._inflate is None:
                    if len(data) < 2:
                        self._held = data
                        return
                    self._inflate = self._begin(data)
                piece = self._inflate.decompress(data, _PIECE)
                self._given = self._within(self._given + len(piece))
                if piece:
                    yield piece
                if self._inflate.eof:
                    # Several gzip members may follow each other; anything else after the end is padding.
                    data = self._inflate.unused_data if self._is_member(self._inflate.unused_data) else b""
                    self._inflate = None if data else self._inflate
                    if not data:
                        return
                else:
                    data = self._inflate.unconsumed_tail
        except zlib.error:
            raise self._broken() from None

    def end(self) -> Iterator[bytes]:
        """What is left when the last piece has come in. A body that was cut off is an error, not a shorter body."""
        if self._plain or self._taken == 0:
            return
        if self._inflate is None or not self._inflate.eof:
            raise self._broken()
        yield from ()

    def _begin(self, data: bytes) -> Any:
        if self._encoding != "deflate":
            return zlib.decompressobj(zlib.MAX_WBITS | 16)
        # Some servers send the bare stream, without the two bytes that announce it.
        announced = data[0] & 0x0F == 8 and (data[0] * 256 + data[1]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if announced else -zlib.MAX_WBITS)

    def _is_member(self, data: bytes) -> bool:
        return self._encoding != "deflate" and data.startswith(b"\x1f\x8b")

    def _within(self, size: int) -> int:
        if size > self._limit:
            raise ToolFailure(
                f"the server's answer has more than {self._limit} bytes",
                code="response_too_large",
                hint="ask for less, or read only the beginning",
            )
        return size

    @staticmethod
    def _broken() -> ToolFailure:
        return ToolFailure("the server's answer cannot be unpacked", code="http_protocol")
