"""The guest's own code at the end of a snippet, without an engine around it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

_STARTS = "    def __{name}__(self):\n        tools.write.start(a=1)\n        return 'text'\n"
_SLOW_CLOSE = "async def numbers():\n    try:\n        yield 1\n    finally:\n"
_SLOW_CLOSE += "        await tools.write.start(a=1)\n        await tools.write.start(a=2)\n"
_LOST = "task = asyncio.new_event_loop().create_task(work())\n1"

CASES: dict[str, tuple[str, str, Any, list[str]]] = {
    "value": (f"class V:\n{_STARTS.format(name='repr')}V()", "completed", [{"a": 1}], []),
    "error": (f"class E(Exception):\n{_STARTS.format(name='str')}raise E", "failed", None, []),
    "memory": ("tools.write.start(a=1)\nraise MemoryError", "out_of_memory", [{"a": 1}], []),
    "loop": (f"import asyncio\nasync def work():\n    tools.write(a=1)\n{_LOST}", "completed", [{"a": 1}], []),
    "exit": (
        "import atexit\natexit.register(tools.write, a=1)\n@atexit.register\ndef f(): raise KeyboardInterrupt\n1",
        "completed",
        [{"a": 1}],
        ["lost_exception"],
    ),
    "generator": (
        f"{_SLOW_CLOSE}async for n in numbers():\n    del n\n    raise ValueError",
        "failed",
        [{"a": 1}, {"a": 2}],
        [],
    ),
    "told": (
        f"import asyncio\nclass E(Exception):\n{_STARTS.format(name='str')}async def fail():\n    raise E\n"
        "task = asyncio.create_task(fail())\nawait asyncio.sleep(0)\n1",
        "completed",
        None,
        ["lost_exception"],
    ),
    "chain": (
        "import asyncio, atexit\nloops = [asyncio.new_event_loop() for _ in 'ab']\nasync def work(n):\n"
        "    tools.write.start(a=n)\n    if n: loops[n % 2].create_task(work(n - 1))\n"
        "atexit.register(lambda: loops[0].create_task(work(12)))\n1",
        "completed",
        [{"a": n} for n in range(12, -1, -1)],
        [],
    ),
    "return": ("try:\n    return 1\nexcept:\n    tools.write(a=1)\ntools.write(a=2)\n2", "completed", [], []),
    "answers": (
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor()\n"
        "futures = [pool.submit(tools.write, a=n) for n in (1, 2)]\nfutures[0].set_result(9)\nfutures[1].result().value",
        "completed",
        [{"a": 1}, {"a": 2}],
        [],
    ),
    "pool": (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
        "    future = pool.submit(tools.write, a=1)\nassert future.done()",
        "completed",
        [{"a": 1}],
        ["no_output"],
    ),
    "stack": (
        "call = tools.write.start(a=1)\ndef deep(n):\n    return deep(n - 1) if n else call.result()\n"
        "for n in range(990, 900, -1):\n    try:\n        deep(n)\n    except RecursionError:\n        pass\ncall.result().value",
        "completed",
        [{"a": 1}],
        [],
    ),
    "warnings": (
        "async def f(): pass\n" + "f()\n" * 25 + "tools.fail()\n1",
        "completed",
        [{}],
        ["unawaited"] * 18 + ["unread_err", "more"],
    ),
    "fence": ("```\n1\n```\ntools.write(a=1)", "completed", [], ["outside_fence"]),
}


@pytest.mark.parametrize(("source", "status", "calls", "kinds"), CASES.values(), ids=CASES)
def test_the_end_of_a_snippet_leaves_nothing_behind(source: str, status: str, calls: Any, kinds: list[str]) -> None:
    command = [sys.executable, "-m", "tests.sandbox.guest_by_itself"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["outcome"]["status"], found["unread"]) == (status, [])
    assert calls is None or found["calls"] == calls
    assert [each["kind"] for each in found["outcome"].get("warnings", [])] == kinds
