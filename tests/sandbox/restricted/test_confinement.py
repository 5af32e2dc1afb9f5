"""The confinement of a child, attacked by code that nothing else holds back: all of Python, ctypes, bare system calls."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.sampling import sample, whole_only

from coilclaw.confinement import landlock
from coilclaw.sandbox.restricted import LAYERS, survey
from coilclaw.sandbox.restricted.child import confinement, limits, privileges, seccomp

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the layers are Linux's")

MIB = 1024 * 1024
CANARY = "canary-4f1c"
NOBODY = 65534
ROOT = os.getuid() == 0
USERS = [pytest.param(None, id="root"), pytest.param(1234, id="user")] if ROOT else [pytest.param(None, id="user")]
EVERYTHING = frozenset(LAYERS)
MACHINE = os.uname().machine
X86 = MACHINE == "x86_64"

NUMBERS = {
    "clone": (56, 220), "clone3": (435, 435), "execveat": (322, 281), "tgkill": (234, 131),
    "pidfd_open": (434, 434), "openat2": (437, 437), "mprotect": (10, 226),
    "pkey_mprotect": (329, 288), "memfd_create": (319, 279), "shmget": (29, 194),
    "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180), "mq_unlink": (241, 181), "shmctl": (31, 195), "semctl": (66, 191),
    "msgctl": (71, 187), "personality": (135, 92),
    "unshare": (272, 97), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "prctl": (157, 167), "seccomp": (317, 277), "inotify_init1": (294, 26), "fanotify_init": (300, 262),
    "landlock_create_ruleset": (444, 444), "futex": (202, 98), "clock_gettime": (228, 113), "clock_settime": (227, 112),
    "capset": (126, 91), "open_by_handle_at": (304, 265),
    "fsopen": (430, 430), "mmap": (9, 222), "rt_sigqueueinfo": (129, 138),
    "sethostname": (170, 161), "reboot": (169, 142),
}  # fmt: skip
NAMED = {name: numbers[0 if X86 else 1] for name, numbers in NUMBERS.items()}


class Children:
    """A process that makes confined children on request."""

    def __init__(self, folder: Path, port: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).with_name("confined_child.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"COILCLAW_CANARY": CANARY},
            text=True,
        )
        self.folder = folder
        self.names = {
            "folder": str(folder),
            "secret": str(folder / "secret"),
            "port": port,
            "NR": NAMED,
            "CANARY": CANARY,
        }

    def run(
        self,
        source: str,
        *,
        off: frozenset[str] = frozenset(),
        user: int | None = None,
        before: str = "",
        in_parent: str = "",
        memory_bytes: int = 64 * MIB,
        cpu_seconds: int = 10,
        prepare: bool = True,
        channel: int | None = None,
    ) -> dict[str, Any]:
        request = {
            "source": source, "off": sorted(off), "user": user, "before": before, "in_parent": in_parent,
            "memory_bytes": memory_bytes, "cpu_seconds": cpu_seconds, "prepare": prepare, "names": self.names,
            "channel": channel,
        }  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline().strip() or "{}")
        assert "broken" not in answer, answer
        return answer

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    folder = Path(tempfile.mkdtemp(prefix="coilclaw-confinement-"))
    folder.chmod(0o777)
    (folder / "secret").write_text(CANARY)
    (folder / "secret").chmod(0o666)
    (folder / "sub").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(folder / "socket"))
        local.listen()
        (folder / "socket").chmod(0o777)
        made = Children(folder, server.getsockname()[1])
        yield made
        made.close()
    shutil.rmtree(folder)


WORKS: list[Any] = [
    {"a": [1, None, "é"]},
    ["1", "22"],
    "0.3333333333333333333333333333",
    19999900000,
    8 * MIB,
    "as usual",
    True,
]
"""What `legitimate` of the child returns when all is well."""

# What must fail -------------------------------------------------------------------------------------------

FILES = {
    "read": "os.open(secret, os.O_RDONLY)",
    "read by name": "open(secret).read()",
    "write": "os.open(secret, os.O_WRONLY)",
    "create": "os.open(folder + '/made', os.O_CREAT | os.O_WRONLY)",
    "temporary": "os.open(folder, os.O_TMPFILE | os.O_RDWR)",
    "path only": "os.open(secret, os.O_PATH)",
    "folder": "os.open('/', os.O_RDONLY | os.O_DIRECTORY)",
    "openat2": "syscall(NR['openat2'], -100, secret.encode(), bytes(24), 24)",
    "list": "os.listdir('/')",
    "stat": "os.stat(secret)",
    "access": "os.access(secret, os.R_OK) or os.chdir('/')",  # Says False instead of raising.
    "readlink": "os.readlink('/proc/self/exe')",
    "getcwd": "os.getcwd()",
    "chdir": "os.chdir('/')",
    "mkdir": "os.mkdir(folder + '/made-folder')",
    "rmdir": "os.rmdir(folder + '/sub')",
    "rename": "os.rename(secret, secret + '2'); os.rename(secret + '2', secret)",
    "link": "os.link(secret, folder + '/hard')",
    "symlink": "os.symlink('nowhere', folder + '/soft')",
    "chmod": "os.chmod(secret, 0o666)",
    "truncate": "os.truncate(secret, 100)",
    "fifo": "os.mkfifo(folder + '/fifo')",
    "utime": "os.utime(secret)",
    "statvfs": "os.statvfs('/')",
    "xattr": "os.listxattr(secret)",
    "environment": "open('/proc/self/environ', 'rb').read()",
    "own memory": "open('/proc/self/mem', 'rb+')",
    "maps": "open('/proc/self/maps').read()",
    "urandom": "open('/dev/urandom', 'rb')",
}
SOCKETS = {
    "inet": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "unix": "socket.socket(socket.AF_UNIX)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "pair": "socket.socketpair()",
    "connect": "socket.create_connection(('127.0.0.1', port)).close()",
    "connect unix": "socket.socket(socket.AF_UNIX).connect(folder + '/socket')",
    "resolve": "socket.create_connection(('localhost', port)).close()",
    "server": "socket.create_server(('127.0.0.1', 0))",
}
PROCESSES = {
    "fork": "os.fork() or os._exit(0)",
    "clone": "syscall(NR['clone'], 17, 0, 0, 0, 0) or os._exit(0)",
    "clone3": "syscall(NR['clone3'], bytes(32) + (17).to_bytes(8, 'little') + bytes(24), 64) or os._exit(0)",
    "exec": "os.execv('/bin/true', ['true'])",
    "execveat": "syscall(NR['execveat'], -100, b'/bin/true', 0, 0, 0)",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "thread": "threading.Thread(target=int).start()",
}
OTHERS = {
    "signal the parent": "os.kill(target, 0)",
    "signal the group": "os.killpg(group, 0)",
    "tgkill": "syscall(NR['tgkill'], target, target, 0)",
    "queue a signal": "syscall(NR['rt_sigqueueinfo'], target, 0, (0).to_bytes(4, 'little') + bytes(4) + (-1).to_bytes(4, 'little', signed=True) + bytes(116))",
    "pidfd": "syscall(NR['pidfd_open'], target, 0)",
    "limits of another": "resource.prlimit(target, resource.RLIMIT_CPU)",
    "priority of another": "os.getpriority(os.PRIO_PROCESS, target)",
    "session": "os.getsid(target)",
    "its CPU clock": "syscall(NR['clock_gettime'], (~target << 3 | 2) & 0xFFFFFFFF, bytearray_address)",
}
MEMORY = {
    "executable": "mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_EXEC)",
    "made executable": "syscall(NR['mprotect'], page, 4096, 5)",
    "made executable with a key": "syscall(NR['pkey_mprotect'], page, 4096, 5, -1)",
    "shared": "mmap.mmap(-1, 4096)",
    "of the channel": "syscall(NR['mmap'], 0, 4096, 1, 2, channel, 0)",
    "anonymous file": "syscall(NR['memfd_create'], b'x', 0)",
    # Each is removed again, in case it can be made.
    "shared segment": "syscall(NR['shmctl'], syscall(NR['shmget'], 0, 4096, 0o1600), 0, 0)",
    "semaphores": "syscall(NR['semctl'], syscall(NR['semget'], 0, 1, 0o1600), 0, 0)",
    "messages": "syscall(NR['msgctl'], syscall(NR['msgget'], 0, 0o1600), 0, 0)",
    "message queue": "syscall(NR['mq_open'], b'coilclaw-test', 0o102, 0o600, 0), syscall(NR['mq_unlink'], b'coilclaw-test')",
    "readable is executable": "syscall(NR['personality'], 0x0400000)",
}
CHANNEL = {
    "dup": "os.dup(channel)",
    "dup2": "os.dup2(channel, 9)",
    "duplicate by fcntl": "fcntl.fcntl(channel, 0, 5)",
    "flags": "os.set_blocking(channel, False)",
    "owner of its signals": "fcntl.fcntl(channel, 8, target)",
    "ioctl": "fcntl.ioctl(channel, 0x541B, bytes(4))",
    "pass a descriptor": "socket.send_fds(over, [b'x'], [channel])",
    "receive descriptors": "over.recvmsg(1, 64, socket.MSG_DONTWAIT)",
    "send": "over.send(b'')",
    "urgent data": "over.recv(1, socket.MSG_OOB | socket.MSG_DONTWAIT)",
    "who is there": "over.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)",
    "its name": "over.getpeername()",
    "writev": "os.writev(channel, [b''])",
    "stat": "os.fstat(channel)",
    "other descriptor": "os.read(0, 0)",
    "no descriptor": "os.write(2, b'')",
}
KERNEL = {
    "setuid": "os.setuid(0)",
    "setgroups": "os.setgroups([0])",
    "capabilities": "syscall(NR['capset'], (0x20080522).to_bytes(4, 'little') + bytes(4), b'\\xff' * 24)",
    "raise a limit": "resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))",
    "ask for a limit": "resource.getrlimit(resource.RLIMIT_AS)",
    "user namespace": "syscall(NR['unshare'], 0x10000000)",
    "mount namespace": "syscall(NR['unshare'], 0x20000)",
    "mount": "syscall(NR['mount'], b'none', folder.encode(), b'tmpfs', 0, 0)",
    "unmount": "syscall(NR['umount2'], b'/nonexistent', 0)",
    "new mount": "syscall(NR['fsopen'], b'tmpfs', 0)",
    "chroot": "os.chroot('/')",
    "pivot_root": "syscall(NR['pivot_root'], b'.', b'.')",
    "seccomp by prctl": "syscall(NR['prctl'], 22, 2, 0)",
    "seccomp": "syscall(NR['seccomp'], 1, 0, 0)",
    "dumpable": "syscall(NR['prctl'], 4, 1, 0, 0, 0)",
    "forget the parent": "syscall(NR['prctl'], 1, 0, 0, 0, 0)",
    "landlock": "syscall(NR['landlock_create_ruleset'], 0, 0, 1)",
    "inotify": "syscall(NR['inotify_init1'], 0)",
    "fanotify": "syscall(NR['fanotify_init'], 0, 0)",
    "epoll": "select.epoll()",
    "pipe": "os.pipe()",
    "shared futex": "syscall(NR['futex'], page, 1, 1, 0, 0, 0)",
    "timer": "signal.setitimer(signal.ITIMER_REAL, 1000)",
    "signal handler": "signal.signal(signal.SIGXCPU, signal.SIG_IGN)",
    "name of the machine": "os.uname()",
    "set the clock": "syscall(NR['clock_settime'], 0, 0)",
    "name the machine": "syscall(NR['sethostname'], b'x', 1)",
    "a handle of a file": "syscall(NR['open_by_handle_at'], -100, bytes(8), 0)",
    "affinity": "os.sched_setaffinity(0, {0})",
    "new session": "os.setsid()",
    "reboot": "syscall(NR['reboot'], 0, 0, 0, 0)",
}
ATTEMPTS = {
    f"{group}: {name}": source
    for group, attempts in {
        "files": FILES, "sockets": SOCKETS, "processes": PROCESSES, "others": OTHERS, "memory": MEMORY,
        "channel": CHANNEL, "kernel": KERNEL,
    }.items()
    for name, source in attempts.items()
}  # fmt: skip

BEFORE = """
target, group = os.getppid(), os.getpgrp()
over = socket.socket(fileno=channel)
page = libc.valloc; page.restype = ctypes.c_void_p; page = page(4096)
bytearray_address = page
KEPT.append(over)
"""
"""An attacker with native code knows all this and needs no call for it."""

REFUSED_OTHERWISE = {
    "processes: thread": "RuntimeError",
    "sockets: resolve": "gaierror",
    "kernel: raise a limit": "ValueError",
}
"""Where Python makes something else of EPERM."""

UNSAFE_WITHOUT_CONFINEMENT = {
    "files: rename", "kernel: mount", "kernel: unmount", "kernel: chroot", "kernel: pivot_root", "kernel: reboot",
    "kernel: set the clock", "kernel: name the machine", "kernel: seccomp by prctl", "kernel: seccomp",
    "kernel: a handle of a file", "kernel: capabilities", "files: rmdir", "kernel: new session", "memory: of the channel",
    "processes: exec", "processes: execveat", "channel: urgent data",
}  # fmt: skip
"""Would change the machine, or fails there for another reason."""


def refused(answer: dict[str, Any], name: str = "") -> None:
    """The attempt failed with EPERM, and the child is alive and well."""
    assert answer["exit"] == 0, answer
    kind, number, _ = answer["error"]
    assert kind == REFUSED_OTHERWISE[name] if name in REFUSED_OTHERWISE else number == errno.EPERM, answer
    assert answer["after"] == WORKS, answer


ATTEMPTS_OF_USERS = [
    pytest.param(name, *user.values, id=f"{name}-{user.id}")
    for name, user in sample(itertools.product(ATTEMPTS, USERS), share=4)
]


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


# Each layer by itself -------------------------------------------------------------------------------------


def alone(children: Children, layer: str, source: str, **more: Any) -> dict[str, Any]:
    answer = children.run(source, off=EVERYTHING - {layer}, **{"before": BEFORE, **more})
    assert answer["layers"] == [layer], answer
    assert answer.get("after") == WORKS, answer
    return answer


HELD_BY_LANDLOCK = [
    *(f"files: {name}" for name in FILES
      if name not in ("path only", "stat", "access", "readlink", "getcwd", "chdir", "chmod", "utime", "statvfs", "xattr",
                      "rename")),
    "processes: exec", "processes: execveat", "processes: spawn", "sockets: connect", "sockets: server",
    *(("others: signal the parent", "others: tgkill") if landlock.version() >= 6 else ()),
]  # fmt: skip


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", sample(HELD_BY_LANDLOCK, share=2))
def test_landlock_alone_holds_files_tcp_and_signals(children: Children, name: str, user: int | None) -> None:
    answer = alone(children, "landlock", f"value = {ATTEMPTS[name]}", user=user)
    assert answer["error"][1] in (errno.EACCES, errno.EPERM), answer


@pytest.mark.parametrize(("name", "user"), ATTEMPTS_OF_USERS)
def test_seccomp_alone_holds_everything(children: Children, name: str, user: int | None) -> None:
    refused(alone(children, "seccomp", f"value = {ATTEMPTS[name]}", user=user), name)


def test_descriptors_alone_leave_the_channel_and_nothing_else(children: Children) -> None:
    in_parent = "spare = os.dup(0); os.dup2(spare, 900)"
    answer = alone(children, "descriptors", "value = os.listdir('/proc/self/fd')", in_parent=in_parent, before="")
    assert len(answer["value"]) == 2  # The channel, and the listing itself.
    left = children.run("value = os.listdir('/proc/self/fd')", in_parent=in_parent, off=EVERYTHING)["value"]
    assert "900" in left


def test_descriptors_are_closed_one_by_one_where_there_is_no_better_way(children: Children) -> None:
    without = "def missing(*_): raise OSError(errno.ENOSYS, 'no')\nconfinement.syscall = missing; os.dup2(0, 900)"
    answer = children.run("value = 1", in_parent=without)
    assert answer["layers"] == list(LAYERS)
    answer = alone(children, "descriptors", "value = os.listdir('/proc/self/fd')", in_parent=without, before="")
    assert len(answer["value"]) == 2


@pytest.mark.parametrize("prepare", [True, False])
def test_the_environment_alone_is_empty_wherever_one_looks(children: Children, prepare: bool) -> None:
    look = "value = [dict(os.environ), libc.getenv(b'COILCLAW_CANARY'), CANARY in open('/proc/self/environ').read()]"
    assert alone(children, "environment", look, prepare=prepare)["value"] == [{}, 0, False]
    assert children.run(look, off=EVERYTHING)["value"][2] is True


IDENTITY = """
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
value = {key: status[key].split() for key in ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")}
"""


@pytest.mark.skipif(not ROOT, reason="only root has privileges to give up")
@pytest.mark.parametrize("prepare", [True, False])
def test_root_alone_becomes_nobody_without_capabilities(children: Children, prepare: bool) -> None:
    value = alone(children, "user", IDENTITY, prepare=prepare, in_parent="os.setgroups([4, 27])")["value"]
    assert value["Uid"] == value["Gid"] == [str(NOBODY)] * 4
    assert value["Groups"] == []
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(value[kind][0], 16) == 0
    for attempt in ("os.setuid(0)", "os.setgroups([0])", "os.chroot('/')"):
        assert alone(children, "user", attempt)["error"][0] == "PermissionError"
    (children.folder / "root-only").write_text("x")
    (children.folder / "root-only").chmod(0o600)
    assert alone(children, "user", "open(folder + '/root-only')")["error"][1] == errno.EACCES


@pytest.mark.skipif(not ROOT, reason="needs another user")
def test_a_user_stays_who_he_is(children: Children) -> None:
    value = alone(children, "user", IDENTITY, user=1234)["value"]
    assert value["Uid"] == ["1234"] * 4
    assert int(value["CapEff"][0], 16) == int(value["CapInh"][0], 16) == 0


@pytest.mark.parametrize("prepare", [True, False])
def test_no_new_privs_alone_is_set_and_memory_is_private(children: Children, prepare: bool) -> None:
    source = IDENTITY + "value['dumpable'] = libc.prctl(3, 0, 0, 0, 0)"
    value = alone(children, "no_new_privs", source, prepare=prepare)["value"]
    assert value["NoNewPrivs"] == ["1"]
    assert value["dumpable"] == 0


@pytest.mark.parametrize("user", USERS)
def test_a_child_dies_with_its_parent(children: Children, user: int | None) -> None:
    """The child holds the pipe on which its parent would have answered: the answer ends when the child does."""
    off = frozenset({"descriptors", "seccomp"})
    # A child that lived on would compute for longer than this test may take.
    assert children.run("while True: pass", in_parent="signal.alarm(1)", off=off, user=user, cpu_seconds=600) == {}


def test_a_child_whose_parent_is_gone_does_not_start(children: Children) -> None:
    before = "pid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n    os._exit(0)"
    answer = children.run("value = 1", before=before)
    assert answer["failed"][0] == "no_new_privs"
    assert "value" not in answer


@pytest.mark.parametrize("name", ["files: read", "channel: dup", "kernel: pipe", "sockets: inet"])
def test_rlimits_alone_allow_no_further_descriptor(children: Children, name: str) -> None:
    # To duplicate one is to ask for a number, which is not among those that are allowed.
    expected = errno.EINVAL if name == "channel: dup" else errno.EMFILE
    assert alone(children, "rlimits", f"value = {ATTEMPTS[name]}")["error"][1] == expected


def test_rlimits_alone_allow_no_byte_of_a_file(children: Children) -> None:
    before = "opened = os.open(folder + '/grows', os.O_CREAT | os.O_WRONLY)"
    assert alone(children, "rlimits", "os.write(opened, b'x')", before=before)["error"][1] == errno.EFBIG


@pytest.mark.parametrize("prepare", [True, False])
def test_rlimits_alone_leave_nothing_to_raise(children: Children, prepare: bool) -> None:
    kinds = ["CORE", "MEMLOCK", "MSGQUEUE", "NPROC", "FSIZE", "NOFILE", "STACK", "AS", "CPU"]
    source = f"value = [resource.getrlimit(getattr(resource, 'RLIMIT_' + kind)) for kind in {kinds}]"
    limits = dict(zip(kinds, alone(children, "rlimits", source, prepare=prepare)["value"], strict=True))
    assert all(limits[kind] == [0, 0] for kind in kinds[:6])
    assert limits["STACK"][0] == limits["STACK"][1]
    assert limits["AS"][0] == limits["AS"][1] > 0
    assert limits["CPU"] == [10, 11]


@pytest.mark.parametrize("name", ["processes: fork", "processes: thread"])
def test_rlimits_alone_allow_a_user_no_process(children: Children, name: str) -> None:
    user = 1234 if ROOT else None  # The kernel does not count root's.
    answer = alone(children, "rlimits", f"value = {ATTEMPTS[name]}", user=user)
    assert answer["error"][0] in ("BlockingIOError", "RuntimeError")


# What apply and survey say --------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_that_is_off_is_not_active(children: Children, layer: str) -> None:
    answer = children.run("value = 1", off=frozenset({layer}))
    assert answer["layers"] == [name for name in LAYERS if name != layer]
    assert answer["after"] == WORKS
    assert [each.name for each in survey({layer}) if each.state == "off"] == [layer]


def test_a_layer_that_fails_is_named_and_nothing_runs(children: Children) -> None:
    broken = "def broken(): yield libc.prctl, (-1,)\nconfinement.landlock.steps = broken"
    assert children.run("value = 1", in_parent=broken)["failed"][0] == "landlock"
    broken = "def broken(): yield os.setuid, (0,)\nprivileges.steps = broken"
    assert children.run("value = 1", in_parent=broken, user=1234 if ROOT else None)["failed"][0] == "user"


@pytest.mark.parametrize("number", [0, 1, 5, 700])
def test_any_descriptor_can_be_the_channel(children: Children, number: int) -> None:
    """The number is part of the filter; the answer comes over it."""
    answer = children.run(f"value = os.write({number}, b'')", channel=number)
    assert answer["layers"] == list(LAYERS)
    assert answer["value"] == 0
    refused(children.run(f"os.write({number + 1}, b'')", channel=number))


def test_no_memory_or_no_time_is_a_mistake(children: Children) -> None:
    with pytest.raises(AssertionError, match="a child needs memory and time"):
        children.run("value = 1", memory_bytes=0)


def test_survey_changes_nothing_even_with_threads() -> None:
    before = Path("/proc/self/status").read_text()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(survey()))
    thread.start()
    thread.join()
    after = Path("/proc/self/status").read_text()
    for key in ("Uid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"):
        assert [line for line in before.splitlines() if line.startswith(key)] == [
            line for line in after.splitlines() if line.startswith(key)
        ]
    assert [layer.name for layer in found] == list(LAYERS)
    assert {layer.state for layer in found} == {"active"}
    assert all(layer.detail for layer in found)


def test_an_unknown_layer_cannot_be_off() -> None:
    with pytest.raises(ValueError, match="there is no layer apparmor; the layers are rlimits"):
        survey(["apparmor"])


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSYS, "older than 5.13"),
        (errno.EOPNOTSUPP, "disabled at boot"),
        (errno.EPERM, "container"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_landlock_says_why_it_is_missing(monkeypatch: pytest.MonkeyPatch, number: int, reason: str) -> None:
    def refuse(*_: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(landlock, "syscall", refuse)
    layer = next(layer for layer in survey() if layer.name == "landlock")
    assert layer.state == "unavailable"
    assert reason in layer.detail


def test_landlock_takes_every_right_of_the_kernel() -> None:
    files, ports, scopes = landlock.rights()
    version = landlock.version()
    known = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16}
    assert files == 2 ** known[version] - 1 if version in known else files >= 2**16 - 1
    assert (ports >= 3) == (version >= 4)
    assert (scopes >= 3) == (version >= 6)


def test_seccomp_says_why_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "PROCESSORS", ())
    assert "no filter for this processor" in str(seccomp.unavailable())
    monkeypatch.undo()
    monkeypatch.setattr(seccomp, "_PR_SET_SECCOMP", 9999)
    assert "does not accept filters" in str(seccomp.unavailable())


@pytest.mark.parametrize(
    ("held", "table", "reason"),
    [
        (0, "0 0 4294967295", "without CAP_SETUID"),
        (1 << 7, "0 0 4294967295", "without CAP_SETGID"),
        (0b11 << 6, "0 1000 1", "does not exist in this user namespace"),
    ],
)
def test_root_that_cannot_change_users_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, held: int, table: str, reason: str
) -> None:
    (tmp_path / "map").write_text(table)
    monkeypatch.setattr(privileges, "_is_root", lambda: True)
    monkeypatch.setattr(privileges, "capabilities", lambda: held)
    monkeypatch.setattr(privileges, "_MAPS", (str(tmp_path / "map"),))
    available, detail = privileges.state_of_user()
    assert not available
    assert reason in detail


def test_other_systems_have_what_posix_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    for module in (confinement, limits, privileges):
        monkeypatch.setattr(module, "_ON_LINUX", False)
    layers = {layer.name: layer for layer in survey()}
    assert [name for name, layer in layers.items() if layer.state == "unavailable"] == [
        "no_new_privs",
        "landlock",
        "seccomp",
    ]
    assert all("darwin" in layer.detail for layer in layers.values() if layer.state == "unavailable")
    assert "does not bound memory" in layers["rlimits"].detail


def test_a_child_of_another_system_has_what_posix_has(children: Children) -> None:
    pretend = "sys.platform = 'darwin'\nfor module in (confinement, limits, privileges): module._ON_LINUX = False"
    answer = children.run("value = len(os.listdir('/proc/self/fd'))", in_parent=pretend, off=frozenset({"rlimits"}))
    assert answer["layers"] == ["environment", "descriptors", "user"]
    assert answer["value"] == 2
    answer = children.run("os.open(secret, os.O_RDONLY)", in_parent=pretend)
    assert answer["layers"] == ["rlimits", "environment", "descriptors", "user"]
    assert answer["error"][1] == errno.EMFILE


def test_windows_has_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    assert {layer.state for layer in survey()} == {"unavailable"}
