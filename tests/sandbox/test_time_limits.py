"""However a snippet spends its time, its deadline or a cancellation ends it, and it alone."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import pytest
from tests.sampling import sample
from tests.sandbox.conftest import MIB, assert_healthy, ends_with

from coilclaw.sandbox import (
    Cancelled,
    Deadline,
    Engine,
    Failed,
    Rejected,
    TimedOut,
)

if TYPE_CHECKING:
    from tests.sandbox.conftest import Execute

pytestmark = pytest.mark.req("R2", "R19")

SHORT = 0.3

ENDLESS = {
    "loop": "while True: pass",
    "loop that swallows everything": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "recursion that swallows everything": (
        "def f():\n    while True:\n        try: f()\n        except BaseException: pass\nf()"
    ),
    "finally that loops": "try:\n    1 / 0\nfinally:\n    while True: pass",
    "catastrophic regex": "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
    "power tower": "9 ** 9 ** 9",
    "sum of a huge range": "sum(range(10 ** 12))",
    "nested comprehensions": "[0 for a in range(10**4) for b in range(10**4) for c in range(10**4) if a < 0]",
    "endless iterator inside C": "max(iter(int, 1))",
    "factorial": "import math\nmath.factorial(10 ** 7)",
    "endless query": (
        "import sqlite3\nsqlite3.connect(':memory:').execute('with recursive t(n) as (select 1 union all select n + 1 "
        "from t) select count(*) from t').fetchall()"
    ),
    "sleep": "import time\ntime.sleep(10 ** 6)",
    "sleep longer than any clock": "import time\ntime.sleep(1e11)",
    "sleeps that swallow everything": (
        "import time\nwhile True:\n    try: time.sleep(10 ** 6)\n    except BaseException: pass"
    ),
    "async sleep": "import asyncio\nawait asyncio.sleep(10 ** 6)",
    "async loop": "import asyncio\nwhile True: await asyncio.sleep(0)",
    "repr that loops": "class C:\n    def __repr__(self):\n        while True: pass\nC()",
    "str of an exception that loops": (
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E"
    ),
    "destructor that loops": "class D:\n    def __del__(self):\n        while True: pass\nD()\n1",
    "loop inside eval": "eval(compile('while True: pass', 'x', 'exec'))",
    "memory errors that are swallowed": (
        "x = []\nwhile True:\n    try: x.append(bytearray(10 ** 6))\n    except MemoryError: pass"
    ),
    "trace function that loops": ("import sys\ndef t(*a):\n    while True: pass\nsys.settrace(t)\ndef f(): pass\nf()"),
}


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in sample(ENDLESS.items(), 12)])
def test_what_never_ends_times_out(execute: Execute, engine: Engine, source: str) -> None:
    if engine.name == "restricted" and ("sqlite3" in source or "eval(" in source or "settrace" in source):
        ends_with(execute, (Failed, Rejected), source, seconds=SHORT)  # It cannot even begin.
        return
    ran = ends_with(execute, TimedOut, source, seconds=SHORT)
    assert ran.outcome == TimedOut(seconds=SHORT)


def test_compiling_counts_against_the_deadline(execute: Execute) -> None:
    ends_with(execute, TimedOut, "x = 1\n" * 170_000, seconds=0.05, source_bytes=4 * MIB)


class FallingDeadline(Deadline):
    """Falls a moment after `fall`, however slow the machine was until then."""

    def __init__(self) -> None:
        super().__init__(60.0)

    def fall(self) -> None:
        self.seconds = SHORT
        self.restart()


@pytest.mark.parametrize("call", ["tools.stuck()", "tools.stuck.start().result()", "await tools.stuck.start()"])
def test_a_deadline_inside_a_call_times_out(execute: Execute, call: str) -> None:
    deadline, release = FallingDeadline(), threading.Event()

    def stuck() -> None:
        deadline.fall()
        release.wait(60)

    source = f"try:\n    {call}\nexcept BaseException:\n    pass\n'survived'"
    try:
        ran = ends_with(execute, TimedOut, source, deadline=deadline, tools={"stuck": stuck})
    finally:
        release.set()
    assert len(ran.calls) == 1


def test_a_deadline_that_passed_during_a_call_ends_the_run_after_it(execute: Execute) -> None:
    deadline = FallingDeadline()

    def overstay() -> None:
        deadline.fall()
        while not deadline.expired:
            threading.Event().wait(0.01)

    ran = ends_with(execute, TimedOut, "while True: tools.overstay()", deadline=deadline, tools={"overstay": overstay})
    assert len(ran.calls) == 1


def test_output_before_a_timeout_is_kept(execute: Execute) -> None:
    deadline = FallingDeadline()
    source = "print('working')\ntools.fall()\nwhile True: pass"
    ran = ends_with(execute, TimedOut, source, deadline=deadline, tools={"fall": deadline.fall})
    assert ran.stdout == "working\n"


def test_an_expired_deadline_ends_the_run_at_once(execute: Execute) -> None:
    ends_with(execute, TimedOut, "while True: pass", seconds=0.0)


# Cancellation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "endless",
    [
        "while True: pass",
        "import time\ntime.sleep(10 ** 6)",
        "import asyncio\nawait asyncio.sleep(10 ** 6)",
        "while True:\n    try: tools.stuck()\n    except BaseException: pass",
        "tools.stuck.start().result()",
    ],
    ids=["looping", "sleeping", "sleeping asynchronously", "in a call", "waiting for a call"],
)
def test_a_run_can_be_cancelled_from_another_thread(execute: Execute, endless: str) -> None:
    deadline, started, release = Deadline(60.0), threading.Event(), threading.Event()

    def cancel() -> None:
        if started.wait(60):
            deadline.cancel()

    tools = {"started": started.set, "stuck": lambda: release.wait(60)}
    canceller = threading.Thread(target=cancel)
    canceller.start()
    try:
        ends_with(execute, Cancelled, f"tools.started()\n{endless}", deadline=deadline, tools=tools)
    finally:
        release.set()
        canceller.join()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals cannot be sent to a thread here")
@pytest.mark.parametrize("endless", ["while True: pass", "import time\ntime.sleep(10 ** 6)"], ids=["loop", "sleep"])
def test_an_interrupt_from_the_keyboard_ends_the_run(execute: Execute, endless: str) -> None:
    main = threading.main_thread().ident
    assert main == threading.get_ident()
    interrupt = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
    source = f"tools.started()\n{endless}"
    ends_with(execute, Cancelled, source, deadline=Deadline(60.0), tools={"started": interrupt.start})
    assert_healthy(execute)


def test_a_cancelled_run_makes_no_further_call(execute: Execute) -> None:
    deadline = Deadline(60.0)
    source = "for _ in range(1000):\n    try: tools.cancel()\n    except BaseException: pass"
    ran = ends_with(execute, Cancelled, source, deadline=deadline, tools={"cancel": deadline.cancel})
    assert len(ran.calls) == 1
