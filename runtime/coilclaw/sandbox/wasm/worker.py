"""A process that runs guests for an engine in another one: `WasmEngine(workers=…)` starts it.

It has no authority. Whatever a guest asks for is passed on to the host, which has the bridge; the process itself was
started with an empty environment and one descriptor, and can open no file any more once it is ready.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import traceback
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NoReturn

from coilclaw.confinement import landlock
from coilclaw.confinement.system_calls import prctl
from coilclaw.sandbox.channel import Channel, ChildEnded
from coilclaw.sandbox.deadline import Deadline
from coilclaw.sandbox.engine import Pins
from coilclaw.sandbox.limits import Limits
from coilclaw.sandbox.outcomes import Cancelled, RunEnded
from coilclaw.sandbox.threads import STACK_BYTES
from coilclaw.sandbox.wasm.component import CompiledGuest, compile_guest
from coilclaw.sandbox.wasm.guest import Guest, GuestTrap, link_guest
from coilclaw.sandbox.wasm.ticker import Ticker

__all__ = ["LARGEST_FRAME", "REQUEST", "main"]

REQUEST: Final = struct.Struct("!QH")
"""In front of a request: the memory that the guest may have, and the size of the seed that follows."""

LARGEST_FRAME: Final = 2**31
"""A guest sends what fits in its memory, here as in the process of the engine."""
_FOR_EVER: Final = Deadline(float("inf"))
_LONGEST: Final = 2**63 - 1
_PR_SET_NO_NEW_PRIVS: Final = 38


class RemoteHost(Channel):
    """The host of a run, in another process. An empty answer ends the run."""

    frame_limit = LARGEST_FRAME
    look_seconds = 3600.0

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        return self._ask(["call", tool, line], input)

    def begin(self, tool: str, input: bytes, line: int) -> int:
        return int(self._ask(["begin", tool, line], input))

    def wait(self, seconds: float | None) -> bytes:
        return self._ask(["wait", -1 if seconds is None else min(round(seconds * 1e9), _LONGEST)])

    def preflight(self, calls: bytes) -> bytes:
        return self._ask(["preflight"], calls)

    def write(self, stream: int, text: str) -> None:
        self.say(["write", stream], json.dumps(text).encode())

    def pins(self, seed: bytes) -> Pins:
        return Pins(
            seed=seed,
            wall_clock=lambda: int(self._ask(["wall"])),
            monotonic_clock=lambda: int(self._ask(["monotonic"])),
            asleep=self._sleep,
        )

    def _sleep(self, nanoseconds: int) -> int:
        self._ask(["sleep", min(nanoseconds, _LONGEST)])
        return 0

    def _ask(self, header: list[Any], body: bytes = b"null") -> bytes:
        self.say(header, body)
        answer = self.receive_frame(_FOR_EVER)
        if not answer:
            raise RunEnded(Cancelled())
        return answer

    def say(self, header: list[Any], body: bytes = b"null") -> None:
        self.send(json.dumps(header).encode() + b"\n" + body, _FOR_EVER)


class _UntilStopped(Deadline):
    """The host knows the run's time. Here the run ends when the host says so."""

    def __init__(self, host: RemoteHost) -> None:
        super().__init__(float("inf"))
        self._host = host

    @property
    def outcome(self) -> Cancelled | None:
        return Cancelled() if self._host.has_spoken(0) else None


def main(channel: int, cache: str) -> None:
    """Serve until the host is gone."""
    host = RemoteHost(socket.socket(fileno=channel))
    try:
        compiled = compile_guest(Path(cache))
        linker = link_guest(compiled)
        Guest(compiled, linker, Limits().memory_bytes).close()  # Whatever has to be loaded is loaded now.
        _give_up_files()
        host.say(["ready", compiled.build])
        threading.stack_size(STACK_BYTES)  # As deep as a guest needs it.
        thread = threading.Thread(target=_serve, args=(host, compiled, linker))
        thread.start()
        thread.join()
    except BaseException:
        _report(host)


def _give_up_files() -> None:
    """Keep nothing but the conversation, where the machine offers that. Threads that are started later inherit it."""
    if landlock.unavailable() is None:
        prctl(_PR_SET_NO_NEW_PRIVS, 1)
        landlock.restrict(landlock.ruleset(landlock.rights()))


def _report(host: RemoteHost) -> None:
    host.say(["broken"], json.dumps(traceback.format_exc()[-2000:]).encode())


def _serve(host: RemoteHost, compiled: CompiledGuest, linker: Any) -> None:
    try:
        _run_guests(host, compiled, linker)
    except ChildEnded:
        pass  # The host is gone: there is nobody left to run for.
    except BaseException:
        _report(host)


def _run_guests(host: RemoteHost, compiled: CompiledGuest, linker: Any) -> NoReturn:
    ticker = Ticker(compiled.engine)
    while True:
        with closing(Guest(compiled, linker, Limits().memory_bytes)) as guest:  # Made before it is asked for.
            while not (request := host.receive_frame(_FOR_EVER)):
                pass  # The end of a run that had ended by itself meanwhile.
            memory_bytes, size = REQUEST.unpack_from(request)
            seed, source = request[REQUEST.size :][:size], request[REQUEST.size + size :].decode()
            try:
                with ticker.ticking():
                    ended = guest.run(source, memory_bytes, host, _UntilStopped(host), host.pins(seed))
                host.say(["end"], ended.encode())
            except RunEnded:
                host.say(["stopped"])
            except GuestTrap as trap:
                host.say(["trap"], str(trap).encode())
