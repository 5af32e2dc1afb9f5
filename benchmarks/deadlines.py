"""How late a run ends that would not end by itself: `.venv/bin/python benchmarks/deadlines.py [SECONDS]`.

Every case has half a second, or as many as are given. What is printed is the outcome, how much later than its
deadline the run was over, receipts included, and how much of a processor was busy afterwards. The second part sends
every built-in tool what could keep its parsers busy, at two levels of autonomy, with and without preflight seeing
the call.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from suite.hostile_calls import hostile_snippet
from suite.runtime import MeasuredRuntime

from coilclaw.policy import Autonomy, Policy
from coilclaw.runs import Runtime
from coilclaw.sandbox import Deadline, Limits, Snippet
from coilclaw.sdk import ToolContext, define_tool
from coilclaw.workspace_tools import load_installed

_SECONDS: Final = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
_LATEST: Final = 0.3
_ATTEMPTS: Final = 3
"""Of a case that is late: what the code takes is the best of them, the rest is what else the machine does."""
_IDLE_SECONDS: Final = 0.3
_BUSIEST: Final = 0.25
"""Of one processor, after a run. A thread that burns takes all of it."""
_FOLDER: Final = Path(__file__).resolve().parent

_ENDLESS: Final = {
    "endless loop": "while True: pass",
    "loop that swallows everything": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "catastrophic regex": "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
    "power tower": "9 ** 9 ** 9",
    "long sum": "sum(range(10 ** 12))",
    "growing list": "x = []\nwhile True: x.append('a' * 10 ** 6)",
    "output flood": "while True: print('x' * 1000)",
    "deep recursion": "import sys\nsys.setrecursionlimit(10 ** 8)\ndef f(): f()\nf()",
    "ended interpreter": "import os; os._exit(0)",
    "sleep": "import time; time.sleep(10 ** 6)",
    "tool that hangs": "tools.test.hang()",
    "tool that hangs, in parallel": "[tools.test.hang.start() for _ in range(10)][0].result()",
    "cancelled loop": "while True: pass",
}


@define_tool(id="test.hang", risk="read")
def _hang(context: ToolContext) -> None:
    threading.Event().wait(30)


class _Clock:
    """Runs snippets against a deadline and remembers the worst that was seen."""

    def __init__(self, measured: MeasuredRuntime) -> None:
        self._measured = measured
        self.latest = 0.0
        self.busiest = 0.0

    def run(self, name: str, runtime: Runtime, source: str, *, cancelled: bool = False) -> None:
        attempts = [self._attempt(name, runtime, source, cancelled)]
        while min(attempts)[0] > _LATEST and len(attempts) < _ATTEMPTS:
            attempts.append(self._attempt(name, runtime, source, cancelled))
        late, busy = (min(each) for each in zip(*attempts, strict=True))
        self.latest, self.busiest = max(self.latest, late), max(self.busiest, busy)

    def _attempt(self, name: str, runtime: Runtime, source: str, cancelled: bool) -> tuple[float, float]:
        measured = self._measured
        measured.pooled.guests.wait_until_full()
        deadline = Deadline(60.0 if cancelled else _SECONDS)
        if cancelled:
            threading.Timer(_SECONDS, deadline.cancel).start()
        limits = Limits(seconds=_SECONDS, calls=10**9, kept_bytes=2**40)
        began = time.perf_counter()
        report = runtime.run(Snippet(source=source), measured.pooled, measured.registry, limits, deadline=deadline)
        late = time.perf_counter() - began - _SECONDS
        measured.pooled.guests.wait_until_full()  # Making the next guest ready is no remains of this run.
        used = time.process_time()
        time.sleep(_IDLE_SECONDS)
        busy = (time.process_time() - used) / _IDLE_SECONDS
        print(f"{name:<58} {report.status:<16} {late * 1000:+8.0f} ms {busy:6.0%} busy afterwards", flush=True)
        return late, busy


def _hostile(measured: MeasuredRuntime) -> Iterator[tuple[str, Runtime, str]]:
    for autonomy in (Autonomy.READONLY, Autonomy.FULL):
        runtime = Runtime(replace(measured.services, policy=Policy(autonomy)))
        for tool in measured.registry.tools.values():
            if tool.integration in ("math", "test"):
                continue
            for hidden in (False, True):
                name = f"{tool.id}, {autonomy.value}{', hidden' if hidden else ''}"
                yield name, runtime, hostile_snippet(tool, hidden=hidden)


def main() -> int:
    cache = _FOLDER / ".cache" / "coilclaw"
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (
        tempfile.TemporaryDirectory(prefix=".work-", dir=_FOLDER) as folder,
        MeasuredRuntime(Path(folder), cache, _hang, *load_installed().tools) as measured,
    ):
        measured.services = replace(measured.services, secret=lambda name: "not-a-real-secret")
        clock = _Clock(measured)
        for name, source in _ENDLESS.items():
            clock.run(name, measured.runtime, source, cancelled=name.startswith("cancelled"))
            good = measured.runtime.run(Snippet(source="1 + 1"), measured.pooled, measured.registry, Limits())
            if good.value != 2:
                print(f"  the next run was affected: {good.status}")
                return 1
        for name, runtime, source in _hostile(measured):
            clock.run(name, runtime, source)
    print(f"latest: {clock.latest * 1000:.0f} ms after its deadline; busiest afterwards: {clock.busiest:.0%}")
    return 0 if clock.latest <= _LATEST and clock.busiest <= _BUSIEST else 1


if __name__ == "__main__":
    sys.exit(main())
