"""Telling whether the process that wrote a row is still there."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["is_running", "this_boot", "this_process"]

_DEAD: Final = frozenset({"Z", "X", "x"})
"""States of a process that has ended: its parent has not asked how, or it is being removed."""


def this_process() -> str:
    """A name for this process that no later one gets, even with the same number, and after a restart of the machine."""
    return _name(os.getpid())


@cache
def _name(number: int) -> str:
    return f"{number}:{_seen(number).started}:{this_boot()}"


def is_running(process: str) -> bool:
    """Whether a process is still there. One that has ended and was not waited for by its parent is not."""
    number, started, boot = (*process.split(":"), "", "")[:3]
    if boot and boot != this_boot():
        return False  # The machine was restarted since.
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError, OverflowError):
        return True  # It is there and belongs to someone else, or cannot be told: assume the worse.
    seen = _seen(int(number))
    return seen.started == started and seen.state not in _DEAD


@cache
def this_boot() -> str:
    """A name for the time since the machine was started; empty if the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


class _Seen(NamedTuple):
    """What the system tells about a process; both empty if it tells nothing."""

    state: str = ""
    started: str = ""


def _seen(number: int) -> _Seen:
    try:
        # The name in parentheses may contain anything; the fields after it are a letter and numbers.
        fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return _Seen(fields[0], fields[19])
    except (OSError, IndexError):
        return _Seen()
