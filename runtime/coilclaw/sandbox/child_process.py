"""Start a process of the sandbox: our own interpreter, with nothing of the host's but one end of a conversation."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["start_child_process"]


def start_child_process(
    *program: str, settings: Mapping[str, Any], environment: Mapping[str, str], stderr: int = subprocess.DEVNULL
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a program, and return its process and the host's end of the conversation.

    Its last argument is JSON: the settings, and as `channel` the descriptor of its end. Raises OSError.
    """
    ours, theirs = socket.socketpair()
    given = json.dumps({**settings, "channel": theirs.fileno()})
    with theirs:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own code, by our own interpreter.
                [sys.executable, "-s", "-S", "-P", "-B", *program, given],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                pass_fds=[theirs.fileno()],
                env=dict(environment),
                cwd="/",
                start_new_session=True,  # An interrupt at the terminal is for the host, which then ends the run.
            )
        except BaseException:
            ours.close()
            raise
    return process, ours
