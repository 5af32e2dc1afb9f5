"""`coilclaw replay`."""

from __future__ import annotations

import pytest
from tests.cli.conftest import Command, Done

SOURCE = """
import random
def note(n):
    text = f"{n} {random.random()}"
    return tools.files.write(path="a.txt", text=text).unwrap()
now = tools.time.now().unwrap()
print("before")
note(3)
"""


@pytest.fixture
def done(coilclaw: Command) -> Done:
    coilclaw("init")
    ran = coilclaw("run", "-", "--json", "--yes", stdin=SOURCE)
    assert ran.json["status"] == "completed", ran.json
    return ran


def receipts(coilclaw: Command) -> str:
    return coilclaw("receipt", "export").out


def test_an_identical_run_is_said_to_be_one_and_leaves_nothing(coilclaw: Command, done: Done) -> None:
    coilclaw.tool(
        "new/tool.py",
        "from coilclaw.sdk import define_tool\n\n\n@define_tool(id='new.tool', risk='read')\ndef t(ctx) -> int:\n    return 1\n",
    )
    before = receipts(coilclaw)
    (coilclaw.workspace / "a.txt").unlink()
    again = coilclaw("replay", done.json["run_id"])
    assert (again.code, again.err) == (0, "")
    assert again.out == "identical: completed, 2 calls; compared: calls, status, output, value\n"
    assert not (coilclaw.workspace / "a.txt").exists()
    assert receipts(coilclaw) == before


def test_json_is_one_object(coilclaw: Command, done: Done) -> None:
    again = coilclaw("replay", done.json["run_id"], "--json")
    assert again.json == {
        "run_id": done.json["run_id"],
        "identical": True,
        "status": "completed",
        "replayed_status": "completed",
        "calls": 2,
        "compared": ["calls", "status", "output", "value"],
        "difference": None,
        "note": None,
        "stdout": "before\n",
        "stopped": None,
    }


def test_until_shows_where_it_stands(coilclaw: Command, done: Done) -> None:
    stopped = coilclaw("replay", done.json["run_id"], "--until", 2)
    assert stopped.code == 0
    assert stopped.out.startswith('before\nStopped at call 2, line 5: files.write {"path":"a.txt","text":"3 0.')
    assert "\nIn note, line 5:\n  n     int  3\n  text  str  '3 0." in stopped.out
    assert "\nIn the snippet, line 8:\n" in stopped.out
    as_json = coilclaw("replay", done.json["run_id"], "--until", 2, "--json").json
    frame = as_json["stopped"]["frames"][0]
    assert (frame["function"], frame["line"], frame["variables"][0]) == (
        "note",
        5,
        {"name": "n", "type": "int", "value": "3"},
    )


def test_nothing_in_a_variable_controls_the_terminal(coilclaw: Command) -> None:
    source = "globals()['\\x1b[2Ja'] = '\\x1b[31m'\nb = type('\\x1b[1mK', (), {})()\ntools.time.now()"
    ran = coilclaw("run", "-", "--json", stdin=source)
    stopped = coilclaw("replay", ran.json["run_id"], "--until", 1)
    assert "\x1b" not in stopped.out
    assert "u001b[2Ja" in stopped.out


def test_a_suspended_run_is_repeated_until_it_waits(coilclaw: Command) -> None:
    coilclaw("init")
    ran = coilclaw("run", "-", "--json", stdin="tools.files.write(path='a.txt', text='x').unwrap()")
    assert ran.json["status"] == "suspended"
    again = coilclaw("replay", ran.json["run_id"])
    assert (again.code, again.out) == (0, "identical: suspended, 1 call; compared: calls, status, output\n")


def test_a_tool_that_is_gone_is_a_difference_with_its_call(coilclaw: Command) -> None:
    coilclaw("init")
    text = "from coilclaw.sdk import define_tool\n\n\n@define_tool(id='mine.answer', risk='read')\ndef answer(ctx) -> int:\n    return 42\n"
    file = coilclaw.tool("mine/answer.py", text)
    ran = coilclaw("run", "-", "--json", stdin="tools.mine.answer().unwrap()")
    assert ran.json["value"] == 42, ran.json
    file.unlink()
    again = coilclaw("replay", ran.json["run_id"])
    assert again.code == 1
    assert again.out == "different: call 1 was of mine.answer and is of mine.answer, which does not exist now\n"
    told = coilclaw("replay", ran.json["run_id"], "--json")
    assert (told.code, told.json["identical"], told.json["difference"]["call"]) == (1, False, 1)


def test_a_direct_call_is_repeated(coilclaw: Command) -> None:
    coilclaw("tool", "run", "time.now")
    (run_id,) = {line.split()[-1] for line in coilclaw("receipt", "list").out.splitlines() if "run.finished" in line}
    again = coilclaw("replay", run_id)
    assert (again.code, again.out.split(":")[0]) == (0, "identical")


@pytest.mark.parametrize(
    "arguments", [["run-nothing"], [], ["run-nothing", "--until", "0"], ["run-nothing", "--until", "x"], ["\x1b[31m"]]
)
def test_nothing_to_repeat_is_one_clear_line_and_exits_with_2(coilclaw: Command, arguments: list[str]) -> None:
    done = coilclaw("replay", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err
    assert "\x1b" not in done.err
