"""What models write out of habit: it works, or one line says what to write here."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.sandbox.conftest import Execute, Ran

from coilclaw.sandbox import Completed, Engine, Failed, Rejected
from coilclaw.sdk.result import NOT_ITS_VALUE, ToolCallError

pytestmark = pytest.mark.req("R19", "R20", "R21")


def add(a: int, b: int) -> int:
    return a + b


def fail() -> None:
    raise ToolCallError("no_luck", "it failed", "try again")


def echo(**values: Any) -> dict[str, Any]:
    return values


TOOLS: dict[str, Callable[..., Any]] = {"math.add": add, "fail": fail, "crm.echo": echo}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("from tools import math\nmath.add(a=1, b=2).unwrap()", 3),
        ("from tools import math as m, crm\n[m.add(a=1, b=2).unwrap(), crm.echo(a=1).unwrap()]", [3, {"a": 1}]),
        ("from tools.math import add\nadd(a=1, b=2).value", 3),
        ("import tools\ntools.math.add(a=1, b=2).value", 3),
        ("import json, tools.math as m\nm.add(a=1, b=2).value", 3),
        ("def f():\n    from tools import math\n    return math.add(a=1, b=2).value\nf()", 3),
        ("return tools.math.add(a=1, b=2).value", 3),
        ("for n in range(5):\n    if n == 3:\n        return n\n'no'", 3),
        ("try:\n    return 1\nfinally:\n    print('x')", 1),
        ("import asyncio\nawait asyncio.sleep(0)\nif True:\n    return 5\n6", 5),
        ("def f():\n    return 1\nreturn f() + 1", 2),
        ("```python\nx = 1\nx + 2\n```", 3),
        ("Here it is:\n\n```py\nx = 1\nx + 2\n```\nThat adds.", 3),
        ("~~~\n5\n~~~\n", 5),
        ("async def main():\n    return 4\nmain()", 4),
        ("tools.math.add.start(a=1, b=2)", {"ok": True, "value": 3}),
        ("[tools.math.add.start(a=n, b=2) for n in range(2)]", [{"ok": True, "value": 2}, {"ok": True, "value": 3}]),
        ("try:\n    tools.fail().unwrap()\nexcept ToolError as error:\n    code = error.code\ncode", "no_luck"),
        ("match tools.fail():\n    case Err(error): found = [error.code, error.message, error.hint]\nfound",
         ["no_luck", "it failed", "try again"]),
        ("match tools.fail():\n    case Err('other'): found = 1\n    case Err('no_luck' | 'x'): found = 2\nfound", 2),
        ("match tools.fail():\n    case Err(code, message): found = [code, message]\nfound", ["no_luck", "it failed"]),
        ("try:\n    match tools.fail():\n        case Err(error): raise error\nexcept ToolCallError as e:\n    s = str(e)\ns",
         "no_luck: it failed (try again)"),
        ("def name_of(contact: Contact) -> str | Missing:\n    return contact['name']\nname_of({'name': 'ana'})", "ana"),
        ("update: ContactUpdate = ContactUpdate(email='x')\ntools.crm.echo(**update).unwrap()", {"email": "x"}),
        ("found: list[Order] = []\nfound", []),
    ],
)  # fmt: skip
def test_a_habit_works(execute: Execute, source: str, value: Any) -> None:
    assert execute(source, tools=TOOLS).value == value


@pytest.mark.parametrize(
    "source",
    [
        "r = await asyncio.gather(*[tools.math.add(a=1, b=n) for n in range(3)])\n[x.unwrap() for x in r]",
        "r = await asyncio.gather(*[tools.math.add.start(a=1, b=n) for n in range(3)])\n[x.unwrap() for x in r]",
        "t = [asyncio.create_task(tools.math.add.start(a=1, b=n)) for n in range(3)]\n[(await x).unwrap() for x in t]",
        "t = [asyncio.create_task(tools.math.add(a=1, b=n)) for n in range(3)]\n[(await x).unwrap() for x in t]",
        "async with asyncio.TaskGroup() as g:\n    t = [g.create_task(tools.math.add.start(a=1, b=n)) for n in range(3)]\n"
        "[x.result().unwrap() for x in t]",
        "done, left = await asyncio.wait([tools.math.add.start(a=1, b=n) for n in range(3)])\n"
        "sorted(x.result().unwrap() for x in done)",
        "done, left = await asyncio.wait([tools.math.add(a=1, b=n) for n in range(3)])\n"
        "sorted(x.result().unwrap() for x in done)",
        "sorted([(await x).unwrap() for x in asyncio.as_completed([tools.math.add.start(a=1, b=n) for n in range(3)])])",
        "[(await asyncio.wait_for(tools.math.add.start(a=1, b=n), 5)).unwrap() for n in range(3)]",
        "[(await asyncio.wait_for(tools.math.add(a=1, b=n), 5)).unwrap() for n in range(3)]",
        "[(await (await tools.math.add.start(a=1, b=n))).unwrap() for n in range(3)]",
        "r = await asyncio.gather(*[asyncio.to_thread(tools.math.add, a=1, b=n) for n in range(3)])\n"
        "[x.unwrap() for x in r]",
        "loop = asyncio.get_running_loop()\n[(await loop.run_in_executor(None, tools.math.add, 1, n)).unwrap() for n in range(3)]",
        "sorted({tools.math.add.start(a=1, b=n): 1 for n in range(3)}.keys() and [1, 2, 3])",
    ],
)
def test_results_and_pending_calls_are_accepted_wherever_awaitables_are(execute: Execute, source: str) -> None:
    assert execute(f"import asyncio\n{source}", tools=TOOLS).value == [1, 2, 3]


@pytest.mark.parametrize(
    "source",
    [
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
        "    found = [each.result() for each in [pool.submit(tools.meet) for _ in range(4)]]\nlen(found)",
        "from concurrent.futures import ThreadPoolExecutor, as_completed\nwith ThreadPoolExecutor() as pool:\n"
        "    found = [each.result() for each in as_completed([pool.submit(tools.meet) for _ in range(4)])]\nlen(found)",
        "import concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor() as pool:\n"
        "    done, left = concurrent.futures.wait([pool.submit(tools.meet) for _ in range(4)])\nlen(done)",
        "import asyncio\nlen(await asyncio.gather(*[asyncio.to_thread(tools.meet) for _ in range(4)]))",
    ],
)
def test_tools_given_to_threads_are_called_at_once(execute: Execute, source: str) -> None:
    together = threading.Barrier(4)
    ran = execute(source, tools={"meet": lambda: together.wait(15)})
    assert ran.value == 4
    assert isinstance(ran.outcome, Completed)
    assert ran.outcome.warnings == ()


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_caret_stands_under_its_place_whether_or_not_the_last_line_ends(execute: Execute, end: str) -> None:
    ran = execute(f"x = 1\nx['a']{end}")
    assert isinstance(ran.outcome, Failed)
    assert "\n    x['a']\n    ~^^^^^\n" in str(ran.outcome.error.traceback)


def test_a_coroutine_that_nobody_awaits_says_what_to_write(execute: Execute) -> None:
    ran = execute("async def main(): ...\nif __name__ == '__main__':\n    main()\n")
    assert isinstance(ran.outcome, Completed)
    assert "write `await` before the call" in ran.outcome.warnings[0].message


@pytest.mark.parametrize(
    ("source", "value", "kinds"),
    [
        ("{1: 'a', '1': 'b'}", {"1": "a", "'1'": "b"}, ["same_keys"]),
        ("{(1, 2): 'a', '1,2': 'b'}", {"1,2": "a", "'1,2'": "b"}, ["same_keys"]),
        ("[{'rows': ({None: 1, 'null': 2},)}]", [{"rows": [{"null": 1, "'null'": 2}]}], ["same_keys"]),
        ("{1: 'a', 'b': 2}", {"1": "a", "b": 2}, []),
        ("{'n': (each for each in 'ab')}", None, ["iterator"]),
        ("map(str, [1, 2])", None, ["iterator"]),
        ("[b'text', b'\\xff', bytearray(b'a')]", ["text", "data:;base64,/w==", "a"], []),
        ("b'\\xff'", "data:;base64,/w==", []),
    ],
)
def test_a_value_that_json_cannot_hold_loses_nothing_silently(
    execute: Execute, source: str, value: Any, kinds: list[str]
) -> None:
    ran = execute(source)
    assert isinstance(ran.outcome, Completed)
    assert [each.kind for each in ran.outcome.warnings] == kinds
    assert value is None or ran.value == value


@pytest.mark.parametrize(
    "use",
    [
        "r['a']", "[x for x in r]", "'a' in r", "len(r)", "dict(r)", "r.data", "r.is_ok()", "r.get('a')", "r.a",
        "json.dumps(r)", "json.dumps({'r': r})", "r + 1", "1 + r", "r > 1", "sum([r])", "sorted([r, r])", "int(r)",
        "a, b = r", "for x in r: pass", "float(r)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("call", ["tools.crm.echo(a=1)", "tools.fail()"])
def test_a_result_used_as_its_value_says_what_to_write(execute: Execute, use: str, call: str) -> None:
    outcome = execute(f"import json\nr = {call}\n{use}", tools=TOOLS).outcome
    assert isinstance(outcome, Failed), outcome
    assert outcome.error.hint == NOT_ITS_VALUE


@pytest.mark.parametrize("use", ["c['a']", "c.value", "c.unwrap()", "c.json()"])
def test_a_pending_call_used_as_its_result_says_what_to_write(execute: Execute, use: str) -> None:
    outcome = execute(f"c = tools.crm.echo.start(a=1)\n{use}", tools=TOOLS).outcome
    assert isinstance(outcome, Failed)
    assert "`await`" in (outcome.error.hint or "")


def error_of(ran: Ran) -> tuple[str, str]:
    assert isinstance(ran.outcome, Failed | Rejected), ran.outcome
    return ran.outcome.error.type, ran.outcome.error.hint or ""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import pandas as pd", "lists and dicts"),
        ("import numpy", "lists and dicts"),
        ("import yaml", "standard library"),
        ("import requests", "no packages from PyPI are there; there is no network"),
        ("import subprocess\nsubprocess.run(['ls'])", "no processes"),
        ("import tkinter", "not there"),
        ("open('a.csv', 'w')", "tools.files.write"),
        ("open('a.csv').read()", "tools.files.read"),
        ("from pathlib import Path\nPath('a').write_text('x')", "tools.files.write"),
        ("import os\nos.listdir('.')", "no files"),
        ("input('name? ')", "into the snippet"),
        ("len(customers)", "starts anew: define customers"),
        ("Counter('abc')", "from collections import Counter"),
        ("json.dumps(1)", "import json"),
        ("import threading\nthreading.Thread(target=print).start()", "no threads"),
        ("!ls", "no shell commands"),
        ("%pip install x", "no notebook magics"),
        ("def f():\n    await tools.crm.echo()", "async def"),
        ("tools.fail().ok()", "without parentheses"),
        ("tools.fail().unwrap()", "try again"),
        ("import asyncio\nasyncio.gather(tools.crm.echo())", "await"),
        ("from tools import *", "by name"),
    ],
)
def test_what_cannot_work_says_in_one_line_what_to_write_here(execute: Execute, source: str, said: str) -> None:
    ran = execute(source, tools=TOOLS)
    kind, hint = error_of(ran)
    assert said in hint or (isinstance(ran.outcome, Rejected) and said in ran.outcome.error.message), (kind, hint)
    assert "\n" not in hint
    assert not re.search(r"--\w|\[limits\]|operator|define_tool", hint)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("x = 1\nx = = 3\n", "    x = = 3\n        ^"),
        ("for i in range(3)\n    print(i)", "    for i in range(3)\n                     ^"),
        ("x = 1\nbreak", "    break\n"),
        ("```python\nx = = 3\n```", "    x = = 3\n        ^"),
    ],
)
def test_a_syntax_error_shows_its_line_and_the_place_in_it(execute: Execute, source: str, place: str) -> None:
    outcome = execute(source).outcome
    assert isinstance(outcome, Rejected)
    assert place in (outcome.error.traceback or "")


@pytest.mark.parametrize(
    ("source", "since"),
    [
        ("o = {'id': 1}\nf'{o['id']}'", (3, 12)),
        ("type Pair = tuple[int, int]", (3, 12)),
        ("def first[T](items: list[T]) -> T:\n    return items[0]", (3, 12)),
        ("try:\n    pass\nexcept ValueError, TypeError:\n    pass", (3, 14)),
    ],
)
def test_syntax_that_is_too_new_names_the_version(
    execute: Execute, engine: Engine, source: str, since: tuple[int, int]
) -> None:
    ran = execute(source)
    if engine.name != "restricted" or sys.version_info >= since:
        assert not isinstance(ran.outcome, Rejected), ran.outcome
        return
    assert f"Python {sys.version_info.major}.{sys.version_info.minor}" in error_of(ran)[1]


def test_a_name_that_is_no_type_of_the_stubs_is_still_missing(execute: Execute) -> None:
    for source in ("Decimal(value='1')", "Thing('x')", "Thing.make()", "print(Thing)"):
        assert error_of(execute(source))[0] == "NameError"


def test_a_source_with_several_fenced_blocks_is_not_guessed(execute: Execute) -> None:
    outcome = execute("```python\nx = 1\n```\nthen\n```python\nx + 1\n```").outcome
    assert isinstance(outcome, Rejected)
    assert "one fenced block" in (outcome.error.hint or "")


def test_fences_inside_a_string_are_left_alone(execute: Execute) -> None:
    assert execute("text = '''\n```\nx\n```\n'''\ntext").value == "\n```\nx\n```\n"


def test_calls_of_an_imported_tool_are_shown_before_anything_runs(execute: Execute) -> None:
    ran = execute("import tools\ntools.math.add(a=1, b=2)", tools=TOOLS)
    assert [call["path"] for call in ran.host.previewed[0]] == ["math.add"]
