"""The restricted engine's processes: nothing leaks, nothing hangs, nothing is taken on trust."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sampling import repetitions
from tests.sandbox.conftest import MIB, Execution, RecordingHost

from coilclaw.sandbox import (
    Completed,
    Crashed,
    Deadline,
    EngineUnavailable,
    Failed,
    Limits,
    OutOfMemory,
    OutputExceeded,
    Pins,
    Rejected,
    RunEnded,
    TimedOut,
)
from coilclaw.sandbox.channel import ChildEnded
from coilclaw.sandbox.conversation import Conversation
from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sandbox.restricted.child.requests import OUT_OF_MEMORY_EXIT
from coilclaw.sandbox.restricted.warm_parent import Child, WarmParent
from coilclaw.sandbox.wire import FRAME_LIMIT, LENGTH, frame

BOOT = Path(__file__).parent / "holed_boot.py"


def eventually(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
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


@pytest.fixture
def restricted() -> Iterator[RestrictedEngine]:
    engine = RestrictedEngine(spares=1)
    yield engine
    engine.close()


def holed(tmp_path: Path, hole: str) -> RestrictedEngine:
    """An engine whose children lack a guard; see `holed_boot`."""
    boot = tmp_path / f"{hole}.py"
    boot.write_text(BOOT.read_text())
    engine = RestrictedEngine()
    engine.parent.close()
    engine.parent = WarmParent(boot=boot)
    return engine


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = RestrictedEngine(spares=2)
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
    engine.close()


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


# The protocol -----------------------------------------------------------------------------------------------


def converse(sent: bytes, *, seconds: float = 2.0) -> str | Exception:
    """What the host makes of a child that sends these bytes and hangs up."""
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    deadline = Deadline(seconds)
    host = RecordingHost({}, deadline, 100_000)

    reporting.close()  # As if the child's parent were gone: nobody will tell how it ended.

    def attack() -> None:
        with theirs:
            try:
                theirs.sendall(sent)
                theirs.shutdown(socket.SHUT_WR)
                while theirs.recv(65536):
                    pass
            except OSError:
                pass

    attacker = threading.Thread(target=attack, daemon=True)
    attacker.start()
    try:
        with Child(ours, report, set()) as child:
            return Conversation(child, host, deadline, Pins()).until_the_end()
    except (ChildEnded, RunEnded) as error:
        return error
    finally:
        attacker.join(60)


KINDS = ["call", "begin", "wait", "preflight", "write", "sleep", "wall", "monotonic", "end", "ready", "broken", "x"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.lists(st.one_of(JSON, st.integers(-1, 10**6), st.text(max_size=30)), max_size=4)
FRAMES = st.one_of(
    st.tuples(st.sampled_from(KINDS), ARGUMENTS, JSON).map(
        lambda parts: frame(json.dumps([parts[0], *parts[1]]).encode() + b"\n" + json.dumps(parts[2]).encode())
    ),
    st.binary(max_size=60).map(frame),
    st.binary(max_size=60),
    st.integers(0, 2**32 - 1).map(lambda size: struct.pack("!I", size)),
)


@given(st.lists(FRAMES, max_size=6))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_a_child_sends_confuses_the_host(frames: list[bytes]) -> None:
    # Sleeps that a frame asks for are cut short by the deadline.
    answer = converse(b"".join(frames), seconds=0.3)
    assert isinstance(answer, str | ChildEnded | RunEnded)


@pytest.mark.parametrize(
    "sent",
    {
        "a length beyond the limit": LENGTH.pack(FRAME_LIMIT + 1) + b"x",
        "the largest length": b"\xff\xff\xff\xff",
        "half a length": b"\x00\x00",
        "half a frame": LENGTH.pack(100) + b"[",
        "an empty frame": LENGTH.pack(0),
        "no header": frame(b"\n{}"),
        "a header that is an object": frame(b'{"call": 1}\n{}'),
        "a header of nested arrays": frame(b"[" * 100_000),
        "a boolean as a line": frame(b'["call", "a", true]\n{}'),
        "a float as a line": frame(b'["call", "a", 1.5]\n{}'),
        "a tool that is a list": frame(b'["call", ["a"], 1]\n{}'),
        "too many parts": frame(b'["call", "a", 1, 2]\n{}'),
        "output that is not text": frame(b'["write", 1]\n{"a": 1}'),
        "output that is not JSON": frame(b'["write", 1]\nhello'),
        "output that is not UTF-8": frame(b'["write", 1]\n"\xff"'),
        "an end that is not UTF-8": frame(b'["end"]\n\xff\xfe'),
        "a pickle": frame(b"\x80\x04\x95\x1f\x00\x00\x00.\n"),
        "a header of megabytes": frame(b"[" + b"{}," * 10**6 + b"1]\n1"),
        "output that is a large object": frame(b'["write", 1]\n[' + b"{}," * 10**6 + b"1]"),
        "a wait without end": frame(b'["wait", 1' + b"0" * 4000 + b"]\n1"),
        "a sleep without end": frame(b'["sleep", 1' + b"0" * 4000 + b"]\n1"),
        "a sleep into the past": frame(b'["sleep", -5]\n1'),
        "nothing": b"",
    }.values(),
    ids=lambda sent: repr(sent[:24]),
)  # fmt: skip
def test_a_broken_frame_ends_the_conversation(sent: bytes) -> None:
    assert isinstance(converse(sent), ChildEnded)


def test_a_frame_that_never_ends_is_ended_by_the_deadline() -> None:
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    with theirs, reporting, Child(ours, report, set()) as child:
        theirs.sendall(LENGTH.pack(100) + b"[")
        deadline = Deadline(0.2)
        with pytest.raises(RunEnded):
            child.receive(deadline)


def test_bytes_that_trickle_in_are_ended_by_the_deadline() -> None:
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    stop = threading.Event()

    def trickle() -> None:
        with theirs, contextlib.suppress(OSError):
            theirs.sendall(LENGTH.pack(10**6))
            while not stop.wait(0.01):
                theirs.sendall(b"x")

    thread = threading.Thread(target=trickle)
    thread.start()
    with reporting, Child(ours, report, set()) as child, pytest.raises(RunEnded):
        child.receive(Deadline(0.3))  # The whole frame would take hours.
    stop.set()
    thread.join()


@pytest.mark.parametrize(
    ("reported", "how"),
    [
        ({"signal": signal.SIGKILL}, {"silent": True}),  # It closed the conversation and lived on.
        ({"code": OUT_OF_MEMORY_EXIT}, {"code": OUT_OF_MEMORY_EXIT}),  # It had ended, and the machine was busy.
        ({"signal": signal.SIGSEGV}, {"signal": signal.SIGSEGV}),
    ],
)
def test_how_a_child_ended_is_known_however_late_its_parent_says_so(
    reported: dict[str, int], how: dict[str, Any]
) -> None:
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()

    def report_when_asked_to_kill() -> None:
        assert reporting.recv(1) == b""
        reporting.sendall(json.dumps(reported).encode() + b"\n")

    parent = threading.Thread(target=report_when_asked_to_kill)
    parent.start()
    with reporting, Child(ours, report, set()) as child:
        theirs.close()
        with pytest.raises(ChildEnded) as ended:
            child.receive(Deadline(10))
        parent.join()
    assert ended.value.how == how


FAULT = "import sys\nsys.modules['ctypes'].string_at(0)"
FULL = "held = []\ntry:\n    while True: held.append(b'x' * 100_000)\nexcept MemoryError: pass\n"


def test_an_interpreter_that_dies_of_a_failed_allocation_is_out_of_memory(tmp_path: Path) -> None:
    engine = holed(tmp_path, "no_guards_at_all")
    try:
        assert isinstance(Execution(memory_bytes=64 * MIB).of(FAULT, engine).outcome, Crashed)
        outcome = Execution(memory_bytes=64 * MIB).of(FULL + FAULT, engine).outcome
        assert outcome == OutOfMemory(memory_bytes=64 * MIB)
    finally:
        engine.close()


def test_a_child_that_does_not_read_is_ended_by_the_deadline() -> None:
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    with theirs, reporting, Child(ours, report, set()) as child, pytest.raises(RunEnded):
        child.send(b"x" * 10**7, Deadline(0.2))


def test_a_forged_end_is_only_ever_an_outcome_of_that_run(tmp_path: Path) -> None:
    engine = holed(tmp_path, "no_guards_at_all")
    forge = (
        "import os, json, struct\ndef say(header, body):\n"
        "    data = json.dumps(header).encode() + b'\\n' + body\n"
        "    for descriptor in range(64):\n"
        "        try: os.write(descriptor, struct.pack('!I', len(data)) + data)\n"
        "        except OSError: pass\n"
    )
    try:
        for body, kind in {
            b'{"status": "completed", "value": "forged"}': Completed,
            b'{"status": "approved"}': Crashed,
            b'{"status": "completed"}': Crashed,
            b'{"status": "completed", "value": NaN}': Crashed,
            b"[" * 1000: Crashed,
            b"nonsense": Crashed,
        }.items():
            assert isinstance(Execution().of(f"{forge}say(['end'], {body!r})\nwhile True: pass", engine).outcome, kind)
        assert isinstance(Execution().of(f"{forge}say(['ready'], b'1')\n1", engine).outcome, Crashed)
        assert Execution().of("1 + 1", engine).value == 2
    finally:
        engine.close()


def test_limits_are_not_what_a_child_says_they_are(restricted: RestrictedEngine) -> None:
    host = RecordingHost({}, Deadline(5), 1000)
    assert host.stdout == ""
    ran = Execution(output_bytes=1000).of("'x' * 2000", restricted)
    assert ran.outcome == OutputExceeded(output_bytes=1000)
    assert Limits().output_bytes > 1000
