"""The small process between CoilClaw and the program of a plugin or an MCP server: what it starts ends with it.

Run as a file, on a bare interpreter: `python -I -S supervisor.py SOURCE CONTROL STATUS COMMAND…`, where our own sources
are and two inherited descriptors. It starts the command and ends everything when that ends, or when CONTROL is closed,
which is also what happens when the process that started it dies. SIGTERM is passed on to the program. Processes that
left the program's group, or whose parents are gone, are handed to this one by the kernel, so it finds them all. It
then writes to STATUS, as JSON, how the program ended.

Not held: a program that kills this process first, or has another service start something on its behalf. Such a program
has the rights of the person who installed it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys

__all__ = ["main"]

_SET_PDEATHSIG = 1
_ENDING_SECONDS = 5.0


def main(source: str, control: int, status: int, command: list[str]) -> None:
    """Run the command to its end, or to the end of the control descriptor."""
    sys.path.append(source)
    from coilclaw.confinement.supervision import adopt_orphans, end_everything

    for descriptor in (control, status):
        os.set_inheritable(descriptor, False)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    libc = ctypes.CDLL(None)
    adopt_orphans(libc)
    ours = os.getpid()
    child = os.fork()
    if child == 0:
        libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == ours:
            _become(command, status)
        os._exit(127)
    for stream in (0, 1, 2):
        os.close(stream)  # So that the reader sees the end when the last of its processes is gone.
    signal.signal(signal.SIGTERM, lambda *_: _pass_on(child))
    ended = _awaited(child, control, woken)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    killed = end_everything(child, _ENDING_SECONDS)
    code = ended if ended is not None else killed if killed is not None else -signal.SIGKILL
    os.write(status, json.dumps({"code": code}).encode() + b"\n")
    os._exit(0)


def _become(command: list[str], status: int) -> None:
    try:
        signal.set_wakeup_fd(-1)
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)  # noqa: S606
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        os.write(status, json.dumps({"problem": problem}).encode() + b"\n")
        os.write(2, f"{command[0]}: {problem}\n".encode("utf-8", "replace"))


def _pass_on(child: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGTERM)


def _awaited(child: int, control: int, woken: int) -> int | None:
    """The program's exit code, negative for a signal; None when it was not waited for any longer."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        # Orphans that were handed to us are collected too.
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == child:
                    return os.waitstatus_to_exitcode(found[1])
        events = dict(poll.poll())
        if control in events:
            return None
        os.read(woken, 4096)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
