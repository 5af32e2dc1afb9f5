"""Commands as processes of their own, without paying for the imports each time.

Most of the time of a short `coilclaw` goes into importing. A parent that has imported everything once, and has done
nothing else, forks one process for each command: own descriptors, own environment, own folder, own exit code. What
starts the real program (`Command.line`: terminals, signals, the tour of the README) still starts all of it.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["Forks", "forks", "mutation_environment"]

# Programs for the other side of a sandbox or of a process; they do not belong into this one.
_ELSEWHERE = ("coilclaw.sandbox.guest", "coilclaw.sandbox.restricted.child", "coilclaw.integrations.shell.supervisor")
_LIMIT = 1 << 20


def mutation_environment() -> dict[str, str]:
    """What `make mutants` adds to the environment, so that commands are mutated too; mostly nothing."""
    if "TRIED_MUTATION" not in os.environ:
        return {}
    return {name: os.environ[name] for name in ("TRIED_MUTATION", "PYTHONPATH")}


class Forks:
    """The parent of the commands, from the side of the tests."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self._line, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LIMIT)
        script = str(Path(sys.executable).with_name("coilclaw"))
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno()), script],
                # Never used: its streams are made for pipes, and those of the commands are pipes.
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": os.environ["PATH"], **mutation_environment()},
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self.close)

    def close(self) -> None:
        """The parent ends when nobody can ask it any more."""
        self._line.close()
        self._process.communicate()

    def run(self, args: list[str], stdin: bytes, environment: dict[str, str], folder: Path) -> tuple[int, bytes, bytes]:
        """One command: its exit code (negative for a signal) and what it wrote."""
        for each in args:
            assert b"\0" not in os.fsencode(each), "no process can be given this"
        request = json.dumps([args, environment, str(folder)]).encode()
        pipes = [os.pipe() for _ in range(4)]
        (its_in, to), (out, its_out), (err, its_err), (code, its_code) = pipes
        try:
            socket.send_fds(self._line, [request], [its_in, its_out, its_err, its_code])
        finally:
            for end in (its_in, its_out, its_err, its_code):
                os.close(end)
        with ThreadPoolExecutor(3) as pool:
            feeding = pool.submit(_feed, to, stdin)
            written = [pool.submit(_drain, end) for end in (out, err)]
            ended = _drain(code)
            feeding.result()
            assert ended, self._process.communicate()[1].decode()  # The parent is gone, and this is why.
            return int(ended), written[0].result(), written[1].result()


def _feed(end: int, data: bytes) -> None:
    with os.fdopen(end, "wb", buffering=0) as file:
        try:
            while data:
                data = data[file.write(data) :]
        except BrokenPipeError:
            pass  # A command need not read what it is given.


def _drain(end: int) -> bytes:
    with os.fdopen(end, "rb") as file:
        return file.read()


_made: list[Forks] = []
_making = threading.Lock()


def forks() -> Forks | None:
    """The one parent of this test process; none where commands are measured or where it cannot be watched."""
    if "COVERAGE_PROCESS_START" in os.environ or not hasattr(os, "pidfd_open"):
        return None
    with _making:
        if not _made:
            _made.append(Forks())
        return _made[0]


def _import_everything() -> None:
    for name in ("coilclaw", "coilclaw.integrations"):  # Neither is in the other's walk: they are namespaces.
        for found in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            if not found.name.startswith(_ELSEWHERE) and not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    importlib.import_module("wasmtime")
    assert threading.active_count() == 1, "a process with threads cannot be forked"


def _serve(line: socket.socket) -> tuple[list[str], dict[str, str], str]:
    """Fork for each request. Returns in the fork only: its arguments, its environment and its folder."""
    under_way: dict[int, tuple[int, int]] = {}
    while True:
        ready, _, _ = select.select([line.fileno(), *under_way], [], [])
        for each in ready:
            if each in under_way:
                pid, code = under_way.pop(each)
                _, status = os.waitpid(pid, 0)
                os.write(code, str(os.waitstatus_to_exitcode(status)).encode())
                os.close(code)
                os.close(each)
        if line.fileno() not in ready:
            continue
        request, descriptors, _, _ = socket.recv_fds(line, _LIMIT, 4)
        if not request:
            os._exit(0)
        pid = os.fork()
        if not pid:
            for target, descriptor in enumerate(descriptors[:3]):
                os.dup2(descriptor, target)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            line.detach()
            args, environment, folder = json.loads(request)
            return args, environment, folder
        for descriptor in descriptors[:3]:
            os.close(descriptor)
        under_way[os.pidfd_open(pid)] = (pid, descriptors[3])


def _main() -> None:
    before = set(os.environ)
    # The tests' own interrupt is theirs to handle; this process ends when they do.
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_everything()
    added = {name: os.environ[name] for name in set(os.environ) - before}
    gc.collect()
    gc.freeze()
    script = sys.argv[2]
    args, environment, folder = _serve(socket.socket(fileno=int(sys.argv[1])))
    signal.signal(signal.SIGINT, interrupt if interrupt is not signal.SIG_IGN else signal.default_int_handler)
    os.environ.clear()
    os.environ.update({**added, **environment})
    os.chdir(folder)
    sys.argv[:] = [script, *args]
    sys.path.insert(0, str(Path(script).parent))

    from coilclaw.cli.main import main

    main()


if __name__ == "__main__":
    _main()
