"""The filter itself, interpreted: for both processors, whichever of them runs the tests."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from coilclaw.sandbox.restricted.child import seccomp
from coilclaw.sandbox.restricted.child.seccomp import ALLOWED, CHANNEL, FATAL, PROCESSORS, Processor

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
UPPER_HALF = 0xABCD << 32
"""What a program may have left in the upper half of a register."""

X86_64, AARCH64 = PROCESSORS
MMAP, MPROTECT, MREMAP, FUTEX, CLOCK = (9, 222), (10, 226), (25, 216), (202, 98), (228, 113)
READ, RECEIVE = (0, 63), (45, 207)


def verdict(processor: Processor, number: int, *arguments: int, audit: int | None = None) -> int:
    """What the kernel would do with a call: a machine with one register, and jumps that only go forward."""
    data = struct.pack("<IIQ6Q", number, processor.audit if audit is None else audit, 0, *(*arguments, *[0] * 6)[:6])
    program = list(struct.iter_unpack("<HBBI", seccomp.assemble(processor)))
    register, at = 0, 0
    while True:
        code, if_true, if_false, operand = program[at]
        at += 1
        if code == 0x20:
            (register,) = struct.unpack_from("<I", data, operand)
        elif code == 0x54:
            register &= operand
        elif code == 0x15:
            at += if_true if register == operand else if_false
        elif code == 0x35:
            at += if_true if register >= operand else if_false
        else:
            assert code == 0x06
            return int(operand)


def column(processor: Processor) -> int:
    return PROCESSORS.index(processor)


@pytest.mark.req("R3")
@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda each: each.machine)
def test_every_number_has_the_verdict_of_the_lists(processor: Processor) -> None:
    bare = {each.numbers[column(processor)] for each in ALLOWED if not each.when}
    conditional = {each.numbers[column(processor)] for each in ALLOWED if each.when}
    fatal = {numbers[column(processor)] for numbers in FATAL.values()}
    for number in range(2000):
        # No descriptor, memory that is executable, a clock of another process, no operation: nothing that a condition allows.
        expected = ALLOW if number in bare else KILL if number in fatal else REFUSE
        assert verdict(processor, number, 0xFFFFFFF8, 0xFF, 7, 0xFF) == expected, number
    assert bare.isdisjoint(conditional)
    assert fatal.isdisjoint(bare | conditional)


@pytest.mark.req("R3")
@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda each: each.machine)
def test_calls_of_another_processor_are_fatal(processor: Processor) -> None:
    others = {0x40000003, 0x40000028, 0xC000003E, 0xC00000B7, 0} - {processor.audit}  # i386, ARM, and each other.
    for number in range(500):
        for audit in others:
            assert verdict(processor, number, CHANNEL, audit=audit) == KILL


def test_numbers_of_x32_are_fatal() -> None:
    for number in (0x40000000, 0x40000001, 0x40000000 + 231, 0x7FFFFFFF, 0xFFFFFFFF):
        assert verdict(X86_64, number, CHANNEL) == KILL


@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda each: each.machine)
@pytest.mark.parametrize(
    ("numbers", "arguments", "allowed"),
    [
        (READ, (CHANNEL,), True),
        (READ, (CHANNEL | UPPER_HALF,), True),
        (READ, (CHANNEL + 1,), False),
        (READ, (0,), False),
        (RECEIVE, (CHANNEL, 0, 0, 0x40), True),
        (RECEIVE, (CHANNEL, 0, 0, 0x41), False),
        (RECEIVE, (CHANNEL, 0, 0, 0x2040), False),
        (RECEIVE, (CHANNEL, 0, 0, 0), False),
        (RECEIVE, (1, 0, 0, 0x40), False),
        (MMAP, (0, 4096, 0, 0x22), True),
        (MMAP, (0, 4096, 3, 0x22), True),
        (MMAP, (0, 4096, 3 | UPPER_HALF, 0x22 | UPPER_HALF), True),
        (MMAP, (0, 4096, 4, 0x22), False),
        (MMAP, (0, 4096, 7, 0x22), False),
        (MMAP, (0, 4096, 1 | 4 | UPPER_HALF, 0x22), False),
        (MMAP, (0, 4096, 3, 0x21), False),
        (MMAP, (0, 4096, 3, 0x02), False),
        (MMAP, (0, 4096, 3, 0x32), False),
        (MMAP, (0, 4096, 3, 0x4022), False),
        (MPROTECT, (0, 4096, 3), True),
        (MPROTECT, (0, 4096, 5), False),
        (MPROTECT, (0, 4096, 1 << 24 | 3), False),
        (MREMAP, (0, 4096, 8192, 1), True),
        (MREMAP, (0, 4096, 8192, 3), False),
        (FUTEX, (0, 0x80), True),
        (FUTEX, (0, 0x81), True),
        (FUTEX, (0, 0x189), True),
        (FUTEX, (0, 0x8A), True),
        (FUTEX, (0, 0x00), False),
        (FUTEX, (0, 0x86), False),
        (FUTEX, (0, 0x8B), False),
        (CLOCK, (0,), True),
        (CLOCK, (2,), True),
        (CLOCK, (0xFFFFFFFE,), False),
        (CLOCK, (16,), False),
    ],
)
def test_arguments_decide(
    processor: Processor, numbers: tuple[int, int], arguments: tuple[int, ...], allowed: bool
) -> None:
    assert verdict(processor, numbers[column(processor)], *arguments) == (ALLOW if allowed else REFUSE)


def test_each_entry_has_its_reason_and_a_name_of_its_own() -> None:
    assert all(each.reason for each in ALLOWED)
    names = [*(each.name for each in ALLOWED), *FATAL]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("processor", "header"),
    [
        (X86_64, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        (AARCH64, "/usr/include/asm-generic/unistd.h"),
    ],
    ids=["x86_64", "aarch64"],
)
def test_the_numbers_are_those_of_the_kernel(processor: Processor, header: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"{header} is not installed")
    numbers = dict(re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", Path(header).read_text()))
    for name, ours in [*((each.name, each.numbers) for each in ALLOWED), *FATAL.items()]:
        assert int(numbers[name]) == ours[column(processor)], name


def test_jumps_fit_into_their_byte() -> None:
    for processor in PROCESSORS:
        assert len(seccomp.assemble(processor)) // 8 < 256
