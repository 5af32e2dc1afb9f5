"""Confinement: what a child gives up before it runs a snippet, whatever the snippet turns out to be.

The layers do not rely on each other. Each is applied if the machine offers it; a layer that was said
to be available and then fails ends the child instead.

Most of the time goes into pages that a child is the first to write to after the fork. So the parent
looks up and builds all it can, and does once what its children inherit anyway (`prepare`).

The order matters. What needs a privilege or a descriptor comes first, what takes them away comes
last: credentials before the signal that the parent's death sends (a change of credentials forgets
it), Landlock before the descriptors (its ruleset is one), the filter at the end.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from coilclaw.confinement import landlock
from coilclaw.confinement.system_calls import (
    Step,
    bare,
    clear_environment,
    last_error,
    long,
    prctl,
    syscall,
)
from coilclaw.sandbox.restricted.child import privileges, seccomp
from coilclaw.sandbox.restricted.child.layers import LAYERS, Layer, LayerName
from coilclaw.sandbox.restricted.child.limits import ResourceLimits, state_of_limits

__all__ = ["LAYERS", "Confinement", "ConfinementFailed", "Layer", "LayerName", "survey"]

_ON_LINUX: Final = sys.platform.startswith("linux")

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_GET_NO_NEW_PRIVS: Final = 39
_CLOSE_RANGE: Final = 436  # The same on every processor of Linux but Alpha.
_LAST_DESCRIPTOR: Final = 2**32 - 1

_LayerStep = tuple[str, Step]
_Steps = Callable[..., Iterable[Step]]
_Loaded = tuple[tuple[_LayerStep, ...], _Steps | None, _Steps | None, _Steps | None, tuple[str, ...]]


class ConfinementFailed(Exception):
    """A layer that this machine offers could not be applied. The child must not run anything."""

    def __init__(self, layer: str, reason: str) -> None:
        super().__init__(f"{layer}: {reason}")
        self.layer = layer
        self.reason = reason


def survey(off: Collection[str] = ()) -> tuple[Layer, ...]:
    """What confines a child on this machine. Asks the kernel only; the calling process stays as it is."""
    if unknown := sorted(set(off) - set(LAYERS)):
        raise ValueError(f"there is no layer {', '.join(unknown)}; the layers are {', '.join(LAYERS)}")
    return tuple(_surveyed(name, name in off) for name in LAYERS)


def _surveyed(name: LayerName, off: bool) -> Layer:
    if off:
        return Layer(name=name, state="off", detail="on purpose")
    if os.name != "posix":
        return Layer(name=name, state="unavailable", detail=f"needs a POSIX system; this is {sys.platform}")
    available, detail = _EXAMINATIONS[name]()
    return Layer(name=name, state="active" if available else "unavailable", detail=detail)


def _state_of_no_new_privs() -> tuple[bool, str]:
    if not _ON_LINUX:
        return False, f"no_new_privs is part of Linux; this is {sys.platform}"
    try:
        prctl(_PR_GET_NO_NEW_PRIVS)
    except OSError as error:
        return False, f"the kernel does not know it ({error.strerror})"
    return True, "no privileges by exec, no core dumps, no life after the parent's death"


def _state_of_landlock() -> tuple[bool, str]:
    reason = landlock.unavailable()
    return (True, f"version {landlock.version()}: no files, no TCP") if reason is None else (False, reason)


def _state_of_seccomp() -> tuple[bool, str]:
    reason = seccomp.unavailable()
    return (True, f"{len(seccomp.ALLOWED)} system calls, no others") if reason is None else (False, reason)


_EXAMINATIONS: Final[dict[LayerName, Callable[[], tuple[bool, str]]]] = {
    "rlimits": state_of_limits,
    "environment": lambda: (True, "no variables"),
    "descriptors": lambda: (True, "nothing open but the channel"),
    "user": privileges.state_of_user,
    "no_new_privs": _state_of_no_new_privs,
    "landlock": _state_of_landlock,
    "seccomp": _state_of_seccomp,
}


class Confinement:
    """Made once in the parent; applied in each of its children."""

    def __init__(self, off: frozenset[str] = frozenset()) -> None:
        self.layers: Final = survey(off)
        self._active: Final = tuple(layer.name for layer in self.layers if layer.state == "active")
        self._limits: Final = ResourceLimits() if "rlimits" in self._active else None
        self._filter: Final = seccomp.Filter() if "seccomp" in self._active else None
        self._parent: Final = os.getpid()
        self._inherited: Final = tuple(self._inherited_steps())
        self._first: Final = tuple(self._first_steps())
        self._loaded = self._load(self._inherited)

    def prepare(self) -> None:
        """Do in this process what its children inherit; each `apply` is then quicker.

        For a process that does nothing but fork such children: it loses its variables, and whatever
        it would start by exec has no capabilities.
        """
        _perform(self._inherited)
        self._loaded = self._load(())

    def apply(self, *, channel: int, memory_bytes: int, cpu_seconds: int) -> tuple[str, ...]:
        """Confine this process, a child of the one that made this object, and return the active layers.

        `memory_bytes` counts from the fork: what the parent had loaded is not the snippet's. Beyond
        it, Python code sees a MemoryError. After `cpu_seconds` of computing the process ends by
        SIGXCPU.
        """
        if memory_bytes <= 0 or cpu_seconds <= 0:
            raise ValueError("a child needs memory and time")
        first, limits, closing, filter, active = self._loaded
        steps = list(first)
        if limits is not None:
            steps += [("rlimits", step) for step in limits(memory_bytes, cpu_seconds)]
        if closing is not None:
            steps += [("descriptors", step) for step in closing(channel)]
        if filter is not None:
            steps += [("seccomp", step) for step in filter(channel)]
        _perform(steps)
        return active

    def _load(self, inherited: tuple[_LayerStep, ...]) -> _Loaded:
        """All that `apply` uses, in one tuple: a child copies a page for almost every name that it looks up."""
        return (
            (*inherited, *self._first),
            self._limits.steps if self._limits is not None else None,
            _closing() if "descriptors" in self._active else None,
            self._filter.steps if self._filter is not None else None,
            self._active,
        )

    def _inherited_steps(self) -> Iterator[_LayerStep]:
        if "environment" in self._active:
            yield "environment", (clear_environment, ())
        if "user" in self._active:
            yield from (("user", step) for step in privileges.inherited_steps())
        for name in ("no_new_privs", "landlock", "seccomp"):  # All three need it, whichever of them are on.
            if name in self._active:
                yield name, (prctl, (_PR_SET_NO_NEW_PRIVS, 1))
        if self._limits is not None:
            yield from (("rlimits", step) for step in self._limits.inherited_steps())
        if self._filter is not None:
            # A process can ask that what is readable be executable. The filter would not see the difference.
            yield "seccomp", (bare("personality"), (long(0),))

    def _first_steps(self) -> Iterator[_LayerStep]:
        if "user" in self._active:
            yield from (("user", step) for step in privileges.steps())
        if "no_new_privs" in self._active:
            yield "no_new_privs", (bare("prctl"), (_PR_SET_DUMPABLE, long(0)))
            yield "no_new_privs", (bare("prctl"), (_PR_SET_PDEATHSIG, long(signal.SIGKILL)))
            yield "no_new_privs", (_check_parent, (self._parent,))
        if "landlock" in self._active:
            yield from (("landlock", step) for step in landlock.steps())


def _perform(steps: Iterable[_LayerStep]) -> None:
    for layer, (function, arguments) in steps:
        try:
            if function(*arguments) == -1:
                raise last_error()
        except (OSError, ValueError) as error:
            raise ConfinementFailed(layer, str(error)) from None


def _check_parent(expected: int) -> None:
    """A parent that died before its death would send a signal sends none."""
    if os.getppid() != expected:
        raise ProcessLookupError(errno.ESRCH, "the parent has ended, or is not the process that made this object")


def _closing() -> Callable[[int], list[Step]]:
    """How all descriptors but one are closed here."""
    if not _ON_LINUX:
        return _close_one_by_one
    try:
        syscall(_CLOSE_RANGE, _LAST_DESCRIPTOR, _LAST_DESCRIPTOR)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):  # Kernels before 5.9, and some containers.
            raise
        return _close_one_by_one
    close, last = bare("syscall"), long(_LAST_DESCRIPTOR)

    def close_ranges(channel: int) -> list[Step]:
        above: Step = (close, (_CLOSE_RANGE, channel + 1, last, 0))
        return [(close, (_CLOSE_RANGE, 0, channel - 1, 0)), above] if channel > 0 else [above]

    return close_ranges


def _close_one_by_one(channel: int) -> list[Step]:
    descriptors = (int(name) for name in os.listdir("/dev/fd"))  # noqa: PTH208 - one list, before anything is closed.
    return [(_close_if_open, (descriptor,)) for descriptor in descriptors if descriptor != channel]


def _close_if_open(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError as error:
        if error.errno != errno.EBADF:  # The descriptor of the listing itself is in the list.
            raise
