"""Who a child is: nobody, without capabilities.

Root becomes user and group 65534 and leaves all groups. Another user stays who he is, because only
root can change that; he, too, loses each capability he may have been given.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Final

from coilclaw.confinement.system_calls import EMPTY_CAPABILITIES, Step, bare, capabilities, prctl

__all__ = ["NOBODY", "inherited_steps", "state_of_user", "steps"]

NOBODY: Final = 65534

_CAP_SETGID: Final = 6
_CAP_SETUID: Final = 7
_CAP_SETPCAP: Final = 8
_MOST_CAPABILITIES: Final = 64

_PR_CAPBSET_READ: Final = 23
_PR_CAPBSET_DROP: Final = 24

_MAPS: Final = ("/proc/self/uid_map", "/proc/self/gid_map")
_ON_LINUX: Final = sys.platform.startswith("linux")


def state_of_user() -> tuple[bool, str]:
    """Whether a child can be made unprivileged, and how or why not."""
    if not _is_root():
        return True, f"already unprivileged (user {os.getuid()})"
    if _ON_LINUX:
        held = capabilities()
        for name, bit in (("CAP_SETUID", _CAP_SETUID), ("CAP_SETGID", _CAP_SETGID)):
            if not held >> bit & 1:
                return False, f"root without {name} cannot become another user"
        for table in _MAPS:
            if not _is_mapped(table):
                return False, f"user {NOBODY} does not exist in this user namespace"
    return True, f"root becomes user {NOBODY}, without groups and capabilities"


def _is_root() -> bool:
    """Whether this process is root, or could become root again."""
    return 0 in (os.getresuid() if _ON_LINUX else (os.getuid(), os.geteuid()))


def _is_mapped(table: str) -> bool:
    try:
        with open(table, encoding="ascii") as lines:  # noqa: PTH123 - the warm parent does without pathlib.
            ranges = [[int(number) for number in line.split()] for line in lines]
    except OSError:
        return True  # No user namespaces, or nothing is known; a failure will be reported when it happens.
    return any(first <= NOBODY < first + count for first, _, count in ranges)


def inherited_steps() -> Iterator[Step]:
    """Let no exec bring back a capability. A parent can do that for its children."""
    if _ON_LINUX and capabilities() >> _CAP_SETPCAP & 1:
        for capability in _bounding_set():
            yield prctl, (_PR_CAPBSET_DROP, capability)


def steps() -> Iterator[Step]:
    """What each child does for itself."""
    if _is_root():
        yield os.setgroups, ([],)
        yield os.setgid, (NOBODY,)  # Of root, these change the real, the effective and the saved one.
        yield os.setuid, (NOBODY,)
    if _ON_LINUX:
        yield bare("capset"), EMPTY_CAPABILITIES


def _bounding_set() -> list[int]:
    found = []
    for capability in range(_MOST_CAPABILITIES):
        try:
            if prctl(_PR_CAPBSET_READ, capability):
                found.append(capability)
        except OSError:
            break  # The first number that the kernel does not know.
    return found
