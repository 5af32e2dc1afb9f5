"""The end of a snippet: what it began is waited for, cleaned up or withdrawn, and nothing is lost without a word."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.sandbox.conftest import Execute, Ran, ends_with

from coilclaw.sandbox import Completed, Failed, TimedOut
from coilclaw.sdk.result import ToolCallError

pytestmark = pytest.mark.req("R19", "R20")


def fail() -> None:
    raise ToolCallError("no_luck", "it failed", "try again")


def echo(**values: Any) -> dict[str, Any]:
    return values


TOOLS: dict[str, Callable[..., Any]] = {"echo": echo, "fail": fail}


def inputs(ran: Ran) -> list[Any]:
    return [call.input for call in ran.calls]


def kinds(ran: Ran) -> list[tuple[str, int | None]]:
    assert isinstance(ran.outcome, Completed | Failed), ran.outcome
    return [(each.kind, each.line) for each in ran.outcome.warnings]


# What was begun ------------------------------------------------------------------------------------------------


def test_calls_that_were_started_and_left_have_ended_before_the_run_does(execute: Execute) -> None:
    ended: list[int] = []
    together = threading.Barrier(3)

    def send(n: int) -> None:
        together.wait(15)
        ended.append(n)

    ran = execute("for n in range(3): tools.send.start(n=n)\nprint('sent')", tools={"send": send})
    assert ran.value is None
    assert sorted(ended) == [0, 1, 2]


@pytest.mark.parametrize(
    "begin",
    [
        "asyncio.create_task(work())\nawait asyncio.sleep(0)",
        "async def main():\n    asyncio.create_task(work())\nasyncio.run(main())",
        "async def main():\n    asyncio.create_task(work())\nmain()",
        "async def main():\n    asyncio.create_task(work())\nawait main()\nasyncio.run(main())",
    ],
    ids=["top level", "asyncio.run", "last line", "both"],
)
def test_tasks_that_were_left_run_to_their_end(execute: Execute, begin: str) -> None:
    source = "import asyncio\nasync def work():\n    await asyncio.sleep(0.01)\n    await tools.echo.start(a=1)\n"
    source += "    tools.echo.start(b=2)\n"
    ran = execute(source + begin, tools=TOOLS)
    assert isinstance(ran.outcome, Completed), ran.outcome
    assert inputs(ran)[:2] == [{"a": 1}, {"b": 2}]


def test_clean_up_runs_at_the_end_and_its_calls_are_waited_for(execute: Execute) -> None:
    source = """
import asyncio, atexit
atexit.register(tools.echo.start, at="exit")
async def numbers(name):
    try:
        yield 1
    finally:
        await tools.echo.start(at=name)
first, second = numbers("first"), numbers("second")
await anext(first)
await anext(second)
queue = asyncio.Queue()
async def worker():
    try:
        while True:
            await queue.get()
    finally:
        await tools.echo.start(at="worker")
asyncio.create_task(worker())
await asyncio.sleep(0)
"value"
"""
    ran = execute(source, tools=TOOLS)
    assert ran.value == "value"
    assert [each["at"] for each in inputs(ran)] == ["worker", "first", "second", "exit"]
    assert kinds(ran) == []


def test_a_task_that_never_ends_is_waited_for_until_the_time_is_up_and_named(execute: Execute) -> None:
    source = "import asyncio\nasync def poll():\n    while True:\n        await asyncio.sleep(0.01)\n"
    ran = ends_with(execute, TimedOut, source + "asyncio.create_task(poll())\nawait asyncio.sleep(0)\n", seconds=1)
    assert ran.host.lingering == ["poll() of line 2"]


def test_clean_up_that_never_ends_is_bounded_by_the_time_of_the_run(execute: Execute) -> None:
    ends_with(execute, TimedOut, "import atexit\n@atexit.register\ndef spin():\n    while True: pass\n", seconds=1)


def test_a_snippet_that_fails_withdraws_what_it_started_and_cleans_up(execute: Execute) -> None:
    source = """
import asyncio, atexit
atexit.register(lambda: tools.echo(at="exit"))
async def work():
    try:
        await asyncio.sleep(9)
    finally:
        print("cancelled")
