"""Telling whether the process that wrote a row is still there."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

__all__ = ["is_running", "this_process"]


def this_process() -> str:
    """A name for this process that no later one gets, even with the same number, and after a restart of the machine."""
    return f"{os.getpid()}:{_started(os.getpid())}:{_boot()}"


def is_running(process: str) -> bool:
    number, started, boot = (*process.split(":"), "", "")[:3]
    if boot and boot != _boot():
        return False  # The machine was restarted since.
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError, OverflowError):
        return True  # It is there and belongs to someone else, or cannot be told: assume the worse.
    return _started(int(number)) == started


def _started(number: int) -> str:
    try:
        # The name in parentheses may contain anything; the fields after it are numbers.
        return Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
