"""The end of a snippet holds, whatever the snippet's own objects do at that moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.sandbox.conftest import Execute, Ran

from coilclaw.sandbox import Completed, Engine, Failed, OutOfMemory

pytestmark = pytest.mark.req("R19", "R20")


def echo(**values: Any) -> dict[str, Any]:
    return values


def slow(**values: Any) -> dict[str, Any]:
    threading.Event().wait(0.05)
    return values


TOOLS: dict[str, Callable[..., Any]] = {"echo": echo, "slow": slow}


def all_ended(ran: Ran, inputs: list[Any]) -> None:
    """The calls were made, and the snippet's end has waited for each."""
    assert [call.input for call in ran.calls] == inputs
    assert ran.host.unread == set()


# What the end itself begins --------------------------------------------------------------------------------------------


def test_a_call_that_showing_the_value_begins_is_waited_for(execute: Execute) -> None:
    ran = execute(
        "class Shown:\n    def __repr__(self):\n        tools.slow.start(a=1)\n        return 'v'\nShown()", tools=TOOLS
    )
    assert ran.value == "v"
    all_ended(ran, [{"a": 1}])


def test_a_call_that_the_text_of_an_exception_begins_is_withdrawn_and_waited_for(execute: Execute) -> None:
    source = "begun = []\nclass E(Exception):\n    def __str__(self):\n"
    source += "        begun or begun.append(tools.slow.start(a=1))\n        return 'text'\nraise E"
    ran = execute(source, tools=TOOLS)
    assert isinstance(ran.outcome, Failed)
    assert ran.outcome.error.message == "text"
    assert ran.host.withdrawn == [1]
    all_ended(ran, [{"a": 1}])


def test_a_call_that_a_warning_begins_is_waited_for(execute: Execute) -> None:
    source = "import asyncio\nclass E(Exception):\n    def __str__(self):\n        tools.slow.start(a=1)\n        return 'lost'\n"
    source += "async def fail():\n    raise E\ntask = asyncio.create_task(fail())\nawait asyncio.sleep(0)\n1"
    ran = execute(source, tools=TOOLS)
    assert ran.value == 1
    assert ran.calls
    assert ran.host.unread == set()


def test_a_snippet_without_memory_withdraws_what_it_began(execute: Execute) -> None:
    ran = execute("tools.slow.start(a=1)\nraise MemoryError", tools=TOOLS)
    assert isinstance(ran.outcome, OutOfMemory)
    assert ran.host.withdrawn == [1]
    all_ended(ran, [{"a": 1}])


@pytest.mark.parametrize(
    "run",
    [
        "loop = asyncio.new_event_loop()\nloop.run_until_complete(main())",
        "loop = asyncio.new_event_loop()\nloop.run_until_complete(main())\nloop.close()",
        "with asyncio.Runner() as runner:\n    runner.run(main())",
        "loop = asyncio.new_event_loop()\nloop.create_task(work())\nawait asyncio.sleep(0)\nloop.close()",
    ],
    ids=["open", "closed", "Runner", "closed below await"],
)
def test_tasks_on_a_loop_of_the_snippets_own_run_to_their_end(execute: Execute, engine: Engine, run: str) -> None:
    source = "import asyncio\nasync def work():\n    await asyncio.sleep(0.01)\n    tools.slow.start(a=1)\n"
    source += f"async def main():\n    asyncio.get_running_loop().create_task(work())\n{run}\n'done'"
    ran = execute(source, tools=TOOLS)
    if engine.name == "restricted":
        assert isinstance(ran.outcome, Failed)  # There are none.
        return
    assert ran.value == "done"
    all_ended(ran, [{"a": 1}])


# `return` at the top level ---------------------------------------------------------------------------------------------

RETURNS = {
    "try": "try:\n    return 1\nexcept:\n    tools.echo(a=1)\ntools.echo(a=2)\n3",
    "suppress": "import contextlib\nwith contextlib.suppress(BaseException):\n    return 1\ntools.echo(a=2)\n3",
    "loop": "for n in (0, 1, 2):\n    try:\n        if n: return n\n    except BaseException:\n        tools.echo(n=n)",
    "TaskGroup": "import asyncio\nasync with asyncio.TaskGroup() as group:\n    group.create_task(asyncio.sleep(0))\n    return 1",
    "awaited": "async def f():\n    return 1\nif f:\n    return f()\n2",
}


@pytest.mark.parametrize("source", RETURNS.values(), ids=RETURNS)
def test_nothing_catches_a_return(execute: Execute, source: str) -> None:
    ran = execute(source, tools=TOOLS)
    assert (ran.value, ran.calls) == (1, [])


def test_a_snippet_with_a_return_is_still_a_module(execute: Execute) -> None:
    source = """from __future__ import annotations
limit: int = 2
unset: str
import math as numbers
def double(n):
    global calls
    calls = n
    return n * limit
class Box:
    size = limit
    def name(self): return Box.__name__ + str(double(self.size))
try:
    1 / 0
except ZeroDivisionError as error:
    told = str(error)
later = [lambda: n for n in range(3)]
found = [(last := n) for n in range(3)]
del told
if "limit" in globals() and "told" not in globals() and "n" not in globals():
    return [Box().name(), calls, last, later[0](), numbers.floor(2.5), double.__qualname__, Box.name.__qualname__]
"""
    expected = ["Box4", 2, 2, 2, 2, "double", "Box.name"]
    assert execute(source).value == expected
    assert execute(f"import asyncio\n{source.split(chr(10), 1)[1]}await asyncio.sleep(0)").value == expected


