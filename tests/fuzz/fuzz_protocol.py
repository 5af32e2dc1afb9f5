"""The host's end of a conversation against anything a child could send: `python tests/fuzz/fuzz_protocol.py -max_total_time=60`."""

from __future__ import annotations

import socket
import sys
import threading

from coilclaw.sandbox import Deadline, Pins, RunEnded
from coilclaw.sandbox.channel import ChildEnded
from coilclaw.sandbox.conversation import Conversation
from coilclaw.sandbox.restricted.warm_parent import Child
from coilclaw.sandbox.wire import frame

__all__ = ["one_input"]

_PIECES = (
    b'["call", "a", 1]\n', b'["begin", "a", 1]\n', b'["wait", 0]\n', b'["wait", -1]\n', b'["write", 1]\n', b'["write", 2]\n', b'"text"',
    b'["sleep", 0]\n', b'["sleep", 1]\n', b'["wall"]\n', b'["monotonic"]\n', b'["preflight"]\n', b'["end"]\n', b'["broken"]\n', b"[", b"]",
    b"{}", b"null", b'"', b"\n", b"1e999", b"NaN", b"true", b"-1", b"99999999999999999999", b"\xff", b"\x00", b'["ready"]\n', b"\\ud800",
)  # fmt: skip


class _EmptyHost:
    """Answers at once, with as little as possible."""

    def preflight(self, calls: bytes) -> bytes:
        assert isinstance(calls, bytes)
        return b"[]"

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        assert isinstance(tool, str)
        assert isinstance(input, bytes)
        assert 0 <= line < 2**32
        return b"{}"

    def begin(self, tool: str, input: bytes, line: int) -> int:
        return len(self.call(tool, input, line))

    def withdraw(self, number: int) -> None:
        raise NotImplementedError

    def linger(self, tasks: str) -> None:
        raise NotImplementedError

    def wait(self, seconds: float | None) -> bytes:
        assert seconds is None or seconds >= 0
        return b"[]"

    def write(self, stream: int, text: str) -> None:
        text.encode()  # No lone surrogates.


def one_input(data: bytes) -> None:
    """Every conversation ends, in one of the three ways a conversation can."""
    sent = bytearray()
    for step in data[:60]:
        if step >= 128:
            sent += _PIECES[step % len(_PIECES)]
        else:
            sent += frame(_PIECES[step % len(_PIECES)] + _PIECES[step // 4 % len(_PIECES)])
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    reporting.close()
    reader = threading.Thread(target=_drain, args=(theirs, bytes(sent)), daemon=True)
    reader.start()
    try:
        with Child(ours, report, set()) as child:
            answer = Conversation(child, _EmptyHost(), Deadline(0.5), Pins()).until_the_end()
        assert isinstance(answer, str)
    except (ChildEnded, RunEnded):
        pass
    reader.join(5)


def _drain(end: socket.socket, sent: bytes) -> None:
    with end:
        try:
            end.sendall(sent)
            end.shutdown(socket.SHUT_WR)
            while end.recv(65536):
                pass
        except OSError:
            return


if __name__ == "__main__":
    import atheris

    atheris.instrument_func(Conversation.until_the_end)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
