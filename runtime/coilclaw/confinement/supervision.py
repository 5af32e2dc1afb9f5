"""Finding and ending every process below this one, for the small processes that stand between CoilClaw and programs.

Whoever calls `adopt_orphans` is handed the processes whose parents are gone, whatever group or session they moved to.
So all that a program started are its descendants, and can be ended.
"""

# pathlib would be most of the time that a supervisor takes to start.
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Any

__all__ = ["adopt_orphans", "descendants", "end_everything"]

_SET_CHILD_SUBREAPER = 36


def adopt_orphans(libc: Any) -> None:
    """Have orphans below this process handed to it. Linux only."""
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_everything(child: int, seconds: float) -> int | None:
    """Kill the child, its group and all descendants until there are none; the child's exit code, if it was alive.

    Not longer than so many seconds: a program of another user's cannot be killed.
    """
    code = None
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == child:
                    code = os.waitstatus_to_exitcode(found[1])
        except ChildProcessError:
            break
        # Stopped first: whoever is stopped cannot start another one while the rest is looked for.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in descendants():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        time.sleep(0.001)
    return code


def descendants() -> list[int]:
    """The processes below this one, as far as the system shows them."""
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
