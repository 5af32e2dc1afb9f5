"""The person at this machine."""

from __future__ import annotations

import os
import pwd

__all__ = ["this_person"]


def this_person() -> str:
    """The name under which a decision is recorded: who the system says it is, whatever the environment says."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name.encode("utf-8", "replace").decode()
    except KeyError:
        return f"user {number}"
