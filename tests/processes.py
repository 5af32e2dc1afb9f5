"""Whether a process is still there."""

from __future__ import annotations

import time
from pathlib import Path

__all__ = ["gone", "is_alive"]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    """A killed process disappears when it is reaped, which is somebody else's work."""
    for _ in range(6000):
        if not is_alive(pid):
            return True
        time.sleep(0.01)
    return False
