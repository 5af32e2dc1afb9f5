"""Landlock: a process gives up the file system, TCP, and signals to others, but for what it is granted.

A ruleset forbids the rights it handles, and allows what is granted below some paths. The rights are found
by asking, bit by bit, so that those of a newer kernel are given up too. As of version 7 they are:

- files: execute, write, read, list, remove (files, folders), make (devices, folders, files, sockets,
  pipes, block devices, links), move between folders, truncate, ioctl on devices;
- TCP: bind, connect (from version 4);
- to processes outside: abstract unix sockets, signals (from version 6).

Landlock does not hold what needs no such right: stat, chdir, chmod, UDP, and descriptors that are
open already.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import sys
from collections.abc import Iterator
from typing import Final

from coilclaw.confinement.system_calls import Step, bare, syscall

__all__ = [
    "ALL",
    "EXECUTE",
    "LIST",
    "MAKE_DEVICES",
    "READ",
    "WRITE",
    "grant",
    "restrict",
    "rights",
    "ruleset",
    "steps",
    "unavailable",
    "version",
]

# The same on every processor of Linux but Alpha.
_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_ASK_FOR_VERSION: Final = 1

_RIGHTS: Final = struct.Struct("<QQQ")  # Files, TCP, scopes. Old kernels accept the longer form if the rest is zero.
_RULE: Final = struct.Struct("=Qi")  # Rights, and a descriptor of the path.
_BENEATH_A_PATH: Final = 1
_MOST_RIGHTS: Final = 64

EXECUTE: Final = 1 << 0
WRITE: Final = 1 << 1
READ: Final = 1 << 2
LIST: Final = 1 << 3
MAKE_DEVICES: Final = 1 << 6 | 1 << 11
ALL: Final = (1 << _MOST_RIGHTS) - 1
_TRUNCATE: Final = 1 << 14
_OF_A_FILE: Final = EXECUTE | WRITE | READ | _TRUNCATE
_REASONS: Final = {
    errno.ENOSYS: "the kernel is older than 5.13 or was built without Landlock",
    errno.EOPNOTSUPP: "Landlock is disabled at boot; add it to the kernel's `lsm=` parameter",
    errno.EPERM: "the system call is forbidden here, probably by the profile of a container",
}


def version() -> int:
    """The version of Landlock in the running kernel. OSError if there is none."""
    return syscall(_CREATE_RULESET, 0, 0, _ASK_FOR_VERSION)


def unavailable() -> str | None:
    """Why there is no Landlock here, or None."""
    if not sys.platform.startswith("linux"):
        return f"Landlock is part of Linux; this is {sys.platform}"
    try:
        version()
    except OSError as error:
        return _REASONS.get(error.errno or 0, str(error))
    return None


def rights() -> tuple[int, int, int]:
    """Every right this kernel can take away: on files, on TCP ports, and on processes outside."""
    return _known(0), _known(1), _known(2)


def steps() -> Iterator[Step]:
    """Enter, for good, a ruleset made here. The process needs `no_new_privs`, which the caller sets."""
    made = ruleset(rights())  # Children inherit the descriptor across the fork.
    yield bare("syscall"), (_RESTRICT_SELF, made, 0)
    yield os.close, (made,)


def ruleset(handled: tuple[int, int, int]) -> int:
    """A descriptor of a ruleset that forbids these rights: on files, on TCP ports, and on processes outside."""
    import ctypes

    attributes = ctypes.create_string_buffer(_RIGHTS.pack(*handled), _RIGHTS.size)
    return syscall(_CREATE_RULESET, ctypes.addressof(attributes), _RIGHTS.size, 0)


def grant(ruleset: int, path: str, rights: int) -> None:
    """Allow rights, of those that the ruleset handles, on a file or below a folder; nothing if there is none."""
    import ctypes

    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_A_FILE
        rule = ctypes.create_string_buffer(_RULE.pack(rights, place), _RULE.size)
        syscall(_ADD_RULE, ruleset, _BENEATH_A_PATH, ctypes.addressof(rule), 0)
    finally:
        os.close(place)


def restrict(ruleset: int) -> None:
    """Enter the ruleset, for good. The process needs `no_new_privs`, which the caller sets."""
    syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _known(field: int) -> int:
    bits = 0
    for position in range(_MOST_RIGHTS):
        asked = [0, 0, 0]
        asked[field] = 1 << position
        try:
            os.close(ruleset((asked[0], asked[1], asked[2])))
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.E2BIG):
                break  # Rights are numbered without gaps.
            raise
        bits |= asked[field]
    return bits
