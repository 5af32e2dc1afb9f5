"""The restricted engine's processes: nothing leaks and nothing hangs."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.sampling import repetitions
from tests.sandbox.conftest import Execution
from tests.sandbox.restricted.conftest import holed

from coilclaw.sandbox import (
    Completed,
    Crashed,
    Deadline,
    EngineUnavailable,
    Failed,
    OutOfMemory,
    OutputExceeded,
    Rejected,
    TimedOut,
)
from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sandbox.restricted.warm_parent import WarmParent


def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def descendants(pid: int) -> set[int]:
    """Every process below this one, alive or not yet reaped."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            found |= {child} | descendants(child)
    return found


# Processes ------------------------------------------------------------------------------------------------


def test_a_child_that_is_killed_is_a_crash_and_the_next_run_is_fine(restricted: RestrictedEngine) -> None:
    started = threading.Event()

    def kill_it() -> None:
        started.wait(60)
        parent = restricted.parent.pid
        assert parent is not None
        for child in descendants(parent):
            os.kill(child, signal.SIGKILL)

    killer = threading.Thread(target=kill_it)
    killer.start()
    tools = {"started": lambda: started.set()}
    ran = Execution(tools=tools).of("tools.started()\nwhile True: pass", restricted)
    killer.join()
    assert isinstance(ran.outcome, Crashed)
    assert Execution().of("1 + 1", restricted).value == 2


def test_a_parent_that_is_killed_takes_its_children_along_and_is_replaced(restricted: RestrictedEngine) -> None:
    assert Execution().of("1", restricted).value == 1
    first = restricted.parent.pid
    assert first is not None
    assert eventually(lambda: bool(descendants(first)))  # The spare for the next run.
    children = descendants(first)
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
    assert Execution().of("1 + 1", restricted).value == 2
    assert restricted.parent.pid != first


def test_a_parent_that_is_killed_during_a_run_is_a_crash_of_that_run(restricted: RestrictedEngine) -> None:
    def die() -> None:
        assert restricted.parent.pid is not None
        os.kill(restricted.parent.pid, signal.SIGKILL)

    assert isinstance(Execution(tools={"die": die}).of("tools.die()\nwhile True: pass", restricted).outcome, Crashed)
    assert Execution().of("1 + 1", restricted).value == 2


def test_a_host_that_is_killed_leaves_no_process_behind(tmp_path: Path) -> None:
    source = (
        "import sys\nsys.path[:0] = sys.argv[1:]\n"
        "from tests.sandbox.conftest import Execution\nfrom coilclaw.sandbox.restricted import RestrictedEngine\n"
        "engine = RestrictedEngine(spares=1)\nExecution().of('1', engine)\n"
        "tools = {'ready': lambda: print('ready', flush=True)}\n"
        "Execution(seconds=60, tools=tools).of('tools.ready()\\nwhile True: pass', engine)\n"
    )
    root = str(Path(__file__).parents[3])
    host = subprocess.Popen([sys.executable, "-c", source, root], stdout=subprocess.PIPE, cwd=tmp_path)
    assert host.stdout is not None
    with host.stdout:
        assert host.stdout.readline() == b"ready\n"
        below = descendants(host.pid)
        assert len(below) >= 2
        host.kill()
        host.wait()
    assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below)), below


def test_closing_the_engine_ends_every_process() -> None:
    before = descendants(os.getpid())
    engine = RestrictedEngine(spares=2)
    assert Execution().of("1", engine).value == 1
    assert descendants(os.getpid()) > before
    engine.close()
    assert eventually(lambda: descendants(os.getpid()) <= before)
    with pytest.raises(EngineUnavailable):
        Execution().of("1", engine)


def test_a_layer_that_is_required_and_off_stops_the_run_before_the_snippet_is_handed_over() -> None:
    engine = RestrictedEngine(require=["seccomp"], off=["seccomp"])
    try:
        with pytest.raises(EngineUnavailable, match="seccomp"):
            Execution().of("1", engine)
    finally:
        engine.close()


class Restarts(Deadline):
    """Counts how often it was restarted."""

    count = 0

    def restart(self) -> None:
        self.count += 1
        super().restart()


def test_starting_the_parent_is_not_the_runs_time() -> None:
    engine, cold, warm = RestrictedEngine(), Restarts(60), Restarts(60)
    try:
        assert [Execution(deadline=each).of("1 + 1", engine).value for each in (cold, warm)] == [2, 2]
    finally:
        engine.close()
    assert (cold.count, warm.count) == (1, 0)


def test_a_parent_that_cannot_start_says_why(tmp_path: Path) -> None:
    boot = tmp_path / "broken.py"
    boot.write_text("raise SystemExit('no luck today')")
    engine = RestrictedEngine()
    engine.parent.close()
    engine.parent = WarmParent(boot=boot)
    with pytest.raises(EngineUnavailable, match="no luck today"):
        Execution().of("1", engine)
    engine.close()


