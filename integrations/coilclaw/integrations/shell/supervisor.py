"""The small process between CoilClaw and a program: it confines the program, and leaves nothing of it behind.

Run as a file, on a bare interpreter: `python -I -S supervisor.py STATUS FOLDER`, two inherited descriptors. It
reads one line of JSON from its input (an `Order`), starts the program, and ends everything when that ends, when
the time is up, or when its input is closed, which is what happens when the process that started it dies.

Nothing survives, whatever it does. Where the system allows it the program lives in a PID namespace, which the
kernel empties as a whole. Elsewhere this process is the one that orphans are handed to, and it kills its
descendants until there are none.

On Linux with Landlock the kernel also holds the program to the rules: files of the workspace, system folders
for reading, and only the allowed programs can be started. The verdict about a command does not rely on it.
"""

# pathlib would be most of the time that this process takes to start.
# ruff: noqa: PTH110, PTH112, PTH116, PTH123, PTH208

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import resource
import select
import signal
import struct
import sys
import time
from typing import Any

__all__ = ["main"]

_SET_PDEATHSIG, _SET_NO_NEW_PRIVS, _SET_CHILD_SUBREAPER = 1, 38, 36
_NEW_USER, _NEW_PID = 0x10000000, 0x20000000
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # The same on every processor but Alpha.
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK, _TRUNCATE = 1 << 6, 1 << 11, 1 << 14
_KNOWN_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_RIGHTS = (1 << 16) - 1
_NO_SIGNALS_NO_SOCKETS = 0b11
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
_SETTINGS = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime", "/etc/timezone", "/etc/alternatives", "/etc/ssl",
    "/etc/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/magic", "/etc/mime.types",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_MOST_PROCESSES = 256
_ON_LINUX = sys.platform == "linux"


def main(status: int, folder: int) -> None:
    """Run one order and write what became of it, as JSON, to the status descriptor."""
    order = json.loads(sys.stdin.buffer.readline())
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    libc = ctypes.CDLL(None, use_errno=True) if _ON_LINUX else None
    if libc is not None:
        libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    apart = libc is not None and order["namespace"] and _enter_namespace(libc)
    ends = time.monotonic() + order["seconds"]
    child = os.fork()
    if child == 0:
        _as_child(order, folder, libc, apart)
    for output in (1, 2):
        os.close(output)  # So that the reader sees the end when the last of its processes is gone.
    code, timed_out = _awaited(child, woken, ends)
    _end_everything(child)
    os.write(status, json.dumps({"exit_code": code, "timed_out": timed_out}).encode())
    os._exit(0)


