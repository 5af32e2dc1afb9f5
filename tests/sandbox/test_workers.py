"""Guests in worker processes: as in the process of the engine, and nothing leaks, hangs or is taken on trust."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.conftest import cache_folder
from tests.sandbox.conftest import MIB, Execution, RecordingHost, engine_with_a_worker

from coilclaw.confinement import landlock
from coilclaw.sandbox import (
    Cancelled,
    Completed,
    Crashed,
    Deadline,
    Limits,
    OutOfMemory,
    OutputExceeded,
    Pins,
    RunEnded,
    Snippet,
    Suspended,
    TimedOut,
)
from coilclaw.sandbox.wasm import WasmEngine, workers

ENDLESS = "while True: pass"


@pytest.fixture
def engine() -> Iterator[WasmEngine]:
    made = engine_with_a_worker()
    yield made
    made.close()


def eventually(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            return False
        time.sleep(0.01)
    return True


def pid_of(engine: WasmEngine) -> int:
    (pid,) = engine.workers.pids
    return pid


def in_a_worker(engine: WasmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on a run that takes place in this process fails."""

    def refuse() -> Any:
        raise AssertionError("this run is not in a worker")

    monkeypatch.setattr(engine.guests, "take", refuse)
    monkeypatch.setattr(engine.guests, "take_if_alone", lambda: None)


