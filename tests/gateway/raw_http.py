"""Requests as bytes, for what no well-behaved client sends."""

from __future__ import annotations

import re
import socket
from contextlib import closing

from tests.gateway.conftest import Served

__all__ = ["sent"]

_MORE_SECONDS = 0.3
"""How long a second answer is listened for, after a whole first one."""


def sent(served: Served, request: bytes) -> tuple[int, bytes]:
    """Send these bytes; return the status of the answer and all that came back, a second answer too.

    The status is 0 if the server hung up without an answer, or before it could be read.
    """
    received = b""
    with closing(socket.create_connection(("127.0.0.1", served.port), timeout=20)) as connection:
        try:
            connection.sendall(request)
            while piece := connection.recv(65536):
                received += piece
                if _is_whole(received):
                    connection.settimeout(_MORE_SECONDS)
        except (ConnectionError, TimeoutError):
            pass  # It hung up while more was on the way, or has said everything.
    return (int(received.split(b" ", 2)[1]) if received else 0), received


def _is_whole(received: bytes) -> bool:
    top, end, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"(?im)^content-length: (\d+)", top)
    return bool(end) and length is not None and len(body) >= int(length[1])
