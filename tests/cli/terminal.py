"""A person at a terminal: reads what is shown, and answers one prompt after the other."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from dataclasses import dataclass

from tests.cli.conftest import Command

__all__ = ["INTERRUPT", "TerminalRun", "on_terminal"]

INTERRUPT = b"\x03"

_COLOUR = re.compile(r"\x1b(\[[0-9;]*m|\(B|\\)")


@dataclass(frozen=True)
class TerminalRun:
    code: int
    raw: str
    piped: bytes = b""

    @property
    def screen(self) -> str:
        """What was shown, without our own colours."""
        return _COLOUR.sub("", self.raw).replace("\r\n", "\n")

    @property
    def rows(self) -> list[str]:
        return self.screen.split("\n")


def on_terminal(
    command: Command,
    *args: object,
    answers: list[tuple[bytes, bytes]],
    size: tuple[int, int] = (24, 80),
    pipe_stdout: bool = False,
) -> TerminalRun:
    """Run a command and type each answer once its prompt is shown, in this order.

    A prompt is looked for in what was shown after the answer before. With `pipe_stdout`, stdout is a pipe and only the
    rest is on the terminal.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    stdout = subprocess.PIPE if pipe_stdout else slave
    with subprocess.Popen(
        [*command.line, *map(str, args)],
        stdin=slave,
        stdout=stdout,
        stderr=slave,
        env=command.environment,
        cwd=command.folder,
    ) as process:
        os.close(slave)
        screen, seen, left = b"", 0, list(answers)
        try:
            while chunk := os.read(master, 4096):
                screen += chunk
                while left and (at := screen.find(left[0][0], seen)) >= 0:
                    prompt, answer = left.pop(0)
                    seen = at + len(prompt)
                    if answer == INTERRUPT:  # This terminal controls no process, so it sends no signal.
                        process.send_signal(signal.SIGINT)
                    else:
                        os.write(master, answer)
        except OSError:
            pass  # Linux reports the end of a terminal this way.
        piped = process.stdout.read() if process.stdout is not None else b""
        code = process.wait(60)
    os.close(master)
    assert not left, (left, screen)
    return TerminalRun(code, screen.decode(), piped)
