"""Resource limits: what the kernel counts, and takes care of by itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coilclaw.confinement.system_calls import Step

if sys.platform != "win32":
    import resource

__all__ = ["ResourceLimits", "resident_bytes", "state_of_limits"]

_ON_LINUX: Final = sys.platform.startswith("linux")
_SIZE: Final = "/proc/self/statm"

_NOT_EVEN_FOR_THE_PARENT: Final = ("CORE", "MEMLOCK", "MSGQUEUE")
_NOT_FOR_CHILDREN: Final = ("NPROC", "FSIZE", "NOFILE")
"""Nothing at all of these: no process, no byte of a file, no descriptor beyond those that are open."""


def state_of_limits() -> tuple[bool, str]:
    """Whether the kernel bounds a child here, and what is missing."""
    if not _ON_LINUX:
        return True, f"CPU time, descriptors, processes, files; {sys.platform} does not bound memory"
    try:
        os.close(os.open(_SIZE, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return False, f"the size of a process cannot be found out: {error}"
    return True, "memory, CPU time, descriptors, processes, files, core dumps"


def resident_bytes() -> int:
    """How much of this process's own memory is resident, and is so in a fork of it; 0 where that is not known."""
    try:
        _, resident, shared, *_ = map(int, Path(_SIZE).read_text("ascii").split())
    except OSError:
        return 0
    return (resident - shared) * resource.getpagesize()


class ResourceLimits:
    """The limits of a child. Made in the parent, whose size when it forks is the size a child starts with."""

    def __init__(self) -> None:
        # A child reads its parent's size here: that takes one call, and no file has to be opened.
        size = os.open(_SIZE, os.O_RDONLY | os.O_CLOEXEC) if _ON_LINUX else -1
        nothing: list[Step] = [(resource.setrlimit, (kind, (0, 0))) for kind in _kinds(_NOT_FOR_CHILDREN)]
        # In one tuple, because a child copies a page for almost every name that it looks up.
        self._loaded: Final = (
            nothing,
            resource.setrlimit,
            (resource.RLIMIT_CPU, _hard_limit(resource.RLIMIT_CPU)),
            (resource.RLIMIT_AS, _hard_limit(resource.RLIMIT_AS)),
            (os.pread, os.close, size, resource.getpagesize()),
        )

    @staticmethod
    def inherited_steps() -> Iterator[Step]:
        """What the parent can do for its children, because it needs none of it."""
        for kind in _kinds(_NOT_EVEN_FOR_THE_PARENT):
            yield resource.setrlimit, (kind, (0, 0))
        # As deep as the interpreter found it. The stack counts as memory, too.
        stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
        yield resource.setrlimit, (resource.RLIMIT_STACK, (stack, stack))

    def steps(self, memory_bytes: int, cpu_seconds: int) -> list[Step]:
        """What a child does. Reads the size, so the descriptors must still be open when this is called."""
        nothing, set_limit, (cpu, most_seconds), (memory, most_memory), (read_at, close, size, page) = self._loaded
        # The soft limit sends SIGXCPU, which tells the parent what happened. Who ignores it is killed a second later.
        hard = min(cpu_seconds + 1, most_seconds)
        steps: list[Step] = [*nothing, (set_limit, (cpu, (min(cpu_seconds, hard), hard)))]
        if size != -1:
            pages, _, _ = read_at(size, 64, 0).partition(b" ")
            most = min(int(pages) * page + memory_bytes, most_memory)
            steps += [(close, (size,)), (set_limit, (memory, (most, most)))]
        return steps


def _kinds(names: tuple[str, ...]) -> list[int]:
    found = (getattr(resource, f"RLIMIT_{name}", None) for name in names)
    return [kind for kind in found if kind is not None]


def _hard_limit(kind: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard
