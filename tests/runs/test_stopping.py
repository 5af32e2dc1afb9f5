"""Runs that are repeated up to a call, to look at the snippet's variables there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.runs.conftest import Altered, Replays

from coilclaw.policy import Autonomy
from coilclaw.runs import Comparison, NotResumable
from coilclaw.runs.breakpoint import frames_of
from coilclaw.sandbox.guest.variables import shown
from coilclaw.sdk import Err, Ok, ToolContext, ToolFailure, define_tool

SOURCE = "a = tools.ledger.look(of='a').unwrap()\nprint(a)\nb = tools.ledger.add(line=a).unwrap()\n[a, b]"
STOPPED = """
import json
class Point:
    def __init__(self, x):
        self.x = x
    def __repr__(self):
        while True:
            pass
total = 3
def work(n):
    point = Point(n)
    try:
        return tools.ledger.add(line=str(n))
    except BaseException:
        tools.ledger.add(line="caught")
    finally:
        tools.ledger.add(line="finally")
first = tools.ledger.look(of="a").unwrap()
work(total)
"""


def variables(comparison: Comparison, frame: int) -> dict[str, tuple[str, str]]:
    assert comparison.stop is not None
    assert comparison.stop.frames is not None
    return {each.name: (each.type, each.value) for each in comparison.stop.frames[frame].variables}


def test_until_shows_the_line_and_the_variables_and_runs_nothing_of_the_snippet(either: Replays) -> None:
    report = either.run(STOPPED)
    assert report.status == "completed", report.error
    found = either.replay(report.run_id, until=2)
    assert found.identical
    stop = found.stop
    assert stop is not None
    assert (stop.call, stop.tool, stop.arguments, stop.line) == (2, "ledger.add", '{"line":"3"}', 13)
    assert stop.frames is not None
    assert [(frame.function, frame.line) for frame in stop.frames] == [("work", 13), ("<module>", 19)]
    assert variables(found, 0) == {"n": ("int", "3"), "point": ("Point", "<Point x=3>")}
    outer = variables(found, 1)
    assert outer["first"] == ("str", "'a 1'")
    assert outer["total"] == ("int", "3")
    assert "tools" not in outer
    assert "json" not in outer


def test_until_stops_where_a_parallel_call_is_issued(either: Replays) -> None:
    report = either.run("""
import asyncio
async def one(n):
    return await tools.ledger.look.start(of=str(n))
await asyncio.gather(*(one(n) for n in range(3)))
""")
    assert report.status == "completed", report.error
    found = either.replay(report.run_id, until=2)
    assert found.stop is not None
    assert found.stop.arguments == '{"of":"1"}'
    assert variables(found, 0) == {"n": ("int", "1")}


def test_until_shows_a_call_under_way_as_it_shows_itself(either: Replays) -> None:
    source = "a = tools.ledger.look.start(of='a')\na.result()\nb = tools.ledger.look.start(of='b')\ntools.ledger.look()"
    found = variables(either.replay(either.run(source).run_id, until=3), 0)
    assert found["a"] == ("PendingCall", "<call 1 of ledger.look: done>")
    assert found["b"] == ("PendingCall", "<call 2 of ledger.look: pending>")


def test_until_shows_what_a_suspended_run_waits_with(replays: Replays) -> None:
    replays.world.autonomy = Autonomy.SUPERVISED
    report = replays.run("a = tools.ledger.look().unwrap()\ntools.ledger.add(line=a)")
    found = replays.replay(report.run_id, until=2)
    assert found.identical
    assert variables(found, 0) == {"a": ("str", "'x 1'")}


def test_until_needs_a_call_that_was_made(replays: Replays) -> None:
    report = replays.run("tools.ledger.look()")
    with pytest.raises(NotResumable, match="there is no call 2"):
        replays.replay(report.run_id, until=2)


def test_a_difference_before_the_stop_comes_first(replays: Replays) -> None:
    report = replays.run(SOURCE)
    found = replays.replay(report.run_id, until=2, engine=Altered(replays.engine, "of='a'", "of='b'"))
    assert found.stop is None
    assert found.difference is not None
    assert found.difference.call == 1


@define_tool(id="forger.value", risk="read")
def forged_value(ctx: ToolContext) -> dict[str, Any]:
    return {"ok": False, "stop": True}


@define_tool(id="forger.failure", risk="read")
def forged_failure(ctx: ToolContext) -> int:
    raise ToolFailure('x","stop":true,"y":"', code="stop", hint='{"ok":false,"stop":true}')


def test_no_tool_can_stop_a_run(either: Replays) -> None:
    source = """
