"""The host's side of the warm parent: starting it, and asking it for children."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coilclaw.sandbox.channel import Channel
from coilclaw.sandbox.child_process import start_child_process
from coilclaw.sandbox.errors import EngineUnavailable
from coilclaw.sandbox.restricted.child.requests import REQUEST

__all__ = ["BOOT", "Allowance", "Child", "WarmParent"]

_START_SECONDS: Final = 30.0
_REPORT_SECONDS: Final = 0.2
_LATEST_REPORT_SECONDS: Final = 10.0
"""A parent reports at once. A busy machine may not let it."""
BOOT: Final = Path(__file__).parent / "child" / "boot.py"


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What a child gets when it is forked; it cannot be given more later."""

    memory_bytes: int
    cpu_seconds: int


class WarmParent:
    """A process from which children are forked. Started when first needed, and again if it died. Thread-safe.

    Forking takes longer than a short run does, so up to `spares` children are forked ahead: of the
    allowance that was asked for last, since the next run is most likely of the same kind.
    """

    def __init__(self, off: Collection[str] = (), *, spares: int = 0, boot: Path = BOOT) -> None:
        self._boot = boot
        self._most_spares = spares
        self._spares: list[tuple[Allowance, Child]] = []
        self._off = sorted(off)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._warm = False
        self._closed = False
        self._busy: set[Child] = set()

    def start(self) -> None:
        """Start the process without waiting until it is warm."""
        with self._lock:
            self._started()

    def warm_up(self) -> bool:
        """Wait until children can be forked; True if there was something to wait for."""
        with self._lock:
            was_warm = self._warm
            self._running()
        return not was_warm

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        process = self._process
        return process.pid if process is not None else None

    def take(self, allowance: Allowance) -> Child:
        """A child for one run: one that waits for work, or a new one."""
        with self._lock:
            spare = self._spares.pop(0) if self._spares else None
        if spare is None:
            return self.fork(allowance)
        if spare[0] == allowance and spare[1].alive:
            return spare[1]
        spare[1].close()
        return self.take(allowance)

    def prepare(self, allowance: Allowance) -> None:
        """Fork ahead, as far as spares are wanted. Does not wait for them."""
        with self._lock:
            missing = 0 if self._closed else self._most_spares - len(self._spares)
        for _ in range(missing):
            with contextlib.suppress(EngineUnavailable):  # The next run will say so.
                child = self.fork(allowance)
                with self._lock:
                    wanted = not self._closed and len(self._spares) < self._most_spares
                    if wanted:
                        self._spares.append((allowance, child))
                if not wanted:
                    child.close()

    def wait_for_spares(self, seconds: float = 10.0) -> bool:
        """Whether the spares that were asked for so far are confined and wait for work."""
        with self._lock:
            spares = [child for _, child in self._spares]
        return all(child.has_spoken(seconds) for child in spares)

    def fork(self, allowance: Allowance) -> Child:
        """A new child."""
        for _ in range(3):
            ours, theirs = socket.socketpair()
            report, reporting = socket.socketpair()
            child = Child(ours, report, self._busy)
            control = None
            with theirs, reporting:
                try:
                    with self._lock:
                        control = self._running()
                        message = REQUEST.pack(allowance.memory_bytes, allowance.cpu_seconds)
                        socket.send_fds(control, [message], [theirs.fileno(), reporting.fileno()])
                    return child
                except OSError:  # The parent died meanwhile; another one takes its place.
                    child.close()
                    self._discard(control)
                except BaseException:
                    child.close()
                    raise
        raise EngineUnavailable("the parent process of the restricted engine dies as soon as it is started")

    def _running(self) -> socket.socket:
        control = self._started()
        if not self._warm:
            self._await_readiness(control)
            self._warm = True
        return control

    def _started(self) -> socket.socket:
        if self._closed:
            raise EngineUnavailable("the engine was closed")
        if self._control is not None and self._process is not None and self._process.poll() is None:
            return self._control
        self._release()
        self._process, self._control = start_child_process(
            str(self._boot),
            settings={"off": self._off, "path": _import_path(), "packages": _packages()},
            environment={"PYTHONHASHSEED": "0"},  # Sets come in the same order again; nothing of the host's own.
            stderr=subprocess.PIPE,
        )
        self._warm = False
        return self._control

    def _await_readiness(self, control: socket.socket) -> None:
        control.settimeout(_START_SECONDS)
        try:
            ready = control.recv(len(b"ready\n")) == b"ready\n"
        except OSError:
            ready = False
        control.settimeout(None)
        if not ready:
            said = self._last_words()
            self._release()
            raise EngineUnavailable(
                f"the parent process of the restricted engine did not start{f': {said}' if said else ''}",
                hint="try `coilclaw doctor`, or use the wasm engine",
            )

    def _last_words(self) -> str:
        assert self._process is not None
        assert self._process.stderr is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        self._process.kill()
        lines = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def _discard(self, control: socket.socket | None) -> None:
        with self._lock:
            if control is not None and self._control is control:
                self._release()

    def _release(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        process, self._process = self._process, None
        if process is not None:
            # Closing the control socket ends it and all its children; it is not waited for politely.
            try:
                process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stderr is not None:
                process.stderr.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            spares, self._spares = self._spares, []
            self._release()
        for _, child in spares:
            child.close()


class Child(Channel):
    """One child, from the host's side, until it is let go."""

    def __init__(self, channel: socket.socket, report: socket.socket, busy: set[Child]) -> None:
        super().__init__(channel)
        self._report = report
        self._busy = busy
        self._ended = select.poll()
        self._ended.register(report, select.POLLIN)

    @property
    def looks(self) -> bool:
        return len(self._busy) <= 1

    def end(self) -> dict[str, Any]:
        """How the child ended, as its parent saw it; empty if the parent is gone too."""
        self._report.settimeout(_REPORT_SECONDS)
        with contextlib.suppress(TimeoutError):
            return self._reported()
        # It is about to end, or it closed the conversation and lives on. Its parent kills one that lives, and
        # how the others ended was settled before their end of the conversation was closed.
        with contextlib.suppress(OSError):
            self._report.shutdown(socket.SHUT_WR)
        self._report.settimeout(_LATEST_REPORT_SECONDS)
        with contextlib.suppress(TimeoutError):
            found = self._reported()
            return {"silent": True} if found.get("signal") == signal.SIGKILL else found
        return {"silent": True}

    def _reported(self) -> dict[str, Any]:
        with contextlib.suppress(ConnectionError, ValueError):
            found = json.loads(self._report.recv(4096) or b"{}")
            return found if isinstance(found, dict) else {}
        return {}

    def close(self) -> None:
        """Let the child go: its parent kills it if it still runs."""
        self._busy.discard(self)
        super().close()
        self._report.close()

    @property
    def alive(self) -> bool:
        """Whether nothing was reported about its end yet."""
        return not self._ended.poll(0)

    def __enter__(self) -> Child:
        self._busy.add(self)
        return self

    def __exit__(self, *ending: object) -> None:
        self.close()


def _import_path() -> list[str]:
    """Where the child finds RestrictedPython; the interpreter finds its own library by itself."""
    found = importlib.util.find_spec("RestrictedPython")
    if found is None or not found.submodule_search_locations:
        raise EngineUnavailable("RestrictedPython is not installed", hint="pip install RestrictedPython")
    return [str(Path(found.submodule_search_locations[0]).parent)]


def _packages() -> dict[str, list[str]]:
    """The packages around the child's modules, and where they are."""
    restricted = Path(__file__).parent
    result = importlib.util.find_spec("coilclaw.sdk.result")
    assert result is not None
    assert result.origin is not None
    return {
        "coilclaw": [],
        "coilclaw.confinement": [str(restricted.parents[1] / "confinement")],
        "coilclaw.sdk": [str(Path(result.origin).parent)],
        "coilclaw.sandbox": [str(restricted.parent)],
        "coilclaw.sandbox.restricted": [str(restricted)],
    }
