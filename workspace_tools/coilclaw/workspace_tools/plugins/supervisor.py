"""The small process between CoilClaw and a plugin's program: whatever the program starts ends with it.

Run as a file, on a bare interpreter: `python -I -S supervisor.py CONTROL STATUS COMMAND…`, with two inherited
descriptors. It starts the command and ends everything when that ends, or when CONTROL is closed, which is also what
happens when the process that started it dies. Processes that left the program's group, or whose parents are gone, are
handed to this one by the kernel, so it finds them all. It then writes to STATUS, as JSON, how the program ended.

Not held: a program that kills this process first, or has another service start something on its behalf. A plugin has
the rights of the person who installed it.
"""

# pathlib would be most of the time that this process takes to start.
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time

__all__ = ["main"]

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
_ENDING_SECONDS = 5.0


def main(control: int, status: int, command: list[str]) -> None:
    """Run the command to its end, or to the end of the control descriptor."""
    for descriptor in (control, status):
        os.set_inheritable(descriptor, False)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ours = os.getpid()
    child = os.fork()
    if child == 0:
        libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == ours:
            _become(command, status)
        os._exit(127)
    for stream in (0, 1, 2):
        os.close(stream)  # So that the reader sees the end when the last of its processes is gone.
    ended = _awaited(child, control, woken)
    code = _end_everything(child)
    os.write(status, json.dumps({"code": code if ended is None else ended}).encode() + b"\n")
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


def _end_everything(child: int) -> int:
    """Kill the program's group and all descendants until there are none; the program's exit code, if it was alive."""
    code = -signal.SIGKILL
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    ends = time.monotonic() + _ENDING_SECONDS
    while time.monotonic() < ends:  # A program of another user's cannot be killed.
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == child:
                    code = os.waitstatus_to_exitcode(found[1])
        except ChildProcessError:
            break
        # Stopped first: whoever is stopped cannot start another one while the rest is looked for.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in _descendants():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        time.sleep(0.001)
    return code


def _descendants() -> list[int]:
    parents: dict[int, list[int]] = {}
    try:
        entries = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for name in entries:
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            parents.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(name))
    found, waiting = [], [os.getpid()]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