def test_what_only_a_module_may_do_works_beside_a_return(execute: Execute, engine: Engine) -> None:
    if engine.name == "wasm":
        ran = execute("from math import *\nexec('a = floor(2.5)')\nif a: return [a, locals() is globals()]\n3")
        assert ran.value == [2, True]


@pytest.mark.parametrize(
    ("source", "line"),
    [("x = 1\nif x:\n    1 / 0\nreturn 2\n3", 3), ("await f()\nreturn 2\n3", 1)],
    ids=["plain", "await"],
)
def test_a_failure_beside_a_return_has_its_line(execute: Execute, source: str, line: int) -> None:
    ran = execute(source)
    assert isinstance(ran.outcome, Failed)
    assert ran.outcome.error.line == line
    assert f'File "snippet.py", line {line}, in <module>' in str(ran.outcome.error.traceback)


@pytest.mark.parametrize("source", ["yield 1\nreturn 2", "def f():\n    await g()\nreturn 1", "class A:\n    return 1"])
def test_what_no_module_may_say_is_refused_beside_a_return(execute: Execute, source: str) -> None:
    assert execute(source).outcome.status == "rejected"


# Clean-up --------------------------------------------------------------------------------------------------------------


def test_a_generator_of_a_snippet_that_fails_is_closed_to_its_last_line(execute: Execute) -> None:
    source = "async def numbers():\n    try:\n        yield 1\n    finally:\n"
    source += "        for n in range(3):\n            await tools.slow.start(n=n)\n        print('closed')\n"
    ran = execute(source + "async for n in numbers():\n    1 / 0", tools=TOOLS)
    assert isinstance(ran.outcome, Failed)
    assert (ran.stdout, ran.outcome.error.type) == ("closed\n", "ZeroDivisionError")
    all_ended(ran, [{"n": 0}, {"n": 1}, {"n": 2}])


@pytest.mark.parametrize(("end", "status"), [("'value'", "completed"), ("raise ValueError('the real one')", "failed")])
def test_clean_up_that_is_interrupted_keeps_neither_the_rest_nor_the_end_from_being_told(
    execute: Execute, end: str, status: str
) -> None:
    source = "import atexit\natexit.register(tools.echo, a=1)\ndef stop():\n    raise KeyboardInterrupt\n"
    ran = execute(f"{source}atexit.register(stop)\natexit.register(stop)\n{end}", tools=TOOLS)
    assert isinstance(ran.outcome, Completed | Failed), ran.outcome
    assert ran.outcome.status == status
    assert [each.kind for each in ran.outcome.warnings] == ["lost_exception"]
    if isinstance(ran.outcome, Failed):
        assert ran.outcome.error.message == "the real one"
    all_ended(ran, [{"a": 1}])


# Answers ---------------------------------------------------------------------------------------------------------------


def test_an_answer_that_cannot_be_handed_out_takes_no_other_with_it(execute: Execute) -> None:
    source = "import time\nfrom concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor()\n"
    source += "futures = [pool.submit(tools.echo, n=n) for n in range(3)]\ntime.sleep(0.05)\nfutures[0].set_result(9)\n"
    ran = execute(source + "[each.result().value['n'] for each in futures]", tools=TOOLS, seconds=10)
    assert ran.value == [0, 1, 2]


def test_answers_that_come_where_the_stack_is_used_up_are_read_later(execute: Execute) -> None:
    source = "import time\ncalls = [tools.echo.start(n=n) for n in range(3)]\ntime.sleep(0.05)\n"
    source += "def deep(n):\n    return deep(n - 1) if n else calls[0].result()\n"
    source += "for n in range(999, 900, -1):\n    try:\n        deep(n)\n    except RecursionError:\n        pass\n"
    ran = execute(source + "[each.result().value['n'] for each in calls]", tools=TOOLS, seconds=10)
    assert ran.value == [0, 1, 2]


def test_the_futures_of_a_pool_that_was_left_are_done(execute: Execute) -> None:
    source = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
    source += "    futures = [pool.submit(tools.slow, n=n) for n in range(3)]\n[each.done() for each in futures]"
    assert execute(source, tools=TOOLS).value == [True] * 3


# Warnings --------------------------------------------------------------------------------------------------------------


def test_many_small_warnings_push_out_no_important_one(execute: Execute) -> None:
    source = "async def f(): pass\n" + "f()\n" * 30 + "tools.missing()\nprint('All sent.')"
    ran = execute(source, tools=TOOLS)
    assert isinstance(ran.outcome, Completed)
    kinds = [each.kind for each in ran.outcome.warnings]
    assert (kinds.count("unread_err"), kinds.count("unawaited"), len(kinds)) == (1, 18, 20)
    assert (kinds[-1], ran.outcome.warnings[-1].message) == ("more", "and 12 more")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("```python\nprint(1)\n```\ntools.echo(a=1)\n", 4),
        ("import json\n\n```\nprint(1)\n```", 1),
        ("Here is the code (as asked):\n```python\nprint(1)\n```\nIt prints = 1. Done.", None),
    ],
    ids=["behind", "before", "prose"],
)
def test_code_outside_the_fence_does_not_run_and_is_a_warning(execute: Execute, source: str, line: int | None) -> None:
    ran = execute(source, tools=TOOLS)
    assert isinstance(ran.outcome, Completed)
    assert (ran.stdout, ran.calls) == ("1\n", [])
    assert [(each.kind, each.line) for each in ran.outcome.warnings] == ([("outside_fence", line)] if line else [])
