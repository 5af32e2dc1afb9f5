"""The confinement of a child, attacked by code that nothing else holds back: all of Python, ctypes, bare system calls."""

from __future__ import annotations

import errno
import signal
import sys

import pytest
from tests.sampling import sample, whole_only
from tests.sandbox.restricted.attempts import (
    ATTEMPTS,
    ATTEMPTS_OF_USERS,
    BEFORE,
    UNSAFE_WITHOUT_CONFINEMENT,
    refused,
)
from tests.sandbox.restricted.children import CANARY, EVERYTHING, MIB, ROOT, USERS, WORKS, X86, Children

from coilclaw.sandbox.restricted import LAYERS
from coilclaw.sandbox.restricted.child import seccomp

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the layers are Linux's")


@pytest.mark.req("R3", "R4")
@pytest.mark.parametrize(("name", "user"), ATTEMPTS_OF_USERS)
def test_an_attempt_fails_and_the_child_goes_on(children: Children, name: str, user: int | None) -> None:
    answer = children.run(f"value = {ATTEMPTS[name]}", user=user, before=BEFORE)
    assert answer["layers"] == list(LAYERS)
    refused(answer, name)
    assert (children.folder / "secret").read_text() == CANARY


@pytest.mark.parametrize("name", sample(sorted(set(ATTEMPTS) - UNSAFE_WITHOUT_CONFINEMENT), share=4))
def test_the_same_attempt_succeeds_without_confinement(children: Children, name: str) -> None:
    """Otherwise the test above would show nothing."""
    for leftover in children.folder.glob("*"):
        if leftover.name not in ("secret", "sub", "socket"):
            leftover.rmdir() if leftover.is_dir() else leftover.unlink()
    answer = children.run(f"value = {ATTEMPTS[name]}", off=EVERYTHING, before=BEFORE, prepare=False)
    (children.folder / "secret").write_text(CANARY)
    assert answer["layers"] == []
    if not ROOT and answer.get("error", [None])[0] == "PermissionError":
        pytest.skip("only root can do this")
    assert "error" not in answer or answer["error"][1] == errno.EAGAIN, answer


@pytest.mark.req("R3")
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", sample(seccomp.FATAL, share=4))
def test_a_call_that_only_an_attack_makes_ends_the_child(children: Children, name: str, user: int | None) -> None:
    number = seccomp.FATAL[name][0 if X86 else 1]
    answer = children.run(f"value = syscall({number}, 0, 0, 0, 0, 0, 0)", user=user)
    assert answer["exit"] == -signal.SIGSYS
    assert not answer["core"]


@pytest.mark.req("R3")
def test_every_other_system_call_answers_that_it_is_not_permitted(children: Children) -> None:
    column = 0 if X86 else 1
    known = {allowed.numbers[column] for allowed in seccomp.ALLOWED} | {each[column] for each in seccomp.FATAL.values()}
    if X86:
        known |= {335, 336}  # Probes of the kernel: no filter sees them, and a process that calls them by itself dies.
    source = (
        f"value = []\nfor number in range(600):\n    if number not in {known}:\n"
        "        try: value.append([number, syscall(number, 0, 0, 0, 0, 0, 0)])\n"
        "        except OSError as error:\n            if error.errno != 1: value.append([number, error.errno])"
    )
    answer = children.run(source)
    assert answer["value"] == []
    assert answer["after"] == WORKS


@pytest.mark.req("R3")
@pytest.mark.skipif(not X86, reason="needs machine code of this processor")
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("b8 14 00 00 00 cd 80 c3", id="32-bit getpid"),
        pytest.param("b8 27 00 00 40 0f 05 c3", id="x32 getpid"),
        pytest.param("b8 ff ff ff ff 0f 05 c3", id="no call at all"),
    ],
)
def test_calls_of_a_foreign_mode_end_the_child(children: Children, code: str) -> None:
    before = f"call = machine_code(bytes.fromhex({code!r}))"
    assert children.run("value = call()", before=before)["exit"] == -signal.SIGSYS
    assert children.run("value = call()", before=before, off=frozenset({"seccomp"}))["exit"] != -signal.SIGSYS