def _awaited(child: int, woken: int, ends: float) -> tuple[int | None, bool]:
    """The child's exit code, or None when it was not waited for any longer, and whether its time was up."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        with contextlib.suppress(ChildProcessError):
            done, state = os.waitpid(child, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(state)
                return (code if code >= 0 else 128 - code), False
        left = ends - time.monotonic()
        if left <= 0:
            return None, True
        events = dict(poll.poll(left * 1000))
        if 0 in events:
            return None, False
        if woken in events:
            os.read(woken, 4096)


def _end_everything(child: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        # Stopped first: whoever is stopped cannot start another one while the rest is looked for.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in _descendants():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        time.sleep(0.001)


def _descendants() -> list[int]:
    parents: dict[int, list[int]] = {}
    try:
        entries = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for name in entries:
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            parents.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(name))
    found, waiting = [], [os.getpid()]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def _enter_namespace(libc: Any) -> bool:
    """Make the next child the first process of a new PID namespace, if this machine lets us."""
    if libc.unshare(_NEW_PID) == 0:
        return True
    trial = os.fork()
    if trial == 0:
        os._exit(0 if _enter_user_namespace(libc) else 1)
    return os.waitpid(trial, 0)[1] == 0 and _enter_user_namespace(libc)


def _enter_user_namespace(libc: Any) -> bool:
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_NEW_USER | _NEW_PID) != 0:
        return False
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError:
        return False
    return True


def _as_child(order: dict[str, Any], folder: int, libc: Any, apart: bool) -> None:
    try:
        signal.set_wakeup_fd(-1)
        if libc is not None:
            libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if apart:
            program = os.fork()
            if program:
                _as_first_process(program)
        _become_program(order, folder, libc)
    except BaseException as error:
        os.write(2, f"the program could not be started: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(126)


def _as_first_process(program: int) -> None:
    """Collect orphans until the program ends; the kernel then ends all others of the namespace with us."""
    while True:
        done, state = os.wait()
        if done == program:
            code = os.waitstatus_to_exitcode(state)
            os._exit(code if code >= 0 else 128 - code)


def _become_program(order: dict[str, Any], folder: int, libc: Any) -> None:
    os.setsid()
    os.fchdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    _limit(order)
    if libc is not None:
        libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _confine(order, libc)
    os.closerange(3, 65_536)
    os.execve(order["command"][0], order["command"], order["environment"])  # noqa: S606


def _limit(order: dict[str, Any]) -> None:
    seconds = math.ceil(order["seconds"]) + 1
    limits = {"CORE": 0, "CPU": seconds, "FSIZE": order["file_bytes"], "NOFILE": 512}
    if _ON_LINUX:
        limits["DATA"] = order["memory_bytes"]
        if os.getuid():  # Counted for the user as a whole, and not at all for root.
            limits["NPROC"] = _tasks_of_this_user() + _MOST_PROCESSES
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (value, value))


def _tasks_of_this_user() -> int:
    count, user = 0, os.getuid()
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _confine(order: dict[str, Any], libc: Any) -> None:
    """Landlock, where the kernel has it. What cannot be granted because it does not exist is left out."""
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return
    handled = _KNOWN_RIGHTS.get(version, _ALL_RIGHTS)
    attributes = struct.pack("QQQ", handled, 0, _NO_SIGNALS_NO_SOCKETS if version >= 6 else 0)
    size = 24 if version >= 6 else (16 if version >= 4 else 8)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")

    def grant(path: str, rights: int) -> None:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        if not os.path.isdir(path):
            rights &= _EXECUTE | _WRITE | _READ | _TRUNCATE
        rule = struct.pack("=Qi", rights & handled, place)
        if libc.syscall(_ADD_RULE, ruleset, 1, rule, 0):
            raise OSError(ctypes.get_errno(), f"landlock_add_rule {path}")
        os.close(place)

    anything = _EXECUTE if order["programs"] is None else 0
    for path in (*_SYSTEM, *_SETTINGS):
        grant(path, _READ | _LIST | anything)
    for path in _DEVICES:
        grant(path, _READ | _WRITE)
    changes = _ALL_RIGHTS & ~(_MAKE_CHAR | _MAKE_BLOCK | _EXECUTE) | anything
    grant(order["workspace"], changes if order["writable"] else _READ | _LIST)
    grant(order["temporary"], changes)
    for path in _executables(order):
        grant(path, _READ | _EXECUTE)
    if libc.syscall(_RESTRICT_SELF, ruleset, 0):
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")


def _executables(order: dict[str, Any]) -> list[str]:
    """The program itself, those it may start, and what the kernel starts them with."""
    if order["programs"] is None:
        return []
    folders = order["environment"]["PATH"].split(":")
    waiting = [order["command"][0], *(f"{folder}/{name}" for name in order["programs"] for folder in folders)]
    found: list[str] = []
    while waiting:
        place = os.path.realpath(waiting.pop())
        if place not in found and os.path.exists(place):
            found.append(place)
            waiting += [*_loader(place), *_interpreter(place, folders)]
    return found


def _interpreter(program: str, folders: list[str]) -> list[str]:
    """What the first line of a script names; behind `env`, also what that looks for."""
    with open(program, "rb") as file:
        first = file.readline(256)
    words = first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []
    if len(words) > 1 and words[0].endswith("/env"):
        return [words[0], *(f"{folder}/{words[-1]}" for folder in folders)]
    return words[:1]


def _loader(program: str) -> list[str]:
    """The interpreter that an ELF file names, if it is a 64-bit one that names any."""
    with open(program, "rb") as file:
        head = file.read(4096)
    if head[:5] != b"\x7fELF\x02":
        return []
    order = "<" if head[5] == 1 else ">"
    (start,) = struct.unpack_from(order + "Q", head, 32)
    size, count = struct.unpack_from(order + "HH", head, 54)
    for number in range(count):
        entry = start + number * size
        if entry + 40 > len(head):
            break
        (kind,) = struct.unpack_from(order + "I", head, entry)
        offset, _, _, length = struct.unpack_from(order + "QQQQ", head, entry + 8)
        if kind == 3 and offset + length <= len(head):
            return [os.path.realpath(head[offset : offset + length].rstrip(b"\0").decode())]
    return []


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
