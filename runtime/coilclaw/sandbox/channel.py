"""One end of the conversation between the host and a process that runs a snippet: frames in both directions."""

from __future__ import annotations

import json
import select
import socket
import time
from typing import Any, Final

from coilclaw.sandbox.deadline import POLL_SECONDS, Deadline
from coilclaw.sandbox.wire import FRAME_LIMIT, HEADER_LIMIT, LENGTH, SPIN_SECONDS, frame

__all__ = ["Channel", "ChildEnded"]

_PART: Final = 256 * 1024


class ChildEnded(Exception):
    """Who is at the other end is gone, or broke the rules of the conversation; `how` says in which way."""

    def __init__(self, how: dict[str, Any]) -> None:
        super().__init__(str(how))
        self.how = how


class Channel:
    """Sends and receives whole frames, and gives up when the run's time is up."""

    frame_limit = FRAME_LIMIT
    header_limit = HEADER_LIMIT
    look_seconds = POLL_SECONDS
    """How often it looks whether the time is up while nothing comes."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._buffer = bytearray()
        channel.setblocking(False)
        self._ready, self._writable = select.poll(), select.poll()
        self._ready.register(channel, select.POLLIN)
        self._writable.register(channel, select.POLLOUT)

    @property
    def looks(self) -> bool:
        """Whether to look for a moment before sleeping, because no other run needs the processor."""
        return False

    def end(self) -> dict[str, Any]:
        """How the child ended, as far as that is known."""
        return {}

    def receive(self, deadline: Deadline) -> tuple[list[Any], bytes]:
        """The next frame: its header and its JSON. Raises ChildEnded, or RunEnded when the run's time is up."""
        header, _, content = self.receive_frame(deadline).partition(b"\n")
        if len(header) > self.header_limit:
            raise ChildEnded({"protocol": f"a header of {len(header)} bytes"})
        try:
            parsed = json.loads(header)
        except (ValueError, RecursionError):
            raise ChildEnded({"protocol": "a header that is not JSON"}) from None
        # By their types alone: `true` is a number to Python.
        if type(parsed) is not list or not all(type(each) in (str, int) for each in parsed):
            raise ChildEnded({"protocol": "a header that is not an array of texts and numbers"})
        return parsed, content

    def receive_frame(self, deadline: Deadline) -> bytes:
        return self._exactly(LENGTH.unpack(self._exactly(LENGTH.size, deadline))[0], deadline)

    def _exactly(self, size: int, deadline: Deadline) -> bytes:
        if size > self.frame_limit:
            raise ChildEnded({"protocol": f"a frame of {size} bytes"})
        buffer = self._buffer
        while len(buffer) < size:
            buffer += self._part(deadline)
            if len(buffer) < size:
                deadline.end_if_over()  # Bytes that trickle in are no reason to wait for ever.
        taken = bytes(buffer[:size])
        del buffer[:size]
        return taken

    def _part(self, deadline: Deadline) -> bytes:
        """What has come. Waking up takes longer than most calls do, so it may look for a moment before it sleeps."""
        ends = time.perf_counter() + (SPIN_SECONDS if self.looks else 0)
        try:
            while time.perf_counter() < ends:
                try:
                    if data := self._channel.recv(_PART):
                        return data
                    raise ChildEnded(self.end())
                except BlockingIOError:
                    continue
            while not self._ready.poll(min(self.look_seconds, deadline.remaining) * 1000):
                deadline.end_if_over()
            if data := self._channel.recv(_PART):
                return data
        except OSError:
            pass
        raise ChildEnded(self.end())

    def send(self, body: bytes, deadline: Deadline) -> None:
        """Send one frame. Who does not read it any more may have said how it ended: `receive` tells."""
        left = memoryview(frame(body))
        while left:
            try:
                left = left[self._channel.send(left) :]
            except BlockingIOError:
                self._writable.poll(POLL_SECONDS * 1000)
                deadline.end_if_over()
            except OSError:
                return

    def has_spoken(self, seconds: float) -> bool:
        """Whether a frame, or the end of the conversation, comes within the time."""
        return bool(self._buffer or self._ready.poll(seconds * 1000))

    def close(self) -> None:
        self._channel.close()