@pytest.mark.skipif(not X86, reason="needs machine code of this processor")
def test_what_is_readable_is_not_executable_even_if_the_parent_asked_for_it(children: Children) -> None:
    source = """
page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
page.write(bytes.fromhex("b82a000000c3"))
value = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""
    asked = "libc.personality(0x0400000)"
    assert children.run(source, in_parent=asked, off=EVERYTHING)["value"] == 42
    assert children.run(source, in_parent=asked)["exit"] == -signal.SIGSEGV


def test_the_channel_works_until_it_is_closed(children: Children) -> None:
    assert children.run("value = os.write(channel, b'')")["value"] == 0
    answer = children.run("os.close(channel)\nos.write(channel, b'x')")
    assert answer["exit"] != 0  # It has nobody to report to.


# Limits ---------------------------------------------------------------------------------------------------

FILL = "held = []\ntry:\n    while True: held.append({})\nexcept MemoryError:\n    value = len(held); held.clear()"


@pytest.mark.req("R3")
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("memory", [64 * MIB, pytest.param(300 * MIB, marks=whole_only)])
@pytest.mark.parametrize(
    ("block", "size"), [("bytearray(2**20)", 2**20), ("[0] * 1000", 8056), ("str(len(held)) * 2", 60)]
)
def test_memory_beyond_the_limit_is_a_memory_error(
    children: Children, block: str, size: int, memory: int, user: int | None
) -> None:
    answer = children.run(FILL.format(block), memory_bytes=memory, user=user, cpu_seconds=60)
    assert answer["exit"] == 0
    assert 0.5 * memory < answer["value"] * size < 1.2 * memory
    assert answer["after"] == WORKS


@pytest.mark.parametrize(
    "source", ["value = bytes(10**12)", "value = 'x' * 2**40", "value = [0] * 2**33", "value = 1 << 10**11"]
)
def test_one_block_that_is_too_large_is_a_memory_error(children: Children, source: str) -> None:
    answer = children.run(source, memory_bytes=300 * MIB)
    assert answer["error"][0] == "MemoryError"
    assert answer["after"] == WORKS


def test_memory_is_counted_from_the_fork(children: Children) -> None:
    """A large parent leaves its children as much as a small one."""
    values = [
        children.run(FILL.format("bytearray(2**20)"), in_parent=parent)["value"]
        for parent in ("", "KEPT.append(bytearray(500 * 2**20))")
    ]
    assert abs(values[0] - values[1]) <= 4


def test_without_rlimits_memory_is_not_bounded(children: Children) -> None:
    answer = children.run("value = len(bytearray(200 * 2**20))", off=frozenset({"rlimits"}))
    assert answer["value"] == 200 * MIB


@pytest.mark.req("R3")
def test_the_stack_is_no_way_around_the_limit(children: Children) -> None:
    answer = children.run("import sys\nsys.setrecursionlimit(10**9)\nf = lambda: f()\nf()", cpu_seconds=20)
    assert answer["exit"] in (0, -signal.SIGSEGV)
    assert "value" not in answer


@pytest.mark.req("R3")
@pytest.mark.parametrize(
    ("before", "end"), [("", signal.SIGXCPU), ("signal.signal(signal.SIGXCPU, signal.SIG_IGN)", signal.SIGKILL)]
)
def test_computing_for_too_long_ends_the_child(children: Children, before: str, end: int) -> None:
    answer = children.run("while True: pass", before=before, cpu_seconds=1)
    assert answer["exit"] == -end
    assert 0.5 < answer["cpu"] < 4


def test_a_crash_leaves_no_core(children: Children) -> None:
    raised = "resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)"
    for source in ("os.abort()", "ctypes.string_at(8)"):
        answer = children.run(source, in_parent=raised)
        assert answer["exit"] < 0
        assert not answer["core"]