asyncio.create_task(work())
tools.wait.start()
await asyncio.sleep(0)
1 / 0
"""
    released = threading.Event()

    class Withdrawing(dict[str, Callable[..., Any]]):
        pass

    tools = Withdrawing(TOOLS, wait=lambda: released.wait(0.2))
    ran = execute(source, tools=tools)
    assert isinstance(ran.outcome, Failed)
    assert ran.outcome.error.type == "ZeroDivisionError"
    assert ran.stdout == "cancelled\n"
    assert ran.host.withdrawn == [1]
    assert [call.tool for call in ran.calls] == ["wait", "echo"]


@pytest.mark.parametrize("exit", ["raise SystemExit", "import sys\nsys.exit(0)", "return 1\n2", "if True:\n    return"])
def test_a_snippet_that_ends_early_is_waited_for_as_well(execute: Execute, exit: str) -> None:
    ran = execute(f"import atexit\natexit.register(tools.echo, a=2)\ntools.echo.start(a=1)\n{exit}", tools=TOOLS)
    assert isinstance(ran.outcome, Completed), ran.outcome
    assert inputs(ran) == [{"a": 1}, {"a": 2}]


# What was given up ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "give_up",
    [
        "call = tools.slow.start()\ncall.cancel()",
        "task = asyncio.create_task(tools.slow.start())\ntask.cancel()\nawait asyncio.sleep(0)",
        "task = asyncio.create_task(tools.slow.start())\nawait asyncio.sleep(0)\ntask.cancel()\nawait asyncio.sleep(0)",
        "try:\n    await asyncio.wait_for(tools.slow.start(), 0.01)\nexcept TimeoutError:\n    pass",
        "try:\n    await asyncio.wait_for(tools.slow.start(), 0)\nexcept TimeoutError:\n    pass",
        "try:\n    await asyncio.wait_for(asyncio.gather(tools.slow.start()), 0.01)\nexcept TimeoutError:\n    pass",
        "try:\n    async with asyncio.timeout(0.01):\n        await tools.slow.start()\nexcept TimeoutError:\n    pass",
        "async def bad():\n    await asyncio.sleep(0)\n    1 / 0\ntry:\n    async with asyncio.TaskGroup() as group:\n"
        "        group.create_task(tools.slow.start())\n        group.create_task(bad())\nexcept ExceptionGroup:\n    pass",
    ],
    ids=["cancel", "before it began", "task", "wait_for", "wait_for 0", "gather", "timeout", "TaskGroup"],
)
def test_a_call_that_was_cancelled_is_withdrawn(execute: Execute, give_up: str) -> None:
    ran = execute(f"import asyncio\n{give_up}\n'ended'", tools={"slow": lambda: threading.Event().wait(0.2)})
    assert ran.value == "ended"
    assert ran.host.withdrawn == [1]
    # This host never withdraws: the call had started, and that is said.
    assert [kind for kind, _ in kinds(ran)] == ["cancelled_late"]


def test_a_call_that_has_ended_is_not_withdrawn(execute: Execute) -> None:
    ran = execute("call = tools.echo.start(a=1)\ncall.result()\n[call.cancel(), call.result().value]", tools=TOOLS)
    assert ran.value == [False, {"a": 1}]
    assert ran.host.withdrawn == []


def test_a_call_that_is_shielded_is_not_withdrawn(execute: Execute) -> None:
    source = "import asyncio\ntask = asyncio.create_task(tools.slow.start())\ntry:\n"
    source += "    await asyncio.wait_for(asyncio.shield(task), 0.01)\nexcept TimeoutError:\n    pass\n(await task).ok"
    ran = execute(source, tools={"slow": lambda: threading.Event().wait(0.1)})
    assert (ran.value, ran.host.withdrawn) == (True, [])


# What would be lost without a word ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("tools.fail()\nprint('All sent.')", [("unread_err", 1)]),
        ("for _ in range(3):\n    tools.fail()\nprint('All sent.')", [("unread_err", 2)]),
        ("import asyncio\nr = await asyncio.gather(*[tools.fail() for _ in range(2)])\nlen(r)", [("unread_err", 2)]),
        ("tools.fail.start()\nprint('sent')", [("unread_err", 1)]),
        ("async def f(): pass\nf()\n1", [("unawaited", 2)]),
        ("async def f(): pass\nlater = [f()]\n1", [("unawaited", 2)]),
        (
            "import asyncio\nasync def f():\n    1 / 0\ntask = asyncio.create_task(f())\nawait asyncio.sleep(0)\n1",
            [("lost_exception", 3)],
        ),
        ("import asyncio\nasync def f():\n    1 / 0\nasyncio.create_task(f())\nawait asyncio.sleep(0)\n1",
         [("lost_exception", 3)]),
        ("import atexit\natexit.register(lambda: 1 / 0)\n1", [("lost_exception", 2)]),
        ("x = 1", [("no_output", None)]),
        ("tools.echo.start(a=1)\nx = 1", [("no_output", None)]),
        ("import os\nos.path.exists('a.csv')", [("no_files", 2)]),
        ("import glob\nfiles = glob.glob('*.csv')\nlen(files) or glob.glob('*')", [("no_files", 2)]),
        ("from pathlib import Path\nPath('a').exists() or Path('b').exists()", [("no_files", 2)]),
        (
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
            "    found = list(pool.map(lambda n: tools.echo(n=n).value['n'], range(3)))\nfound",
            [("no_threads", 3)],
        ),
    ],
)  # fmt: skip
def test_what_is_lost_or_not_there_is_a_warning(
    execute: Execute, source: str, expected: list[tuple[str, int | None]]
) -> None:
    assert kinds(execute(source, tools=TOOLS)) == expected


@pytest.mark.parametrize(
    "look",
    [
        "r.ok", "bool(r)", "not r", "r.error", "r.code", "r.unwrap_or(1)", "repr(r)", "str(r)", "f'{r}'",
        "isinstance(r, Err)", "isinstance(r, Ok)", "Err('a', 'b') == r", "r", "[r]", "{'r': r}", "r.error.code",
        "1 if r else 2", "[x for x in [r] if x]",
    ],
)  # fmt: skip
def test_an_err_that_was_looked_at_is_no_warning(execute: Execute, look: str) -> None:
    assert kinds(execute(f"r = tools.fail()\nfound = {look}\nfound", tools=TOOLS)) == []


@pytest.mark.parametrize("pattern", ["Err(error)", "Err()", "Ok()", "Err(code='x')", "Err('x')", "Err(code, text)"])
def test_an_err_that_was_matched_is_no_warning(execute: Execute, pattern: str) -> None:
    source = f"match tools.fail():\n    case {pattern}: found = 1\n    case _: found = 2\nfound"
    assert kinds(execute(source, tools=TOOLS)) == []


def test_results_of_gather_that_are_equal_count_as_one_that_was_looked_at(execute: Execute) -> None:
    source = "import asyncio\nr = await asyncio.gather(*[tools.fail() for _ in range(3)])\n[each.ok for each in r]"
    ran = execute(source, tools=TOOLS)
    assert (ran.value, kinds(ran)) == ([False] * 3, [])


def test_a_snippet_that_fails_has_its_warnings_too(execute: Execute) -> None:
    assert kinds(execute("tools.fail()\n1 / 0", tools=TOOLS)) == [("unread_err", 1)]


def test_warnings_are_few_and_short(execute: Execute) -> None:
    source = "\n".join(["tools.loud()"] * 50) + "\n1"

    def loud() -> None:
        raise ToolCallError("loud", "x" * 5000)

    ran = execute(source, tools={"loud": loud})
    assert isinstance(ran.outcome, Completed)
    assert 5 < len(ran.outcome.warnings) <= 20
    assert all(len(each.message) <= 300 for each in ran.outcome.warnings)


def test_objects_of_the_snippet_cannot_hide_its_end_from_the_report(execute: Execute) -> None:
    source = "import asyncio\nclass Bad(Exception):\n    def __str__(self): raise ValueError\nasync def f():\n    raise Bad\n"
    ran = execute(source + "task = asyncio.create_task(f())\nawait asyncio.sleep(0)\n7", tools=TOOLS)
    assert ran.value == 7
