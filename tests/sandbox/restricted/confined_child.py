"""A program for the tests of the confinement: a parent that makes children, as the engine's does.

Reads one request per line from standard input and answers with one line. For each request it forks a
parent (which may become another user first), and that forks the child, which confines itself and
then runs the given Python with nothing in its way: ctypes is there, and no guard is.
"""

from __future__ import annotations

import codecs
import ctypes
import decimal
import errno
import fcntl
import gc
import json
import mmap
import os
import re
import resource
import select
import signal
import socket
import sys
import threading
import time
import types
import weakref
from typing import Any, NoReturn

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "runtime", "coilclaw")

for name, folder in (
    ("coilclaw", ""),
    ("coilclaw.sandbox", "sandbox"),
    ("coilclaw.sandbox.restricted", "sandbox/restricted"),
):
    package = types.ModuleType(name)
    package.__path__ = [os.path.join(SOURCE, folder)]
    sys.modules[name] = package

from coilclaw.sandbox.restricted.child import confinement, limits, privileges  # noqa: E402

libc = ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: int | bytes) -> int:
    """Any system call, without anything of Python's in between."""
    converted = [ctypes.c_char_p(each) if isinstance(each, bytes) else ctypes.c_long(each) for each in arguments]
    libc.syscall.restype = ctypes.c_long
    result: int = libc.syscall(ctypes.c_long(number), *converted)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def machine_code(code: bytes) -> Any:
    """A function made of bytes. Only before the confinement, which is what an exploit would need to get around."""
    place = mmap.mmap(
        -1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    )
    place.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(place)))
    KEPT.append(place)
    return function


KEPT: list[Any] = []
codecs.lookup("idna")  # Loaded by the first connection, which must not fail for want of it.
MARK = b"\nthe answer:"
"""An attempt may have written to the channel before."""


WITHIN_REACH: dict[str, Any] = {
    **{
        module.__name__: module
        for module in (ctypes, errno, fcntl, mmap, os, resource, select, signal, socket, sys, threading)
    },
    "confinement": confinement,
    "limits": limits,
    "privileges": privileges,
    "libc": libc,
    "machine_code": machine_code,
    "syscall": syscall,
    "KEPT": KEPT,
}
"""What an attempt finds, besides all of Python."""


def legitimate() -> list[Any]:
    """What a harmless snippet does; it must still work after each attempt."""

    class Node:
        def __init__(self) -> None:
            self.me = self

    cycle = weakref.ref(Node())
    gc.collect()
    try:
        raise ValueError("as usual")
    except ValueError as error:
        caught = str(error)
    return [
        json.loads(json.dumps({"a": [1, None, "é"]})),
        re.findall(r"\d+", "a1b22"),
        str(decimal.Decimal(1) / 3),
        sum(list(range(200_000))),
        len(bytearray(8 * 1024 * 1024)),
        caught,
        cycle() is None,
    ]


def run_child(request: dict[str, Any], made: confinement.Confinement, channel: int) -> NoReturn:
    answer: dict[str, Any] = {}
    if request["channel"] is not None:
        channel = os.dup2(channel, request["channel"])
    signal.alarm(60)  # Whatever blocks must not block the tests.
    try:
        scope = {**WITHIN_REACH, **request["names"], "channel": channel}
        exec(request["before"], scope)
        code = compile(request["source"], "attempt", "exec")
        answer["layers"] = made.apply(
            channel=channel, memory_bytes=request["memory_bytes"], cpu_seconds=request["cpu_seconds"]
        )
        try:
            exec(code, scope)
            answer["value"] = scope.get("value")
        except BaseException as error:
            answer["error"] = [type(error).__name__, getattr(error, "errno", None), str(error)]
        answer["after"] = legitimate()
    except confinement.ConfinementFailed as failure:
        answer["failed"] = [failure.layer, failure.reason]
    except BaseException as error:
        answer["broken"] = repr(error)
    left = MARK + json.dumps(answer, default=str).encode()
    while left:
        left = left[os.write(channel, left) :]
    os._exit(0)


def become_parent(request: dict[str, Any], out: int) -> None:
    ours, theirs = socket.socketpair()
    if request["user"] is not None:
        os.setgroups([])
        os.setgid(request["user"])
        os.setuid(request["user"])
        # A change of user makes a process opaque, which an ordinary process of an ordinary user is not.
        libc.prctl(4, 1, 0, 0, 0)
    exec(request["in_parent"], dict(WITHIN_REACH))
    made = confinement.Confinement(frozenset(request["off"]))
    if request["prepare"]:
        made.prepare()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        ours.close()
        run_child(request, made, theirs.fileno())
    theirs.close()
    data = b""
    while part := ours.recv(65536):
        data += part
    _, status, usage = os.wait4(child, 0)
    report = {
        **(json.loads(data.partition(MARK)[2]) if MARK in data else {}),
        "exit": os.waitstatus_to_exitcode(status),
        "core": os.WCOREDUMP(status),
        "seconds": time.monotonic() - began,
        "cpu": usage.ru_utime + usage.ru_stime,
    }
    os.write(out, json.dumps(report).encode())


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        receiving, sending = os.pipe()
        parent = os.fork()
        if parent == 0:
            os.close(receiving)
            try:
                become_parent(request, sending)
            except BaseException as error:
                os.write(sending, json.dumps({"broken": repr(error)}).encode())
            os._exit(0)
        os.close(sending)
        with open(receiving, "rb") as answers:
            answer = answers.read()
        os.waitpid(parent, 0)
        sys.stdout.write(answer.decode() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
