"""The warm parent: everything is loaded once, and each run gets a fork of it.

One thread, no state but its children. The host sends two descriptors with each request: the child's
end of the conversation, and a socket on which the child's end is reported. When the host closes that
socket the child is killed; when the host itself is gone, all of them are.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from coilclaw.sandbox.restricted.child.confinement import Confinement
from coilclaw.sandbox.restricted.child.limits import resident_bytes
from coilclaw.sandbox.restricted.child.requests import OUT_OF_MEMORY_EXIT, REQUEST
from coilclaw.sandbox.restricted.child.run import run_child
from coilclaw.sandbox.restricted.child.world import World

__all__ = ["serve"]

_FAULTS: Final = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT})
_FULL: Final = 0.75
"""Of the memory that a child was given. The rest may be mapped and not yet touched."""
_MAXRSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024


def serve(control: int, off: frozenset[str]) -> NoReturn:
    """Fork children on request until the control socket is closed."""
    confinement = Confinement(off)
    confinement.prepare()  # What a child would have to give up anyway, it does not get.
    nursery = _Nursery(socket.socket(fileno=control), World(), confinement)
    gc.collect()
    gc.freeze()  # What was loaded so far stays for ever; a collection would only copy its pages.
    try:
        nursery.serve()
    finally:
        os._exit(0)


@dataclass(frozen=True, kw_only=True)
class _Forked:
    """A child: where its end is reported, and how much memory it was given."""

    report: socket.socket
    memory_bytes: int


class _Nursery:
    def __init__(self, control: socket.socket, world: World, confinement: Confinement) -> None:
        self._control = control
        self._world = world
        self._confinement = confinement
        self._children: dict[int, _Forked] = {}
        self._resident = resident_bytes()
        self._poll = select.poll()
        self._ended, self._ending = os.pipe()
        os.set_blocking(self._ending, False)
        signal.set_wakeup_fd(self._ending, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        for descriptor in (self._control.fileno(), self._ended):
            self._poll.register(descriptor, select.POLLIN)
        self._control.sendall(b"ready\n")
        while True:
            # In this order, because a descriptor that is closed by one step may be another one after the next.
            ready = {descriptor for descriptor, _ in self._poll.poll()}
            for descriptor in ready - {self._ended, self._control.fileno()}:
                self._kill(descriptor)
            if self._ended in ready:
                os.read(self._ended, 4096)
                self._reap()
            if self._control.fileno() in ready and not self._admit():
                return

    def _admit(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, REQUEST.size, 2)
        if len(message) != REQUEST.size or len(descriptors) != 2:
            for pid in self._children:
                os.kill(pid, signal.SIGKILL)
            return False
        channel, reports = descriptors
        memory_bytes, cpu_seconds = REQUEST.unpack(message)
        try:
            pid = os.fork()
        except OSError:  # There is no room for another process now. The others go on.
            os.close(channel)
            os.close(reports)
            return True
        if pid == 0:
            self._become_child(channel, memory_bytes, cpu_seconds)
        os.close(channel)
        self._children[pid] = _Forked(report=socket.socket(fileno=reports), memory_bytes=memory_bytes)
        self._poll.register(reports, select.POLLIN | select.POLLHUP)
        return True

    def _become_child(self, channel: int, memory_bytes: int, cpu_seconds: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            # Its host ends it when it is interrupted; Python's own handler would be one more thing to set.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            run_child(self._world, self._confinement, channel, memory_bytes, cpu_seconds)
        except MemoryError:
            os._exit(OUT_OF_MEMORY_EXIT)
        finally:
            os._exit(1)

    def _kill(self, descriptor: int) -> None:
        """The host does not want this child any longer; it is reported as usual once it has ended."""
        self._poll.unregister(descriptor)
        for pid, child in self._children.items():
            if child.report.fileno() == descriptor:
                os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        while self._children:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            child = self._children.pop(pid)
            report = child.report
            with contextlib.suppress(KeyError):
                self._poll.unregister(report.fileno())
            grown = used.ru_maxrss * _MAXRSS_UNIT - self._resident
            with contextlib.suppress(OSError):
                report.sendall(json.dumps(_described(status, grown, child.memory_bytes)).encode() + b"\n")
            report.close()


def _described(status: int, grown: int, memory_bytes: int) -> dict[str, Any]:
    """How a child ended.

    The interpreter itself does not survive every allocation that fails: it may follow a null pointer, or
    abort. So one that died of a fault of its own is out of memory if it had filled what it was given.
    """
    code = os.waitstatus_to_exitcode(status)
    if -code in _FAULTS and grown >= memory_bytes * _FULL:
        return {"code": OUT_OF_MEMORY_EXIT}
    return {"signal": -code} if code < 0 else {"code": code}


sys.setswitchinterval(1000)  # There is one thread; nothing needs to be given a turn.
