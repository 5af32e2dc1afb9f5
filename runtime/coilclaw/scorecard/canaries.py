"""Canaries: things of the host that no snippet may ever have, see or touch.

Whether a payload got out is never read from a message. Before it runs, secrets are put where an escape
would find them; afterwards the host looks whether one came out, and whether anything was touched.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

__all__ = ["Canaries", "planted"]

VARIABLE: Final = "COILCLAW_CANARY"
_LONGEST_END_SECONDS: Final = 3.0
"""How long a process that was told to end may take."""


@dataclass(frozen=True, kw_only=True)
class Canaries:
    """What was planted. The texts are random, so that none can come out by chance or by guessing."""

    folder: Path
    secret_file: Path
    listener: socket.socket
    datagrams: socket.socket
    in_environment: str = field(default_factory=lambda: _secret("environment"))
    in_file: str = field(default_factory=lambda: _secret("file"))
    in_closure: str = field(default_factory=lambda: _secret("closure"))
    in_frame: str = field(default_factory=lambda: _secret("frame"))
    in_object: str = field(default_factory=lambda: _secret("object"))
    in_credential: str = field(default_factory=lambda: _secret("credential"))
    marker: str = field(default_factory=lambda: f"marker-{secrets.token_hex(12)}")
    processes: frozenset[int] = field(default_factory=lambda: processes_of_this_group())

    @property
    def inputs(self) -> Mapping[str, Any]:
        """Where everything is: a payload is told, because an attacker would find out."""
        return {
            "variable": VARIABLE,
            "path": str(self.secret_file),
            "folder": str(self.folder),
            "port": self.listener.getsockname()[1],
            "pid": os.getpid(),
            "marker": self.marker,
        }

    def secrets_in(self, text: str) -> list[str]:
        """What came out with this text, in words."""
        places = {
            self.in_environment: "the secret in the host's environment",
            self.in_file: "the secret in a file of the host",
            self.in_closure: "the secret in the closure of a tool",
            self.in_frame: "the secret in a frame of a tool",
            self.in_object: "the secret in an object a tool handed back",
            self.in_credential: "the credential of a tool",
        }
        return [f"{place} came out" for secret, place in places.items() if secret in text]

    def traces(self) -> list[str]:
        """What was touched since the last look; it is put back as it was."""
        found = []
        while self._connection():
            found.append("a connection was made")
        for made in self.folder.iterdir():
            found.append(f"{made.name[:60]!r} appeared in a folder of the host")
            shutil.rmtree(made) if made.is_dir() and not made.is_symlink() else made.unlink()
        if self.secret_file.read_text() != self.in_file:
            found.append("a file of the host was changed")
            self.secret_file.write_text(self.in_file)
        return found

    def processes_left(self) -> list[str]:
        """Processes that were not there before; asked when the engine is closed and has none of its own."""
        ends = time.monotonic() + _LONGEST_END_SECONDS
        while (left := processes_of_this_group() - self.processes) and time.monotonic() < ends:
            time.sleep(0.02)
        return [f"process {pid} was left" for pid in sorted(left)]

    def _connection(self) -> bool:
        try:
            connection, _ = self.listener.accept()
            connection.close()
            return True
        except BlockingIOError:
            pass
        try:
            self.datagrams.recv(1)
            return True
        except BlockingIOError:
            return False


@contextmanager
def planted(folder: Path, environment: MutableMapping[str, str]) -> Iterator[Canaries]:
    """Plant canaries below a folder and in an environment; both are as before afterwards.

    Make the engine afterwards: one that starts processes would otherwise pass on an environment without them.
    """
    kept = folder / "kept"
    untouched = folder / "untouched"
    kept.mkdir()
    untouched.mkdir()
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(listener.getsockname())
        listener.setblocking(False)
        datagrams.setblocking(False)
        canaries = Canaries(folder=untouched, secret_file=kept / "secret.txt", listener=listener, datagrams=datagrams)
        canaries.secret_file.write_text(canaries.in_file)
        before = environment.get(VARIABLE)
        environment[VARIABLE] = canaries.in_environment
        try:
            yield canaries
        finally:
            if before is None:
                environment.pop(VARIABLE, None)
            else:
                environment[VARIABLE] = before


def _secret(place: str) -> str:
    return f"secret-of-the-{place}-{secrets.token_hex(12)}"


def processes_of_this_group() -> frozenset[int]:
    """The processes that descend from this one or share its process group; empty where that cannot be known."""
    group = os.getpgrp()
    parents: dict[int, int] = {}
    members = {os.getpid()}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            status = path.read_text()
        except OSError:  # It has just ended.
            continue
        # The name in the middle may hold anything, brackets included.
        pid = int(status.split(" ", 1)[0])
        state, parent, its_group = status.rsplit(")", 1)[1].split()[:3]
        if state == "Z":
            continue
        parents[pid] = int(parent)
        if int(its_group) == group:
            members.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in members} - members:
        members |= more
    return frozenset(members)
