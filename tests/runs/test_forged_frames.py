"""Frames that only a child without guards can send: each is an orderly refusal or outcome of its run, with receipts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import World
from tests.sandbox.restricted.conftest import holed

from coilclaw.runs import RunReport
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sdk import ToolContext, define_tool

LINK = """
import gc, json
gc.unfreeze()
(link,) = [each for each in gc.get_objects() if type(each).__name__ == "HostLink"]
def ask(*header, body=b"{}"):
    return json.loads(link._ask(list(header), body))
"""


@define_tool(id="test.echo", risk="read")
def echo(ctx: ToolContext, text: str) -> str:
    return text


@pytest.fixture
def unguarded(tmp_path: Path) -> Iterator[RestrictedEngine]:
    engine = holed(tmp_path, "no_guards_at_all")
    yield engine
    engine.close()


def run(world: World, engine: RestrictedEngine, source: str) -> RunReport:
    return world.runtime().run(Snippet(source=LINK + source), engine, world.registry(echo), Limits())


def test_a_lone_surrogate_in_the_name_of_a_tool_is_refused_with_receipts(
    world: World, unguarded: RestrictedEngine
) -> None:
    source = r"""
names = ["\ud800", "test.\udfffecho", "test.echo\ud800", "\ud800" * 5000]
called = [ask("call", name, 1)["code"] for name in names]
for name in names:
    ask("begin", name, 1)
begun = []
while len(begun) < len(names):
    begun += [json.loads(answer)["code"] for _, answer in ask("wait", -1)]
[called, begun, ask("call", "test.echo", 1, body=b'{"text": "a"}')["value"]]
"""
    report = run(world, unguarded, source)
    assert (report.status, report.value) == ("completed", [["unknown_tool"] * 4, ["unknown_tool"] * 4, "a"])
    kinds = world.types()
    assert kinds.count("tool.call.requested") == 9
    assert kinds.count("tool.call.denied") == 8
    assert kinds.count("tool.call.succeeded") == 1
    assert world.log.verify().ok


@pytest.mark.parametrize(
    "arguments",
    [r'{"text": "\ud800"}', r'{"\ud800": 1}', r'{"text": "a", "text": "\udfff"}', r'"\ud800"', r'["\ud800"]'],
)
def test_a_lone_surrogate_in_arguments_is_refused_with_receipts(
    world: World, unguarded: RestrictedEngine, arguments: str
) -> None:
    report = run(world, unguarded, f"ask('call', 'test.echo', 1, body={arguments.encode()!r})['code']")
    assert (report.status, report.value) == ("completed", "invalid_input")
    assert world.types() == ["tool.call.requested", "tool.call.failed"]
    assert world.log.verify().ok


@pytest.mark.parametrize(
    "calls",
    [r'[["\ud800", 1]]', r'[{"tool": "\ud800", "line": 1}]', r'["\ud800"]', r'{"\ud800": "\ud800"}'],
)
def test_no_forged_list_of_visible_calls_crashes_its_run(world: World, unguarded: RestrictedEngine, calls: str) -> None:
    report = run(world, unguarded, f"ask('preflight', body={calls.encode()!r})\n1")
    assert report.status in ("completed", "rejected"), report.error
    assert world.log.verify().ok


def test_a_lone_surrogate_in_a_forged_result_is_an_outcome_that_can_be_kept(
    world: World, unguarded: RestrictedEngine
) -> None:
    for value in (r'"\ud800"', r'{"\ud800": 1}'):
        body = f'{{"status": "completed", "value": {value}}}'.encode()
        report = run(world, unguarded, f"link.send(['end'], {body!r})\nwhile True: pass")
        assert report.status in ("completed", "failed", "crashed")
        assert world.log.verify().ok
        (finished,) = [each for each in world.log.of_run(report.run_id) if each.type == "run.finished"]
        assert finished.status == report.status