MIXED: list[tuple[str, dict[str, Any], type[Any] | tuple[type[Any], ...]]] = [
    ("while True: pass", {"seconds": 0.1}, TimedOut),
    ("import time\ntime.sleep(60)", {"seconds": 0.05}, TimedOut),
    ("x = bytearray(10 ** 9)", {}, OutOfMemory),
    ("x = []\nwhile True: x.append(bytearray(10 ** 6))", {"memory_bytes": 64 * 2**20}, (OutOfMemory, TimedOut)),
    ("print('x' * 10 ** 6)", {"output_bytes": 10_000}, OutputExceeded),
    ("1 / 0", {}, Failed),
    ("exec('1')", {}, Rejected),
    ("tools.stuck.start()\ntools.stuck.start()\n'left'", {"tools": {"stuck": lambda: time.sleep(0.2)}}, Completed),
    ("tools.die()\nwhile True: pass", {}, Crashed),
]


@pytest.mark.req("R3")
@pytest.mark.timeout(300)
def test_many_runs_of_every_kind_leak_nothing_and_every_good_one_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = RestrictedEngine(spares=2)
    request.addfinalizer(engine.close)
    assert Execution().of("1", engine).value == 1
    parent = engine.parent.pid
    assert parent is not None
    chance = random.Random(7)

    def state() -> tuple[int, int, int, int]:
        return (
            len(list(Path("/proc/self/fd").iterdir())),
            len(list(Path(f"/proc/{parent}/fd").iterdir())),
            len(descendants(parent)),
            len([thread for thread in threading.enumerate() if "worker" not in thread.name]),
        )

    def kill_one() -> None:
        with contextlib.suppress(ProcessLookupError, StopIteration):  # It may just have ended by itself.
            os.kill(next(iter(descendants(parent))), signal.SIGKILL)

    def one(number: int) -> str | None:
        if chance.random() < 0.5:
            ran = Execution(tools={"add": lambda a, b: a + b}).of(
                f"x = {{n: n * {number} for n in range(50)}}\nprint({number})\ntools.add(a=x[7], b=1).value", engine
            )
            right = ran.outcome == Completed(value=7 * number + 1) and ran.stdout == f"{number}\n"
            # A run beside one whose child is killed at random may be the one that is hit.
            return None if right or isinstance(ran.outcome, Crashed) else f"{number}: {ran.outcome}"
        source, options, kind = chance.choice(MIXED)
        if "die" in source:
            options = {"tools": {"die": kill_one}, "seconds": 3}
            kind = (Crashed, TimedOut)
        ran = Execution(**options).of(source, engine)
        return (
            None
            if isinstance(ran.outcome, kind | Crashed if isinstance(kind, type) else (*kind, Crashed))
            else str(ran.outcome)
        )

    assert engine.parent.wait_for_spares(60)
    before = state()
    with ThreadPoolExecutor(8) as runs:
        wrong = [problem for problem in runs.map(one, range(repetitions(200, 1000))) if problem]
    assert wrong == []
    assert eventually(lambda: all(now <= then + 1 for now, then in zip(state(), before, strict=True))), (
        before,
        state(),
    )
    assert list(tmp_path.iterdir()) == []
    assert engine.parent.pid == parent


# With no guards at all --------------------------------------------------------------------------------------

UNGUARDED = {
    "read a file": "open('/etc/hostname').read()",
    "read its own memory": "open('/proc/self/mem', 'rb')",
    "list a folder": "import os\nos.listdir('/')",
    "write a file": "open('/tmp/made-by-a-child', 'w')",
    "start a process": "import os\nassert os.system('true') == 0",
    "fork": "import os\nos.fork()",
    "spawn": "import os\nos.posix_spawn('/bin/true', ['true'], {})",
    "start a thread": "import _thread\n_thread.start_new_thread(print, ())",
    "make a socket": "import _socket\n_socket.socket()",
    "make a unix socket": "import _socket\n_socket.socket(1, 1)",
    "connect": "import _socket\n_socket.socket().connect(('127.0.0.1', PORT))",
    "signal the host": "import os\nos.kill(HOST, 9)",
    "signal its group": "import os\nos.killpg(0, 9)",
    "become root": "import os\nos.setuid(0)",
    "raise a limit": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "take memory": "b = bytearray(2 ** 30)",
    "map code": "import mmap\nmmap.mmap(-1, 4096, prot=7)",
}


@pytest.mark.req("R3", "R22", "R23", "R24")
def test_with_every_guard_removed_the_confinement_alone_holds(tmp_path: Path) -> None:
    engine = holed(tmp_path, "no_guards_at_all")
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.setblocking(False)
            inputs = {"PORT": server.getsockname()[1], "HOST": os.getpid()}
            # Guards are really gone: a module is a module, and its code is reached.
            assert Execution().of("import os, sys\n[os.getcwd.__name__, 'os' in sys.modules]", engine).value == [
                "getcwd",
                True,
            ]
            for name, source in UNGUARDED.items():
                ran = Execution(inputs=inputs, seconds=5, memory_bytes=128 * 2**20).of(f"{source}\n'reached'", engine)
                assert isinstance(ran.outcome, Failed | OutOfMemory | Crashed), (name, ran.outcome)
            with pytest.raises(BlockingIOError):
                server.accept()
    finally:
        engine.close()
    assert not Path("/tmp/made-by-a-child").exists()