def test_a_run_takes_place_in_another_process(engine: WasmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_worker(engine, monkeypatch)
    ran = Execution(tools={"add": lambda a, b: a + b}, inputs={"n": 2}).of(
        "print(n)\ntools.add(a=n, b=3).unwrap()", engine
    )
    assert (ran.value, ran.stdout) == (5, "2\n")


def test_a_run_that_is_alone_prefers_a_guest_that_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = WasmEngine(cache_folder(), pool=1, workers=1)
    try:
        assert engine.guests.wait_until_full()
        assert engine.workers.wait_until_ready()
        monkeypatch.setattr(workers.Worker, "run", lambda *_: pytest.fail("a worker was asked"))
        assert Execution().of("1 + 1", engine).value == 2
    finally:
        engine.close()


def test_runs_at_the_same_time_are_in_different_processes() -> None:
    engine = WasmEngine(cache_folder(), workers=2)
    try:
        assert engine.workers.wait_until_ready()
        met = threading.Barrier(2, timeout=60)
        answers: list[Any] = []

        def run(number: int) -> None:
            tools = {"meet": lambda: met.wait() >= 0}
            answers.append(
                Execution(tools=tools, inputs={"n": number}).of("tools.meet().unwrap()\nn * n", engine).value
            )

        threads = [threading.Thread(target=run, args=(number,)) for number in (3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(answers) == [9, 16]
        assert len(engine.workers.pids) == 2
    finally:
        engine.close()


@pytest.mark.parametrize(
    "source",
    [
        "import random, uuid, os\n[random.random(), str(uuid.uuid4()), os.urandom(9).hex(), id([]), repr(object())]",
        "import time\n[time.time(), time.monotonic(), (time.sleep(0.01), time.time())[1]]",
        "list({str(n) for n in range(50)}) + [hash('x')]",
        "import asyncio\nawait asyncio.wait([asyncio.create_task(asyncio.sleep(0.001 * n)) for n in range(3)])\n1",
    ],
)
def test_a_run_is_the_same_in_a_worker_and_in_the_process_of_the_engine(engine: WasmEngine, source: str) -> None:
    here = WasmEngine(cache_folder())
    try:
        seen = []
        for each in (engine, here):
            clock = iter(range(10**9, 10**12, 10**6)).__next__
            pins = Pins(seed=bytes(31) + b"7", wall_clock=clock, monotonic_clock=clock)
            seen.append(Execution(pins=pins).of(source, each).value)
        assert seen[0] == seen[1]
    finally:
        here.close()


# The end of a run ----------------------------------------------------------------------------------------


def test_a_run_whose_time_is_up_leaves_the_worker_for_the_next_one(engine: WasmEngine) -> None:
    pid = pid_of(engine)
    assert isinstance(Execution(seconds=0.2).of(ENDLESS, engine).outcome, TimedOut)
    assert Execution().of("1 + 1", engine).value == 2
    assert pid_of(engine) == pid


@pytest.mark.parametrize("look", ["time.time()", "time.monotonic()", "time.sleep(0.001)"])
def test_a_run_whose_time_is_up_while_it_looks_at_a_clock_leaves_the_worker(engine: WasmEngine, look: str) -> None:
    pid = pid_of(engine)
    assert isinstance(Execution(seconds=0.2).of(f"import time\nwhile True: {look}", engine).outcome, TimedOut)
    assert Execution().of("1 + 1", engine).value == 2
    assert pid_of(engine) == pid


def test_a_run_that_is_cancelled_leaves_the_worker_for_the_next_one(engine: WasmEngine) -> None:
    pid, deadline = pid_of(engine), Deadline(60)
    tools = {"started": lambda: threading.Timer(0.05, deadline.cancel).start()}
    ran = Execution(tools=tools, deadline=deadline).of(f"tools.started()\n{ENDLESS}", engine)
    assert isinstance(ran.outcome, Cancelled)
    assert Execution().of("1 + 1", engine).value == 2
    assert pid_of(engine) == pid


def test_a_run_that_the_host_ends_leaves_the_worker_for_the_next_one(engine: WasmEngine) -> None:
    class SuspendingHost(RecordingHost):
        def call(self, tool: str, input: bytes, line: int) -> bytes:
            raise RunEnded(Suspended())

    pid, deadline = pid_of(engine), Deadline(20)
    host = SuspendingHost({}, deadline, 1000)
    outcome = engine.execute(Snippet(source="tools.x.y()"), Limits(), host, deadline, Pins())
    assert isinstance(outcome, Suspended)
    assert Execution().of("1 + 1", engine).value == 2
    assert pid_of(engine) == pid


def test_a_worker_that_does_not_stop_is_killed_and_replaced(engine: WasmEngine) -> None:
    pid, deadline = pid_of(engine), Deadline(60)

    def freeze() -> None:
        os.kill(pid, signal.SIGSTOP)
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
        deadline.cancel()

    assert isinstance(
        Execution(tools={"freeze": freeze}, deadline=deadline).of("tools.freeze()", engine).outcome, Cancelled
    )
    assert not Path(f"/proc/{pid}").exists()
    assert Execution().of("1 + 1", engine).value == 2
    assert engine.workers.wait_until_ready()
    assert pid_of(engine) != pid


def test_a_worker_that_is_killed_is_a_crash_and_is_replaced(engine: WasmEngine) -> None:
    pid = pid_of(engine)
    outcome = (
        Execution(tools={"die": lambda: os.kill(pid, signal.SIGKILL)}).of(f"tools.die()\n{ENDLESS}", engine).outcome
    )
    assert isinstance(outcome, Crashed)
    assert outcome.reason.startswith("the sandbox's process ended")
    assert Execution().of("1 + 1", engine).value == 2
    assert engine.workers.wait_until_ready()
    assert pid_of(engine) != pid


def test_a_worker_that_died_while_it_waited_is_given_no_run(engine: WasmEngine) -> None:
    pid = pid_of(engine)
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert Execution().of("1 + 1", engine).value == 2


def test_a_trap_ends_the_guest_and_not_the_worker(engine: WasmEngine) -> None:
    pid = pid_of(engine)
    outcome = Execution().of("import os\nos._exit(3)", engine).outcome
    assert isinstance(outcome, Crashed)
    assert outcome.reason == "the snippet ended the interpreter"
    assert Execution().of("1 + 1", engine).value == 2
    assert pid_of(engine) == pid


def test_the_limits_of_a_run_hold_in_a_worker(engine: WasmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_worker(engine, monkeypatch)
    pid = pid_of(engine)
    greedy = Execution(memory_bytes=64 * MIB).of("x = bytearray(100 * 1024 * 1024)", engine).outcome
    assert isinstance(greedy, OutOfMemory)
    loud = Execution(output_bytes=1000).of("while True: print('x' * 100)", engine).outcome
    assert isinstance(loud, OutputExceeded)
    roomy = Execution(memory_bytes=512 * MIB).of("len(bytearray(300 * 1024 * 1024))", engine)
    assert roomy.value == 300 * MIB
    assert pid_of(engine) == pid


# Waiting for a worker ------------------------------------------------------------------------------------


def test_a_run_that_waits_for_a_tool_keeps_no_other_run_from_running(engine: WasmEngine) -> None:
    called, released = threading.Event(), threading.Event()

    def wait() -> bool:
        called.set()
        return released.wait(60)

    waiting: list[Any] = []
    thread = threading.Thread(
        target=lambda: waiting.append(Execution(tools={"wait": wait}).of("tools.wait().unwrap()", engine).value)
    )
    thread.start()
    assert called.wait(60)
    assert Execution().of("1 + 1", engine).value == 2
    released.set()
    thread.join(60)
    assert waiting == [True]


def test_a_worker_whose_run_hangs_in_a_tool_is_replaced(engine: WasmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_LOST_SECONDS", 0.0)
    called, released = threading.Event(), threading.Event()

    class HangingHost(RecordingHost):
        def call(self, tool: str, input: bytes, line: int) -> bytes:
            called.set()
            released.wait(60)
            return b"{}"

    pid, deadline = pid_of(engine), Deadline(60)
    host = HangingHost({}, deadline, 1000)
    thread = threading.Thread(
        target=lambda: engine.execute(Snippet(source="tools.x.y()"), Limits(), host, deadline, Pins())
    )
    thread.start()
    assert called.wait(60)
    deadline.cancel()
    assert Execution().of("1 + 1", engine).value == 2
    assert not Path(f"/proc/{pid}").exists()
    released.set()
    thread.join(60)


def test_many_runs_at_once_all_get_their_own_answers() -> None:
    engine = WasmEngine(cache_folder(), workers=2)
    try:
        answers: dict[int, Any] = {}

        def run(number: int) -> None:
            tools = {"double": lambda n: 2 * n}
            execution = Execution(tools=tools, inputs={"n": number})
            answers[number] = execution.of("tools.double(n=n).unwrap() + 1", engine).value

        threads = [threading.Thread(target=run, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert answers == {number: 2 * number + 1 for number in range(24)}
    finally:
        engine.close()


# Processes -----------------------------------------------------------------------------------------------


def test_no_process_and_no_descriptor_is_left_after_close() -> None:
    Execution().of("1", engine := WasmEngine(cache_folder()))  # Whatever is opened once and kept.
    engine.close()
    before = set(os.listdir("/proc/self/fd"))
    engine = WasmEngine(cache_folder(), workers=2)
    assert engine.workers.wait_until_ready()
    deadline = Deadline(60)
    started = threading.Event()
    outcomes: list[Any] = []
    thread = threading.Thread(
        target=lambda: outcomes.append(
            Execution(tools={"started": started.set}, deadline=deadline)
            .of(f"tools.started()\n{ENDLESS}", engine)
            .outcome
        )
    )
    thread.start()
    assert started.wait(60)
    pids = engine.workers.pids
    engine.close()
    thread.join(60)
    assert isinstance(outcomes[0], Crashed), "a run that is under way ends with its process"
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert set(os.listdir("/proc/self/fd")) <= before, "what others had open may be closed meanwhile"
    assert isinstance(Execution().of("1 + 1", engine).outcome, Completed), "and no other is started"
    assert not engine.workers.pids


def test_a_host_that_is_killed_leaves_no_worker_behind() -> None:
    source = (
        "import sys\nsys.path[:0] = sys.argv[1:]\n"
        "from tests.sandbox.conftest import Execution, engine_with_a_worker\nengine = engine_with_a_worker()\n"
        "tools = {'ready': lambda: print(*engine.workers.pids, flush=True)}\n"
        "Execution(seconds=60, tools=tools).of('tools.ready()\\nwhile True: pass', engine)\n"
    )
    root = str(Path(__file__).parents[2])
    with subprocess.Popen([sys.executable, "-c", source, root], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    assert eventually(lambda: not Path(f"/proc/{pid}").exists())


def test_a_worker_has_no_environment_and_nothing_open_but_its_conversation(engine: WasmEngine) -> None:
    pid = pid_of(engine)
    assert Path(f"/proc/{pid}/environ").read_bytes() == b""
    assert Path(f"/proc/{pid}/cwd").resolve() == Path("/")
    kinds = {os.readlink(f"/proc/{pid}/fd/{name}").split(":")[0] for name in os.listdir(f"/proc/{pid}/fd")}
    own = {"/dev/null", "socket"}
    assert {kind for kind in kinds if not kind.endswith(".cwasm")} <= own, kinds


@pytest.mark.skipif(landlock.unavailable() is not None, reason="this machine has no Landlock")
def test_a_worker_can_open_no_file(tmp_path: Path) -> None:
    probe = (
        "import threading\nfrom coilclaw.sandbox.wasm.worker import _give_up_files\n_give_up_files()\n"
        "def attempt():\n"
        "    for path, mode in (('/etc/passwd', 'r'), (PATH, 'w')):\n"
        "        try:\n            open(path, mode)\n            print('opened', path)\n"
        "        except PermissionError:\n            pass\n"
        "thread = threading.Thread(target=attempt)\nthread.start()\nthread.join()\nprint('done')"
    )
    source = f"PATH = {str(tmp_path / 'made')!r}\n{probe}"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize(
    "said",
    [
        '["end"',
        '["call", 1, 2]\nnull',
        "{}",
        '["sleep", -5]\nnull',
        '["write", 1]\n5',
        '["stopped"]\nnull',
        "",
    ],
)
def test_a_worker_that_breaks_the_rules_is_a_crash_and_is_replaced(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    made = WasmEngine(cache_folder())
    ready = json.dumps(["ready", made.build]) + "\nnull"
    rogue = (
        "import socket, time; channel = socket.socket(fileno=settings['channel']); "
        "say = lambda text: channel.sendall(len(text).to_bytes(4, 'big') + text.encode()); "
        f"say({ready!r}); channel.recv(10**6); say({said!r}); time.sleep(60)"
    )
    monkeypatch.setattr(workers, "_MAIN", rogue)
    made.close()
    engine = WasmEngine(cache_folder(), workers=1)
    try:
        assert engine.workers.wait_until_ready()
        pid = pid_of(engine)
        assert isinstance(Execution().of("1 + 1", engine).outcome, Crashed)
        assert not Path(f"/proc/{pid}").exists()
    finally:
        engine.close()


@pytest.mark.parametrize("main", ["raise SystemExit(1)", None])
def test_a_worker_that_could_not_be_started_once_is_started_later(
    monkeypatch: pytest.MonkeyPatch, main: str | None
) -> None:
    engine = WasmEngine(cache_folder(), workers=1)
    try:
        with monkeypatch.context() as patched:
            if main is None:
                patched.setattr(subprocess, "Popen", Mock(side_effect=BlockingIOError(11, "no more processes")))
            else:
                patched.setattr(workers, "_MAIN", main)
            assert not engine.workers.wait_until_ready()
            assert not engine.workers.wait_until_ready(), "not tried again at once"
            assert Execution().of("1 + 1", engine).value == 2
        monkeypatch.setattr(workers, "_RETRY_SECONDS", 0.0)
        assert engine.workers.wait_until_ready()
    finally:
        engine.close()


@pytest.mark.parametrize("main", ["raise SystemExit(1)", "import time; time.sleep(60)", "import nothing_like_this"])
def test_without_a_worker_that_starts_runs_take_place_in_the_process(
    monkeypatch: pytest.MonkeyPatch, main: str
) -> None:
    monkeypatch.setattr(workers, "_MAIN", main)
    engine = WasmEngine(cache_folder(), workers=1)
    try:
        assert not engine.workers.wait_until_ready(0.5)
        assert [Execution().of(f"{number} + 1", engine).value for number in range(3)] == [1, 2, 3]
    finally:
        engine.close()
