"""MCP over two streams of bytes: one message a line, until the input ends."""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from anyio.to_thread import run_sync
from mcp.server.stdio import stdio_server

from coilclaw.mcp_server.client import LOCAL_CLIENT
from coilclaw.mcp_server.server import CHANGES, make_server

if TYPE_CHECKING:
    import anyio

    from coilclaw.app import CoilClaw

__all__ = ["serve_stdio"]

_logger = logging.getLogger(__name__)

_LONGEST_LINE: Final = 8 * 1024 * 1024
_TOO_LONG: Final = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is too long"}}\n'


async def serve_stdio(claw: CoilClaw, reader: BinaryIO, writer: BinaryIO, *, longest: int = _LONGEST_LINE) -> None:
    """Serve the one client at the other end of these streams. Nothing but messages is written."""
    output = _Messages(writer)
    lines = cast("anyio.AsyncFile[str]", _Lines(reader, output, longest))
    server = make_server(claw, lambda: LOCAL_CLIENT)
    async with stdio_server(lines, cast("anyio.AsyncFile[str]", output)) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options(CHANGES))


class _Messages:
    """The output. Each message is written whole."""

    def __init__(self, writer: BinaryIO) -> None:
        self._writer = writer
        self._lock = threading.Lock()

    async def write(self, text: str) -> None:
        await run_sync(self._write, text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        await run_sync(self._writer.flush)

    def _write(self, data: bytes) -> None:
        with self._lock:
            self._writer.write(data)


class _Lines:
    """The input, line by line; a line that is too long is left out and never held as a whole."""

    def __init__(self, reader: BinaryIO, output: _Messages, longest: int) -> None:
        self._reader = reader
        self._output = output
        self._longest = longest

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        while True:
            line = await run_sync(partial(self._reader.readline, self._longest), abandon_on_cancel=True)
            if not line:
                raise StopAsyncIteration
            if len(line) < self._longest or line.endswith(b"\n"):
                return line.decode("utf-8", "replace")
            _logger.warning("left out a message of more than %d bytes", self._longest)
            while line and not line.endswith(b"\n"):
                line = await run_sync(partial(self._reader.readline, self._longest), abandon_on_cancel=True)
            await self._output.write(_TOO_LONG)
            await self._output.flush()
