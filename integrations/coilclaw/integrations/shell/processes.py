"""Programs under supervision: confined, limited, followed, and ended with all they started."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from coilclaw.confinement import landlock
from coilclaw.sdk import ToolContext, ToolFailure

__all__ = ["PATH", "Ended", "Order", "supervised"]

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where programs are looked for. Folders of the system only: nothing in the workspace stands in for a program."""

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_SOURCE = str(Path(landlock.__file__).parents[2])
_POLL_SECONDS = 0.05
_GRACE_SECONDS = 5.0
_MARGIN_SECONDS = 0.2
"""A process ends this much before the call does, so that what it printed is not lost."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What the supervisor is told."""

    command: tuple[str, ...] = ()
    """One program, by its full path, and its arguments."""
    pipelines: tuple[dict[str, Any], ...] = ()
    """Or several: what the supervisor needs of a `CommandLine`."""
    seconds: float
    workspace: str
    """The folder it may read."""
    temporary: str
    environment: dict[str, str]
    programs: tuple[str, ...] | None = ()
    """What it may start besides itself, by name; None for everything."""
    hidden: tuple[str, ...] = ()
    """What it must not see of that folder."""
    writable: bool = True
    namespace: bool = True
    file_bytes: int = 256 * 1024 * 1024
    memory_bytes: int = 2 * 1024 * 1024 * 1024


@dataclass(frozen=True)
class Ended:
    exit_code: int | None
    """None when it was ended before it was done."""
    stdout: bytes
    stderr: bytes
    truncated: bool
    timed_out: bool


@dataclass
class _Stream:
    """What came through a pipe so far, up to the limit; the rest is read and dropped."""

    most: int
    kept: bytearray = field(default_factory=bytearray)
    dropped: bool = False

    def add(self, data: bytes) -> None:
        room = self.most - len(self.kept)
        self.kept += data[:room]
        self.dropped = self.dropped or len(data) > room


def supervised(ctx: ToolContext, order: Order, folder: int, most_output: int) -> Ended:
    """Carry out the order in this folder; return only once none of its processes is left."""
    told = asdict(order)
    if (left := ctx.remaining_seconds) is not None:
        told["seconds"] = max(0.05, min(order.seconds, left - _MARGIN_SECONDS))
    reading, writing = os.pipe()
    try:
        supervisor = subprocess.Popen(  # noqa: S603 - the interpreter and a file of ours.
            [sys.executable, "-I", "-S", _SUPERVISOR, str(writing), str(folder), _SOURCE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(writing, folder),
            env={},
            cwd="/",
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    try:
        return _followed(ctx, supervisor, json.dumps(told).encode() + b"\n", reading, told["seconds"], most_output)
    finally:
        os.close(reading)
        _dismiss(supervisor)


def _followed(
    ctx: ToolContext, supervisor: subprocess.Popen[bytes], told: bytes, reading: int, seconds: float, most: int
) -> Ended:
    control, out, err = supervisor.stdin, supervisor.stdout, supervisor.stderr
    assert control is not None
    assert out is not None
    assert err is not None
    try:
        control.write(told)
        control.flush()
    except BrokenPipeError:
        raise ToolFailure("the program could not be started", code="no_processes") from None
    printed, complained, said = _Stream(most), _Stream(most), _Stream(1000)
    streams = {out.fileno(): printed, err.fileno(): complained, reading: said}
    gives_up = time.monotonic() + seconds + _GRACE_SECONDS
    with selectors.DefaultSelector() as selector:
        for descriptor in streams:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and time.monotonic() < gives_up:
            if ctx.cancelled:
                _dismiss(supervisor)
                ctx.raise_if_cancelled()
            for key, _ in selector.select(_POLL_SECONDS):
                data = os.read(key.fd, 65_536)
                streams[key.fd].add(data)
                if not data:
                    selector.unregister(key.fd)
    if not said.kept:
        last = complained.kept[-500:].decode("utf-8", "replace")
        raise ToolFailure(f"the program ended without an answer: {last}", code="no_processes")
    outcome = json.loads(said.kept)
    return Ended(
        exit_code=outcome["exit_code"],
        stdout=bytes(printed.kept),
        stderr=bytes(complained.kept),
        truncated=printed.dropped or complained.dropped,
        timed_out=outcome["timed_out"],
    )


def _dismiss(supervisor: subprocess.Popen[bytes]) -> None:
    """Close its input, at which it ends everything and then itself; end it the hard way if it does not."""
    for pipe in (supervisor.stdin, supervisor.stdout, supervisor.stderr):
        if pipe is not None and not pipe.closed:
            try:
                pipe.close()
            except BrokenPipeError:
                continue
    try:
        supervisor.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()
