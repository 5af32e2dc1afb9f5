"""Interrupts of the main thread: wherever they fall, the log stays usable and no lock stays taken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import faulthandler, random, signal, sys, threading, time
from pathlib import Path
from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.runs import MIGRATIONS
from coilclaw.sandbox import Deadline, ExpendableThreads
from coilclaw.store import Database

faulthandler.dump_traceback_later(30, exit=True)
signal.signal(signal.SIGINT, signal.default_int_handler)
chance, main, armed = random.Random(7), threading.get_ident(), threading.Semaphore(0)
draft = Draft("x.y", "done", now(), "run-1")

def send_interrupts():
    while armed.acquire():
        ends = time.perf_counter() + chance.random() * 0.002
        while time.perf_counter() < ends:
            pass
        signal.pthread_kill(main, signal.SIGINT)

def until_interrupted(job):
    deadline = Deadline(1e6)
    try:
        armed.release()
        while not deadline.cancelled:
            job(deadline)
    except KeyboardInterrupt:
        pass

with Database(Path(sys.argv[1]), MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
    threads = ExpendableThreads()
    jobs = {
        "append": lambda _: log.append(draft),
        "relaxed": lambda _: (log.append_relaxed(draft), time.sleep(0.0001)),
        "read": lambda _: log.latest(3),
        "run": lambda deadline: threads.run(lambda: None, deadline),
    }
    threading.Thread(target=send_interrupts, daemon=True).start()
    for _ in range(int(sys.argv[3])):
        until_interrupted(jobs[sys.argv[2]])
        threads.run(lambda: log.append(draft), Deadline(30))
        log.append(draft)
    log.flush()
    assert log.verify().ok, log.verify().problem
    threads.close()
print("usable")
"""


@pytest.mark.parametrize("job", ["append", "relaxed", "read", "run"])
def test_the_log_is_usable_wherever_an_interrupt_falls(tmp_path: Path, job: str) -> None:
    command = [sys.executable, "-c", _SCRIPT, str(tmp_path / "x.db"), job, "150"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr[-2000:]) == ("usable\n", "")
