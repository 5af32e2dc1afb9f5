"""Several processes, and processes that die."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.conftest import KEY
from tests.sampling import repetitions, sample

from coilclaw.receipts import MIGRATIONS, ReceiptLog
from coilclaw.store import Database

APPEND = """
import sys
from pathlib import Path
from coilclaw.receipts import MIGRATIONS, Draft, ReceiptLog, now
from coilclaw.store import Database

place, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with Database(place, MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
    for number in range(count):
        log.append(Draft(type="test", status="allowed", timestamp=now(), run_id=name, payload={"number": number}))
"""

WRITE_CALLS = """
import os, signal, sys
from pathlib import Path
import apsw
from coilclaw.bridge import Bridge, Handlers, RunSpec, Services, build_registry
from coilclaw.policy import ApprovalStore, Autonomy, Policy
from coilclaw.receipts import MIGRATIONS, ReceiptLog
from coilclaw.sandbox import Deadline, Limits
from coilclaw.sdk import ToolContext, define_tool
from coilclaw.store import Database

home, die_at = Path(sys.argv[1]), int(sys.argv[2])


class Mortal(apsw.VFS):
    '''Counts every write, sync and truncation of the database and its WAL, and dies before the given one.'''

    def __init__(self):
        super().__init__("mortal", "unix", makedefault=True)
        self.count = 0

    def xOpen(self, name, flags):
        return MortalFile(self, name, flags)

    def step(self):
        self.count += 1
        if self.count == die_at:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalFile(apsw.VFSFile):
    def __init__(self, vfs, name, flags):
        super().__init__("unix", name, flags)
        self.vfs = vfs

    def xWrite(self, data, offset):
        self.vfs.step()
        super().xWrite(data, offset)

    def xSync(self, flags):
        self.vfs.step()
        super().xSync(flags)

    def xTruncate(self, size):
        self.vfs.step()
        super().xTruncate(size)


vfs = Mortal()
effects = os.open(home / "effects", os.O_CREAT | os.O_APPEND | os.O_WRONLY)


@define_tool(id="test.write", risk="write")
def write(ctx: ToolContext, n: int) -> int:
    os.write(effects, f"{ctx.call_id}\\n".encode())
    return n


@define_tool(id="test.read", risk="read")
def read(ctx: ToolContext, n: int) -> int:
    return n


with Database(home / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
    around = Services(
        log=log, database=database, approvals=ApprovalStore(database, log), policy=Policy(Autonomy.FULL),
        handlers=Handlers(), workspace=home, secret=lambda name: None,
    )
    registry = build_registry([([write, read], ())])
    spec = RunSpec(run_id=f"run-{os.getpid()}", registry=registry, limits=Limits(calls=10**6), deadline=Deadline(60))
    bridge = Bridge(around, spec)
    [(tool.input, tool.output) for tool in registry.tools.values()]  # Made by the first call otherwise, after "ready".
    print("ready", flush=True)
    for number in range(int(sys.argv[3])):
        bridge.call("test.read", b'{"n": %d}' % number, 1)
        bridge.call("test.write", b'{"n": %d}' % number, 1)
    bridge.close()
print("steps", vfs.count, flush=True)
"""


def start(script: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", script, *map(str, args)], stdout=subprocess.PIPE, text=True)


def check(home: Path) -> None:
    """The log verifies, and whatever had an effect has a `started` receipt."""
    with Database(home / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        result = log.verify()
        assert result.ok, result.problem
        started = {receipt.tool_call_id for receipt in log.latest(10**6) if receipt.type == "tool.call.started"}
    effects = (home / "effects").read_text().split() if (home / "effects").exists() else []
    assert set(effects) <= started
    assert len(effects) == len(set(effects))


def test_four_processes_share_one_chain(tmp_path: Path) -> None:
    place = tmp_path / "coilclaw.db"
    children = [start(APPEND, place, f"run-{number}", 1000) for number in range(4)]
    assert [child.wait() for child in children] == [0, 0, 0, 0]
    for child in children:
        assert child.stdout is not None
        child.stdout.close()
    with Database(place, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        result = log.verify()
        assert result.ok, result.problem
        assert result.count == 4000
        for number in range(4):
            mine = log.of_run(f"run-{number}")
            assert [receipt.payload["number"] for receipt in mine] == list(range(1000))


@pytest.mark.timeout(1800)  # For every write, on a busy machine.
def test_death_at_every_write_leaves_a_log_that_holds(tmp_path: Path) -> None:
    with start(WRITE_CALLS, tmp_path, 0, 3) as child:
        output, _ = child.communicate(timeout=60)
    steps = int(output.split()[-1])
    assert steps > 20
    check(tmp_path)
    died = 0
    tried = sample(range(1, steps + 1), 10)
    for step in tried:
        home = tmp_path / str(step)
        home.mkdir()
        with start(WRITE_CALLS, home, step, 3) as child:
            child.communicate(timeout=60)
        # How many commits the reads share depends on time, so the last step may not be reached every time.
        assert child.returncode in (-signal.SIGKILL, 0)
        died += child.returncode == -signal.SIGKILL
        check(home)
    assert died > 0.7 * len(tried)


def test_death_at_random_moments_leaves_a_log_that_holds(tmp_path: Path) -> None:
    chance = random.Random(7)
    for life in range(repetitions(6, 12)):
        with start(WRITE_CALLS, tmp_path, 0, 10_000) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            if life == 0:  # Whatever else the machine does, one of them dies after a call.
                while not (tmp_path / "effects").exists() or not (tmp_path / "effects").stat().st_size:
                    assert child.poll() is None
                    time.sleep(0.001)
            # The moment is the point of this test, so here time passes.
            time.sleep(chance.uniform(0, 0.08))
            child.kill()
            child.communicate(timeout=60)
        check(tmp_path)  # The same log again and again: each life goes on from what the last one left.
    assert (tmp_path / "effects").stat().st_size > 0


@pytest.mark.parametrize("lives", [3])
def test_a_new_process_continues_the_chain(tmp_path: Path, lives: int) -> None:
    for life in range(lives):
        with start(APPEND, tmp_path / "coilclaw.db", f"run-{life}", 5) as child:
            child.communicate(timeout=60)
    with Database(tmp_path / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        assert log.verify().count == lives * 5
