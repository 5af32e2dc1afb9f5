"""The small process between CoilClaw and the programs of one call: it confines them, and leaves none behind.

Run as a file, on a bare interpreter: `python -I -S supervisor.py STATUS FOLDER SOURCE`, two inherited descriptors
and where our own sources are. It reads one line of JSON from its input (an `Order`), starts the programs, and ends
everything when they end, when the time is up, or when its input is closed, which is what happens when the process
that started it dies.

Nothing survives, whatever it does. Where the system allows it the programs live in a PID namespace, which the
kernel empties as a whole. Elsewhere this process is the one that orphans are handed to, and it kills its
descendants until there are none.

On Linux the kernel also holds them to the rules, where it can: with Landlock to files of the workspace, system
folders for reading and the allowed programs; with a mount namespace to what is not forbidden in the workspace.
The verdict about a command does not rely on it.
"""

# pathlib would be most of the time that this process takes to start.
# ruff: noqa: PTH110, PTH112, PTH113, PTH116, PTH123, PTH208

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
from typing import Any, NoReturn

__all__ = ["main"]

_SET_PDEATHSIG, _SET_NO_NEW_PRIVS = 1, 38
_NEW_USER, _NEW_PID, _NEW_MOUNTS = 0x10000000, 0x20000000, 0x00020000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 4096, 16384, 1 << 18
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
_SETTINGS = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime", "/etc/timezone", "/etc/alternatives", "/etc/ssl",
    "/etc/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/magic", "/etc/mime.types",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FLAGS = {
    "<": os.O_RDONLY,
    ">": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    ">>": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
}
_MOST_PROCESSES = 256
_ENDING_SECONDS = 5.0
_ON_LINUX = sys.platform == "linux"


def main(status: int, folder: int, source: str) -> None:
    """Run one order and write what became of it, as JSON, to the status descriptor."""
    sys.path.append(source)
    from coilclaw.confinement.supervision import adopt_orphans, end_everything

    order = json.loads(sys.stdin.buffer.readline())
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    libc = ctypes.CDLL(None, use_errno=True) if _ON_LINUX else None
    if libc is not None:
        adopt_orphans(libc)
    apart = libc is not None and order["namespace"] and _enter_namespace(libc)
    ends = time.monotonic() + order["seconds"]
    child = os.fork()
    if child == 0:
        _as_child(order, folder, libc, apart)
    for output in (1, 2):
        os.close(output)  # So that the reader sees the end when the last of its processes is gone.
    code, timed_out = _awaited(child, woken, ends)
    end_everything(child, _ENDING_SECONDS)
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


def _become_program(order: dict[str, Any], folder: int, libc: Any) -> NoReturn:
    os.setsid()
    os.fchdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if libc is not None and order["hidden"]:
        _hide(order["hidden"], libc)
    _limit(order)
    if libc is not None:
        libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _confine(order)
    os.closerange(3, 65_536)
    if order["command"]:
        os.execve(order["command"][0], order["command"], order["environment"])  # noqa: S606
    os._exit(_run(order["pipelines"], order["environment"]))


def _run(pipelines: list[dict[str, Any]], environment: dict[str, str]) -> int:
    """Run one pipeline after the other, as far as `&&` and `||` let them. The exit code of the last that ran."""
    code = 0
    for pipeline in pipelines:
        if (pipeline["joined"] == "&&" and code) or (pipeline["joined"] == "||" and not code):
            continue
        code = _run_pipeline(pipeline["stages"], environment)
        code = int(not code) if pipeline["negated"] else code
    return code


def _run_pipeline(stages: list[dict[str, Any]], environment: dict[str, str]) -> int:
    """Start all stages, each reading what the one before writes, and wait for them. The exit code of the last."""
    children, source = [], 0
    for number, stage in enumerate(stages):
        reading, writing = os.pipe() if number < len(stages) - 1 else (0, 1)
        child = os.fork()
        if child == 0:
            _start(stage, source, writing, environment)
        children.append(child)
        for descriptor in (source, writing):
            if descriptor > 2:
                os.close(descriptor)
        source = reading
    code = 0
    for child in children:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


def _start(stage: dict[str, Any], source: int, sink: int, environment: dict[str, str]) -> NoReturn:
    """Become one program of a pipeline. The exit codes for what cannot be opened or started are bash's."""
    code = 1
    try:
        os.dup2(source, 0)
        os.dup2(sink, 1)
        for descriptor, operator, target in stage["redirections"]:
            if operator == ">&":
                os.dup2(int(target), descriptor)
                continue
            opened = os.open(target, _FLAGS[operator] | os.O_CLOEXEC | os.O_NOCTTY, 0o666)
            os.dup2(opened, descriptor)
            os.close(opened)
        program = stage["argv"][0]
        found = program if "/" in program else _found(program, environment["PATH"])
        if found is None:
            os.write(2, f"{program}: command not found\n".encode())
            os._exit(127)
        code = 127 if not os.path.exists(found) else 126
        os.execve(found, stage["argv"], environment)  # noqa: S606
    except OSError as error:
        with contextlib.suppress(OSError):
            os.write(2, f"{error.filename or stage['argv'][0]}: {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(code)


def _found(program: str, path: str) -> str | None:
    """The first file of this name in the folders of the path that can be executed."""
    for folder in path.split(":"):
        place = f"{folder}/{program}"
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    return None


def _hide(paths: list[str], libc: Any) -> None:
    """Put something empty over each forbidden path, in mounts of our own, if this machine lets us."""
    if libc.unshare(_NEW_MOUNTS) != 0 or libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None) != 0:
        return
    for path in paths:
        if os.path.isdir(path):
            flags = _READ_ONLY | _NO_SETUID | _NO_DEVICES
            libc.mount(b"none", os.fsencode(path), b"tmpfs", flags, b"size=4k,mode=555")
        elif os.path.exists(path):
            libc.mount(b"/dev/null", os.fsencode(path), None, _BIND, None)


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


def _confine(order: dict[str, Any]) -> None:
    """Landlock, where the kernel has it. Connections are left to the programs that may be started."""
    from coilclaw.confinement import landlock

    if landlock.unavailable() is not None:
        return
    handled, _, others = landlock.rights()
    ruleset = landlock.ruleset((handled, 0, others))
    anything = landlock.EXECUTE if order["programs"] is None else 0
    readable = landlock.READ | landlock.LIST
    changeable = landlock.ALL & ~(landlock.MAKE_DEVICES | landlock.EXECUTE) | anything
    grants = [
        *((path, readable | anything) for path in (*_SYSTEM, *_SETTINGS)),
        *((path, landlock.READ | landlock.WRITE) for path in _DEVICES),
        (order["workspace"], changeable if order["writable"] else readable),
        (order["temporary"], changeable),
        *((path, landlock.READ | landlock.EXECUTE) for path in _executables(order)),
    ]
    for path, rights in grants:
        landlock.grant(ruleset, path, rights & handled)
    landlock.restrict(ruleset)


def _executables(order: dict[str, Any]) -> list[str]:
    """The programs that may be started, and what the kernel starts them with."""
    if order["programs"] is None:
        return []
    folders = order["environment"]["PATH"].split(":")
    waiting = [*order["command"][:1], *(f"{folder}/{name}" for name in order["programs"] for folder in folders)]
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
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
