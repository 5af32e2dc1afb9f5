"""The child's end of the conversation with the host."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any, Final

from coilclaw.sandbox.guest.output import Output
from coilclaw.sandbox.restricted.child.requests import OUT_OF_MEMORY_EXIT
from coilclaw.sandbox.wire import FRAME_LIMIT, HEADER_LIMIT, LENGTH, SPIN_SECONDS, frame

__all__ = ["HostGone", "HostLink"]

_dumps: Final = json.dumps
_loads: Final = json.loads
_read: Final = os.read
_write: Final = os.write
_now: Final = time.perf_counter
_LONGEST_SLEEP: Final = 2**62
_PART: Final = 256 * 1024


class HostGone(BaseException):
    """The host closed the conversation; there is nobody left to run for."""


class HostLink:
    """The host's functions, as the guest code knows them. Made before the fork, connected after it."""

    def __init__(self) -> None:
        self.descriptor = -1
        self.waiting: list[Output] = []
        self._socket: socket.socket | None = None

    def connect(self, descriptor: int) -> None:
        """Take the conversation of this child's run."""
        self.descriptor = descriptor
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=descriptor)

    # The functions of `guest.tools.Host` ---------------------------------------------------------

    def call(self, tool: str, input: str, line: int) -> str:
        return self._ask(["call", *_named(tool), line], _bounded(input)).decode()

    def begin(self, tool: str, input: str, line: int) -> int:
        return int(self._ask(["begin", *_named(tool), line], _bounded(input)))

    def wait(self, nanoseconds: int) -> str:
        return self._ask(["wait", nanoseconds]).decode()

    def withdraw(self, number: int) -> None:
        self.send(["withdraw", number], b"null")

    def linger(self, tasks: str) -> None:
        self.send(["linger"], _dumps(tasks).encode())

    def sleep(self, nanoseconds: int) -> None:
        self._ask(["sleep", max(0, min(nanoseconds, _LONGEST_SLEEP))])

    # And the rest of what a run needs -----------------------------------------------------------

    def preflight(self, calls: str) -> str:
        return self._ask(["preflight"], calls.encode()).decode()

    def wall(self) -> int:
        return int(self._ask(["wall"]))

    def monotonic(self) -> int:
        return int(self._ask(["monotonic"]))

    def write(self, stream: int, text: str) -> None:
        self.send(["write", stream], _dumps(text).encode())

    def flush(self) -> None:
        while self.waiting:
            self.waiting.pop().flush()

    # Frames --------------------------------------------------------------------------------------

    def _ask(self, header: list[Any], body: bytes = b"null") -> bytes:
        if self.waiting:
            self.flush()  # Output crosses before a call does, so that their order stays visible.
        self.send(header, body)
        return self.receive()

    def send(self, header: list[Any], body: bytes) -> None:
        left = memoryview(frame(_dumps(header).encode() + b"\n" + body))
        try:
            while left:
                left = left[_write(self.descriptor, left) :]
        except OSError:
            raise HostGone from None
        except MemoryError:
            os._exit(OUT_OF_MEMORY_EXIT)  # Half a frame may have been sent.

    def receive(self) -> bytes:
        """The host's answer. There is at most one on its way, so nothing is read past its end."""
        try:
            data = self._first_part()
            (size,) = LENGTH.unpack_from(data)
            parts = [data[LENGTH.size :]]
            missing = size - len(parts[0])
            while missing:
                parts.append(self._part(missing))
                missing -= len(parts[-1])
        except MemoryError:
            os._exit(OUT_OF_MEMORY_EXIT)  # What was not read would be taken for the next answer.
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _first_part(self) -> bytes:
        assert self._socket is not None
        ends = _now() + SPIN_SECONDS
        data = b""
        while _now() < ends:
            try:
                data = self._socket.recv(_PART, socket.MSG_DONTWAIT)
                break
            except BlockingIOError:
                continue
        data = data or self._part(_PART)
        while len(data) < LENGTH.size:
            data += self._part(_PART)
        return data

    def _part(self, size: int) -> bytes:
        data = _read(self.descriptor, min(size, _PART))
        if not data:
            raise HostGone
        return data


def _named(tool: str) -> list[str]:
    return [tool if len(tool) * 6 < HEADER_LIMIT else tool[: HEADER_LIMIT // 12] + "…"]


def _bounded(input: str) -> bytes:
    """Arguments that cannot cross are not sent; the host still learns of the attempt and leaves a receipt."""
    data = input.encode()
    if len(data) <= FRAME_LIMIT - HEADER_LIMIT:
        return data
    most = FRAME_LIMIT - HEADER_LIMIT
    return _dumps({"": f"the arguments have {len(data)} bytes; at most {most} can cross"}).encode()
