"""How late a run ends that would not end by itself: `.venv/bin/python benchmarks/deadlines.py`.

Every case has half a second. What is printed is the outcome and how much later than its deadline the
run was over, receipts included.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

from suite.runtime import MeasuredRuntime

from coilclaw.sandbox import Deadline, Limits, Snippet
from coilclaw.sdk import ToolContext, define_tool

_SECONDS: Final = 0.5
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


def main() -> int:
    cache = _FOLDER / ".cache" / "guest"
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (
        tempfile.TemporaryDirectory(prefix=".work-", dir=_FOLDER) as folder,
        MeasuredRuntime(Path(folder), cache, _hang) as measured,
    ):
        latest = 0.0
        for name, source in _ENDLESS.items():
            deadline = Deadline(60.0 if name.startswith("cancelled") else _SECONDS)
            if name.startswith("cancelled"):
                threading.Timer(_SECONDS, deadline.cancel).start()
            began = time.perf_counter()
            report = measured.runtime.run(
                Snippet(source=source), measured.pooled, measured.registry, Limits(), deadline=deadline
            )
            late = time.perf_counter() - began - _SECONDS
            latest = max(latest, late)
            print(f"{name:<32} {report.status:<16} {late * 1000:+8.0f} ms")
            good = measured.runtime.run(Snippet(source="1 + 1"), measured.pooled, measured.registry, Limits())
            if good.value != 2:
                print(f"  the next run was affected: {good.status}")
                return 1
    print(f"latest: {latest * 1000:.0f} ms after its deadline")
    return 0


if __name__ == "__main__":
    sys.exit(main())
