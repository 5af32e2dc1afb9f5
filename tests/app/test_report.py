"""The report of a run: warnings, outputs and summaries reach the caller, the feed and whoever looks again."""

from __future__ import annotations

import json

import pytest
from tests.app.conftest import Open

from coilclaw.evidence import CallReused, CallSucceeded, RunDisplayed, RunFinished, RunOutput, RunStarted
from coilclaw.runs import NoSuchRun
from coilclaw.sdk import ToolContext, define_tool

notes: list[str] = []


@define_tool(id="crm.note", risk="write", summary="Noted {text}", secrets=["TOKEN"])
def note(ctx: ToolContext, text: str) -> int:
    """Write a note."""
    notes.append(text)
    return len(notes)


@define_tool(id="crm.fail", risk="read")
def fail(ctx: ToolContext, who: str) -> int:
    """Fail."""
    raise RuntimeError(f"{who}\x1b[2J is unknown")


FULL = {"config": {"security.autonomy": "full"}, "environment": {"TOKEN": "hunter2hunter2"}}
UNREAD = "print('All sent.')\ntools.crm.fail(who='ada')\nNone"


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_warnings_reach_the_report_the_feed_and_whoever_looks_again(temporary: Open, engine: str) -> None:
    claw = temporary(fail)
    handle = claw.start(UNREAD, engine=engine)
    *_, end = handle.events()
    report = handle.result()
    (warning,) = report.warnings
    assert warning.line == 2
    assert "crm.fail" in warning.message
    assert report.facts()["warnings"] == [{"kind": warning.kind, "message": warning.message, "line": 2}]
    assert isinstance(end, RunFinished)
    assert list(end.warnings) == report.facts()["warnings"]
    assert claw.runs.show(report.run_id).facts() == report.facts()
    assert claw.replay(report.run_id).identical


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_what_is_displayed_is_an_event_between_what_is_printed(temporary: Open, engine: str) -> None:
    handle = temporary().start("print('a')\ndisplay('x'); display([{'n': 1}])\nprint('b')", engine=engine)
    events = [each for each in handle.events() if isinstance(each, RunOutput | RunDisplayed)]
    assert [getattr(each, "mime", "printed") for each in events] == [
        "printed",
        "text/plain",
        "application/vnd.coilclaw.table+json",
        "printed",
    ]
    assert [each.data for each in events if isinstance(each, RunDisplayed)] == ["x", {"columns": ["n"], "rows": [[1]]}]
    assert handle.result().facts()["warnings"] == [], "what displays something has said something"


def test_a_call_is_summarised_by_its_tool_or_by_its_arguments_without_secrets(temporary: Open) -> None:
    claw = temporary(note, fail, **FULL)
    source = "tools.crm.note(text='hunter2hunter2 ' + 'x' * 900); tools.crm.fail(who='ada').ok"
    handle = claw.start(source)
    succeeded = next(each for each in handle.events() if isinstance(each, CallSucceeded))
    wrote, failed = handle.result().activity
    assert wrote.summary == succeeded.summary
    assert wrote.summary is not None
    assert wrote.summary.startswith("Noted ")
    assert "hunter2" not in wrote.summary
    assert len(wrote.summary) < 400
    assert (failed.code, failed.status) == ("tool_crashed", "failed")
    assert failed.summary is not None
    assert failed.summary.startswith('crm.fail(who="ada"): crm.fail crashed: ')
    assert failed.summary.isprintable()


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_a_started_retry_repeats_no_write_and_says_so_on_the_feed(temporary: Open, engine: str) -> None:
    notes.clear()
    claw = temporary(note, **FULL)
    first = claw.run("tools.crm.note(text='a'); 1/0", engine=engine)
    handle = claw.start("tools.crm.note(text='a').value", engine=engine, retry_of=first.run_id)
    events = list(handle.events())
    report = handle.result()
    assert (report.value, report.retry_of, notes) == (1, first.run_id, ["a"])
    assert next(each for each in events if isinstance(each, RunStarted)).retry_of == first.run_id
    reused = next(each for each in events if isinstance(each, CallReused))
    assert (reused.source_run, reused.source_receipt) == (first.run_id, first.activity[0].receipt_ref)
    assert report.activity[0].reused_from == reused.source_receipt
    assert claw.runs.show(report.run_id).facts() == report.facts()
    assert claw.verify().ok


def test_a_retry_warns_of_a_reused_write_that_a_newer_one_may_have_undone(temporary: Open) -> None:
    claw = temporary(note, **FULL)
    first = claw.run("tools.crm.note(text='final'); 1/0")
    source = "tools.crm.note(text='final')\ntools.crm.note(text='draft')"
    assert "reused_after_write" not in {each.kind for each in claw.run(source, retry_of=first.run_id).warnings}
    source = "tools.crm.note(text='draft')\ntools.crm.note(text='final')"
    report = claw.run(source, retry_of=first.run_id)
    assert [(each.kind, each.line) for each in report.warnings if each.kind != "no_output"] == [
        ("reused_after_write", 2)
    ]
    assert claw.runs.show(report.run_id).facts() == report.facts()


def test_a_run_of_another_home_is_not_retried(temporary: Open) -> None:
    first = temporary(note, **FULL).run("tools.crm.note(text='a')")
    with pytest.raises(NoSuchRun):
        temporary(note, **FULL).run("1", retry_of=first.run_id)


@pytest.mark.parametrize("source", [r"{'a': ['\ud800', 'é😀']}", r"print('\ud800'); 1", r"raise ValueError('\ud800')"])
def test_the_facts_of_a_report_can_always_be_encoded(temporary: Open, source: str) -> None:
    report = temporary().run(source)
    facts = report.facts()
    assert json.loads(json.dumps(facts, ensure_ascii=False).encode()) == facts
    if isinstance(report.value, dict):
        assert facts["value"] == {"a": ["\ufffd", "é😀"]}
