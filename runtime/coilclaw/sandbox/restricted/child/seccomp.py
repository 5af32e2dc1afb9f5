"""Seccomp: the few system calls that a loaded interpreter needs, and no others.

`ALLOWED` is the whole list, each entry with its reason. What is not on it answers EPERM, so that the
standard library fails with a PermissionError; calls that nothing but an attack makes (`FATAL`) end
the process. A call of a foreign processor mode ends it too, because its numbers mean other calls.

A filter sees the arguments as numbers. It cannot follow a pointer, which is why no call is allowed
whose pointers matter.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from coilclaw.confinement.system_calls import Step, bare, last_error, long

__all__ = ["ALLOWED", "CHANNEL", "FATAL", "PROCESSORS", "Allowed", "Filter", "Processor", "When", "unavailable"]

CHANNEL: Final = 0xFFFF_FF00
"""Stands for the descriptor of the channel until that is known; no descriptor has this number."""

_ALL_BITS: Final = 0xFFFF_FFFF


@dataclass(frozen=True, kw_only=True)
class Processor:
    """What is different from one processor to another. Numbers of calls are in the order of `PROCESSORS`."""

    machine: str
    audit: int
    foreign_from: int | None = None


PROCESSORS: Final = (
    # On x86-64, numbers from 2**30 on are the calls of x32 programs.
    Processor(machine="x86_64", audit=0xC000_003E, foreign_from=0x4000_0000),
    Processor(machine="aarch64", audit=0xC000_00B7),
)


@dataclass(frozen=True, kw_only=True)
class When:
    """A condition: the bits of an argument under `mask` are one of `values`.

    Only the lower half of an argument is looked at. The upper half means nothing to the calls below,
    and programs may leave anything there.
    """

    argument: int
    values: tuple[int, ...]
    mask: int = _ALL_BITS


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """A call that may be made, if all conditions hold."""

    name: str
    numbers: tuple[int, int]
    reason: str
    when: tuple[When, ...] = ()


_ON_THE_CHANNEL: Final = When(argument=0, values=(CHANNEL,))
_NOT_EXECUTABLE: Final = When(argument=2, mask=_ALL_BITS ^ 0b011, values=(0,))  # PROT_READ, PROT_WRITE.
# Without MAP_NORESERVE, with which glibc would start a second heap of 64 MiB when memory is short already.
_PRIVATE_AND_ANONYMOUS: Final = When(argument=3, values=(0x22,))
_WITHOUT_WAITING: Final = When(argument=3, values=(0x40,))  # Nothing else: urgent data has been a way into kernels.
_MAY_MOVE: Final = When(argument=3, mask=_ALL_BITS ^ 1, values=(0,))
_COMMON_CLOCK: Final = When(argument=0, mask=_ALL_BITS ^ 0b1111, values=(0,))  # The others are of other processes.
_WAIT_OR_WAKE: Final = When(argument=1, mask=_ALL_BITS ^ 0x100, values=(0x80, 0x81, 0x89, 0x8A))  # Within a process.

ALLOWED: Final = (
    Allowed(name="read", numbers=(0, 63), when=(_ON_THE_CHANNEL,), reason="answers of the host"),
    Allowed(
        name="recvfrom",
        numbers=(45, 207),
        when=(_ON_THE_CHANNEL, _WITHOUT_WAITING),
        reason="an answer that is already there",
    ),
    Allowed(name="write", numbers=(1, 64), when=(_ON_THE_CHANNEL,), reason="calls to the host"),
    Allowed(name="close", numbers=(3, 57), when=(_ON_THE_CHANNEL,), reason="the end of the conversation"),
    Allowed(
        name="mmap",
        numbers=(9, 222),
        when=(_NOT_EXECUTABLE, _PRIVATE_AND_ANONYMOUS),
        reason="memory for objects; never of a file, shared or executable",
    ),
    Allowed(name="munmap", numbers=(11, 215), reason="memory given back"),
    Allowed(name="brk", numbers=(12, 214), reason="memory for small blocks"),
    Allowed(
        name="mprotect",
        numbers=(10, 226),
        when=(_NOT_EXECUTABLE,),
        reason="memory for objects, if the C library is musl",
    ),
    Allowed(name="mremap", numbers=(25, 216), when=(_MAY_MOVE,), reason="large blocks that grow, as lists do"),
    Allowed(
        name="futex",
        numbers=(202, 98),
        when=(_WAIT_OR_WAKE,),
        reason="a lock taken twice; the C library ends the process if this call fails",
    ),
    Allowed(
        name="clock_gettime",
        numbers=(228, 113),
        when=(_COMMON_CLOCK,),
        reason="CPU time, and the other clocks where reading them takes a call",
    ),
    Allowed(name="rt_sigreturn", numbers=(15, 139), reason="the way back from a signal handler"),
    Allowed(name="exit_group", numbers=(231, 94), reason="the end"),
)

FATAL: Final[dict[str, tuple[int, int]]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
}
"""Calls that no library makes by itself, and that have been the way into kernels."""

# The instructions of classic BPF that are needed, and the layout of what a filter looks at.
_LOAD, _AND, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_INSTRUCTION: Final = struct.Struct("<HBBI")
_NUMBER_AT, _PROCESSOR_AT, _ARGUMENTS_AT = 0, 4, 16

_PR_SET_SECCOMP, _FILTER_MODE = 22, 2  # The same as seccomp(2) without flags, and on older kernels too.

_Instruction = tuple[int, int, int, int]
"""Code, how many to skip if it is true, how many if not, operand."""

_Stretch = tuple[int, list[_Instruction]]
"""The first number of some that share a verdict, and that verdict."""

_TO_REFUSAL: Final = -1
_PERMITTED: Final = (_RETURN, 0, 0, 0x7FFF_0000)
_REFUSED: Final = (_RETURN, 0, 0, 0x0005_0000 | errno.EPERM)
_KILLED: Final = (_RETURN, 0, 0, 0x8000_0000)  # The process; kernels before 4.14 end the thread, of which there is one.


def assemble(processor: Processor) -> bytes:
    """The filter for a processor, with `CHANNEL` where the descriptor of the channel belongs."""
    return b"".join(_INSTRUCTION.pack(*instruction) for instruction in _program(processor))


def _program(processor: Processor) -> Iterator[_Instruction]:
    column = PROCESSORS.index(processor)
    verdicts = {allowed.numbers[column]: _verdict(allowed) for allowed in ALLOWED}
    verdicts |= {numbers[column]: [_KILLED] for numbers in FATAL.values()}
    stretches = list(_stretches(verdicts))
    if processor.foreign_from is not None:
        stretches.append((processor.foreign_from, [_KILLED]))
    yield _LOAD, 0, 0, _PROCESSOR_AT
    yield _IF_EQUAL, 1, 0, processor.audit
    yield _KILLED
    yield _LOAD, 0, 0, _NUMBER_AT
    yield from _search(stretches)


def _stretches(verdicts: dict[int, list[_Instruction]]) -> Iterator[_Stretch]:
    """All numbers from 0 on, in stretches that share a verdict."""
    current: list[_Instruction] = []
    for number in sorted({0, *verdicts, *(number + 1 for number in verdicts)}):
        verdict = verdicts.get(number, [_REFUSED])
        if verdict != current:
            yield number, verdict
            current = verdict


def _search(stretches: list[_Stretch]) -> list[_Instruction]:
    """Find the verdict by halving. The kernel tries every number when it takes a filter; a list would be slow."""
    if len(stretches) == 1:
        return stretches[0][1]
    middle = len(stretches) // 2
    lower, upper = _search(stretches[:middle]), _search(stretches[middle:])
    return [(_IF_AT_LEAST, len(lower), 0, stretches[middle][0]), *lower, *upper]


def _verdict(allowed: Allowed) -> list[_Instruction]:
    """What is done with a call of this number. It always ends here: the number is no longer loaded."""
    if not allowed.when:
        return [_PERMITTED]
    checks = [instruction for when in allowed.when for instruction in _check(when)]
    return [
        *(
            (code, hit, len(checks) - index if miss == _TO_REFUSAL else miss, operand)
            for index, (code, hit, miss, operand) in enumerate(checks)
        ),
        _PERMITTED,
        _REFUSED,
    ]


def _check(when: When) -> Iterator[_Instruction]:
    yield _LOAD, 0, 0, _ARGUMENTS_AT + 8 * when.argument  # Both processors put the lower half first.
    if when.mask != _ALL_BITS:
        yield _AND, 0, 0, when.mask
    for others, value in zip(reversed(range(len(when.values))), when.values, strict=True):
        # A hit goes past the other values; a miss goes on to the next of them.
        yield _IF_EQUAL, others, 0 if others else _TO_REFUSAL, value


def this_processor() -> Processor | None:
    """The processor this interpreter was made for, if there is a filter for it."""
    if sys.maxsize < 2**32:
        return None  # A 32-bit interpreter makes other calls than its kernel's name says.
    machine = os.uname().machine
    return next((processor for processor in PROCESSORS if processor.machine == machine), None)


def unavailable() -> str | None:
    """Why there is no filter here, or None. Offers the kernel a filter at no address, which changes nothing."""
    if not sys.platform.startswith("linux"):
        return f"seccomp is part of Linux; this is {sys.platform}"
    if this_processor() is None:
        return f"there is no filter for this processor ({os.uname().machine})"
    install, arguments = _installation(0)
    if install(*arguments) == -1 and (error := last_error()).errno != errno.EFAULT:
        return f"the kernel does not accept filters ({error.strerror})"
    return None


def _installation(program: int) -> Step:
    return bare("prctl"), (_PR_SET_SECCOMP, _FILTER_MODE, long(program))


class Filter:
    """The filter for this machine, assembled in the parent so that a child only has to enter it."""

    def __init__(self) -> None:
        import ctypes

        processor = this_processor()
        if processor is None:
            raise OSError(errno.ENOSYS, unavailable())
        program = assemble(processor)
        self._instructions = (ctypes.c_uint32 * (len(program) // 4)).from_buffer_copy(program)
        """Two words each, the second of which is the operand."""
        channel_at = [index for index, word in enumerate(self._instructions) if index % 2 and word == CHANNEL]
        self._program = ctypes.create_string_buffer(
            struct.pack("@HP", len(program) // _INSTRUCTION.size, ctypes.addressof(self._instructions))
        )
        # In one tuple, because a child copies a page for almost every name that it looks up.
        self._loaded: Final = self._instructions, channel_at, _installation(ctypes.addressof(self._program))

    def steps(self, channel: int) -> tuple[Step]:
        """Enter the filter for good. The process needs `no_new_privs`, which the caller sets."""
        instructions, channel_at, installation = self._loaded
        for index in channel_at:
            instructions[index] = channel
        return (installation,)