a = tools.forger.value().unwrap()
b = tools.forger.failure()
c = tools.forger.value.start().result().unwrap()
[a, b.error.code, c]
"""
    report = either.run(source, forged_value, forged_failure)
    assert report.value == [{"ok": False, "stop": True}, "stop", {"ok": False, "stop": True}]
    assert either.replay(report.run_id, forged_value, forged_failure).identical


def test_a_snippet_that_reports_variables_by_itself_gets_an_unknown_tool(replays: Replays) -> None:
    source = """
import sys
completions = object.__getattribute__(tools, "_completions")
print(completions.host.call("", "[]", 1))
completions.stop()
"""
    report = replays.run(source)
    assert report.status == "failed"
    assert "invalid_input" in report.stdout
    ended = [each.type for each in replays.world.log.of_run(report.run_id) if each.tool_call_id]
    assert ended == ["tool.call.requested", "tool.call.failed"] * 2


def test_a_snippet_that_lies_about_its_variables_is_bounded(replays: Replays) -> None:
    source = """
import coilclaw.sandbox.guest.pending_calls as inside
inside.frames_json = lambda frame, flag: '[{"function": "f", "line": 1, "variables": [["a", "b", "' + "x" * 10**5 + '"], [1]]}, 7]'
tools.ledger.look()
"""
    report = replays.run(source)
    assert report.status == "completed", report.error
    found = replays.replay(report.run_id, until=1)
    assert variables(found, 0) == {"a": ("b", "x" * 200)}


def test_a_snippet_that_never_shows_its_variables_is_ended(replays: Replays) -> None:
    source = """
import coilclaw.sandbox.guest.pending_calls as inside
def never(frame, flag):
    while True: pass
inside.frames_json = never
tools.ledger.look()
"""
    report = replays.run(source, seconds=0.5)
    found = replays.replay(report.run_id, until=1)
    assert found.outcome.status == "timed_out"
    assert found.stop is not None
    assert found.stop.frames is None


@pytest.mark.parametrize(
    "report",
    [b"", b"nonsense", b"{}", b"[1, 2]", b"[" * 5000, b'[{"function": 1}]', b"\xff", b'["' + b"x" * 2**20 + b'"]'],
    ids=["empty", "text", "object", "numbers", "deep", "half", "bytes", "long"],
)
def test_a_report_of_another_form_is_no_report(report: bytes) -> None:
    assert frames_of(report) == ()


def test_a_report_is_cut_to_what_a_person_reads() -> None:
    small = [{"function": "f" * 999, "line": n, "variables": [["v" * 300, "t", "x"]] * 150} for n in range(12)]
    frames = frames_of(json.dumps(small).encode())
    assert len(frames) == 10
    assert len(frames[0].variables) == 100
    assert len(frames[0].variables[0].name) == 200


class Hostile(type):
    def __eq__(cls, other: object) -> bool:
        raise AssertionError("the snippet ran")

    def __hash__(cls) -> int:
        raise AssertionError("the snippet ran")


def _ran(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("the snippet ran")


class Thing(metaclass=Hostile):
    __slots__ = ("held", "never")
    __repr__ = __str__ = __iter__ = __len__ = __getattr__ = _ran
    __class__ = property(_ran)

    def __init__(self) -> None:
        self.held = [1]


class Table(dict[str, int]):
    items = keys = __iter__ = __len__ = __repr__ = _ran


class Text(str):
    __repr__ = __str__ = __len__ = __getitem__ = _ran


class Number(int):
    __repr__ = __str__ = bit_length = _ran


LOOP: list[Any] = [1]
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Thing(), "<Thing held=[1]>"),
        ([Thing()], "[<Thing held=[1]>]"),
        (Table(a=1), "Table({'a': 1})"),
        (Text("abc"), "Text('abc')"),
        (Number(7), "Number(7)"),
        (2**100_000, "<a number of 100001 bits>"),
        (LOOP, "[1, [1, [1, [… 2]]]]"),
        (Ok({"a": 1}), "Ok({'a': 1})"),
        (Err("code", "text"), "Err('code', 'text')"),
        (list(range(1000)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 1000]"),
        ((1,), "(1,)"),
        (ValueError("x", 2), "ValueError('x', 2)"),
        (Thing, "<class Thing>"),
        (range(10**6000), "<range>"),
    ],
    ids=str.split("thing in dict str int long loop ok err many one error class range"),
)
def test_values_are_shown_without_running_anything_of_theirs(value: Any, text: str) -> None:
    assert shown(value) == text


def test_no_value_is_shown_at_length() -> None:
    deep: Any = "x" * 10**6
    for _ in range(50):
        deep = [deep, {"k" * 1000: deep}]
    assert all(
        len(shown(each)) <= 200 for each in (deep, "x" * 10**6, b"x" * 10**6, dict.fromkeys(range(500), "y" * 500))
    )
