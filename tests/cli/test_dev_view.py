"""What the live view shows, in how much room, and what it makes of text that means harm."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console, Group
from rich.text import Text

from coilclaw.bridge import build_registry
from coilclaw.cli.dev.events import (
    Called,
    DevEvent,
    Failed,
    Note,
    Problem,
    QuarantinedFile,
    Ready,
    Reloaded,
    Removed,
    RunFinished,
    RunOutput,
    RunStarted,
)
from coilclaw.cli.dev.finished_calls import FinishedCalls
from coilclaw.cli.dev.printers import JsonLines, PlainLines
from coilclaw.cli.dev.script import Script, Unreadable
from coilclaw.cli.dev.tool_changes import ToolChanges
from coilclaw.cli.dev.view import Picture, view
from coilclaw.evidence import EventFeed
from coilclaw.policy import Autonomy, Policy
from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.sdk import Diagnostic, Quarantined, Tool, ToolContext, define_tool
from coilclaw.sdk.legible import one_line

BAD = "\x1b[2J\x1b]0;owned\x07\r\n\u202e[red]\x9b31m\ud800"
WORKSPACE = Path("/w")


@define_tool(id="notes.say", risk="write")
def say(ctx: ToolContext) -> int:
    """Says something."""
    return 1


def own(number: int) -> list[Tool]:
    return [
        replace(say, id=f"notes.say_{each:04}", file="/w/tools/notes/tools.py", line=each) for each in range(number)
    ]


def picture(tools: list[Tool], *diagnostics: Diagnostic, held: tuple[Quarantined, ...] = ()) -> Picture:
    registry = build_registry([(tools, diagnostics)], quarantined=held)
    made = Picture(workspace=WORKSPACE, policy=Policy(Autonomy.SUPERVISED), changes=ToolChanges(WORKSPACE, registry))
    made.use(registry)
    return made


def drawn(made: Picture, width: int, height: int) -> list[str]:
    lines = view(made, width, height)
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None, force_terminal=True)
    shown = console.render_lines(Group(*lines), pad=False)
    return ["".join(segment.text for segment in line) for line in shown]


def events(text: str) -> list[DevEvent]:
    error = {"type": text, "message": text, "line": 1, "excerpt": text, "traceback": text, "hint": text}
    item = {"tool_id": text, "status": "denied", "approval": text, "when": text, "receipt_ref": text}
    return [
        Ready(workspace=text, tools=1, workspace_tools=1, errors=0, quarantined=0, hint=text),
        Reloaded(file=text, tools=(text,), milliseconds=1.0, generation=1),
        Failed(file=text, line=1, column=2, message=text, hint=text, excerpt=text),
        Removed(file=text),
        QuarantinedFile(file=text, reason=text, command=text),
        Called(tool=text, status="failed", milliseconds=2.0, code=text, message=text, run_id=text, receipt=text),
        Problem(message=text, hint=text),
        Note(text=text),
        RunStarted(script=text, reason=text, generation=1),
        RunOutput(stream=1, text=text),
        RunFinished(
            script=text,
            run_id=text,
            status="failed",
            engine=text,
            milliseconds=1.0,
            value={text: text},
            error=error,
            activity=(item,),
        ),
    ]


def hostile() -> Picture:
    made = picture(
        own(2),
        Diagnostic(file=f"/w/tools/{BAD}.py", line=4, message=BAD, hint=BAD, column=3, excerpt=BAD),
        held=(Quarantined(name=f"tools/{BAD}/x.py", path=BAD, content_hash="", reason=BAD),),
    )
    for event in events(BAD):
        made.add(event)
    return made


def test_a_thousand_tools_are_counted_not_listed() -> None:
    lines = drawn(picture(own(1000)), 100, 24)
    assert len(lines) == 24
    assert lines[-1].startswith("Ctrl-C")
    listed = sum("notes.say_" in line for line in lines)
    assert 10 < listed < 24
    assert any(f"… {1000 - listed} more tools" in line for line in lines)
    assert "write" in lines[3]
    assert "ask" in lines[3]


def test_errors_come_before_everything_else_and_mark_the_place() -> None:
    problem = Diagnostic(file="/w/tools/notes/tools.py", line=7, message="no", hint="yes", column=5, excerpt="\tx = 1")
    lines = drawn(picture(own(100), problem), 80, 12)
    assert lines[1] == "1 error"
    assert lines[2] == "  tools/notes/tools.py:7  no"
    assert lines[3] == "    7 |  x = 1"
    assert lines[4] == "      |     ^"
    assert lines[5] == "    Fix: yes"


def test_a_mark_stays_under_what_it_means_when_the_line_is_wide_or_written_out() -> None:
    excerpt = "名\x1b = bad"
    problem = Diagnostic(file="/w/tools/a.py", line=1, message="no", column=excerpt.index("bad") + 1, excerpt=excerpt)
    lines = drawn(picture([], problem), 80, 12)
    source, mark = lines[3], lines[4]
    assert cell_len(source[: source.index("bad")]) == cell_len(mark[: mark.index("^")])


@pytest.mark.parametrize(("width", "height"), [(20, 4), (40, 8), (80, 24), (200, 60), (80, 5)])
def test_the_view_fits_any_terminal(width: int, height: int) -> None:
    for made in (hostile(), picture(own(300)), picture([])):
        lines = drawn(made, width, height)
        assert len(lines) == height
        assert max(map(cell_len, lines)) <= width


def test_eighty_columns_show_the_workspace_and_the_receipt_of_a_call() -> None:
    made = picture([])
    called: Any = next(event for event in events("text") if event.kind == "call")
    made.add(replace(called, tool="calendar.events.create", code=None, receipt="receipt-66a7e02a-1234"))
    lines = drawn(made, 80, 24)
    assert any(line.endswith("receipt-66a7e02a-1234") for line in lines)
    assert lines[-1].endswith(str(WORKSPACE))


def test_nothing_that_is_shown_can_control_the_terminal() -> None:
    made = hostile()
    lines = view(made, 300, 100)
    assert all(isinstance(line, Text) for line in lines)
    text = "\n".join(line.plain for line in lines)
    assert text.count("owned") > 15  # It is shown, written out.
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "[red]" in text  # Not taken for markup.
    assert len(text.split("\n")) == 100


@pytest.mark.parametrize("event", events(BAD), ids=lambda event: event.kind)
def test_every_event_is_one_harmless_line(event: DevEvent) -> None:
    for teller in (PlainLines, JsonLines):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace", newline="")
        teller(stream).tell(event)
        told = stream.buffer.getvalue()
        assert told.endswith(b"\n")
        assert told.count(b"\n") == 1
        assert all(byte == 10 or 32 <= byte < 127 for byte in told)
        assert b"owned" in told


def test_a_long_text_is_cut_before_it_is_written_out() -> None:
    assert len(one_line("\x1b" * 10_000_000, 400)) < 10_000


def test_a_run_shows_its_error_its_value_its_calls_and_the_end_of_its_output() -> None:
    made = picture([])
    finished: Any = events("text")[-1]
    made.add(RunStarted(script="s.py", reason="start", generation=1))
    for number in range(500):
        made.add(RunOutput(stream=1, text=f"line {number}"))
    assert "s.py: running" in drawn(made, 80, 40)[1]
    made.add(replace(finished, value={"a": list(range(100))}, error=None))
    lines = drawn(made, 80, 80)
    assert "failed in 1 ms" in lines[1]
    assert '  "a": [' in lines[3]
    assert any("denied" in line for line in lines)
    assert any("| line 499" in line for line in lines)
    made.add(RunStarted(script="s.py", reason="start", generation=1))
    assert not any("line 499" in line for line in drawn(made, 80, 80))  # The next run starts clean.


# Receipts ------------------------------------------------------------------------------------------------


def call(number: int, kind: str, **payload: str) -> Draft:
    return Draft(kind, "allowed", now(), "run-1", None, f"call-{number}", "notes.say", None, None, None, None, payload)


@pytest.fixture
def calls(log: ReceiptLog) -> Iterator[FinishedCalls]:
    with EventFeed(log) as feed:
        yield FinishedCalls(feed)


def test_calls_are_shown_once_when_they_end(log: ReceiptLog, calls: FinishedCalls) -> None:
    log.append(call(1, "tool.call.started"), call(1, "tool.call.succeeded"), call(2, "tool.call.started"))
    assert [event.object()["status"] for event in calls.recent()] == ["succeeded"]
    assert list(calls.new()) == []
    log.append(call(2, "tool.call.failed", code="timeout", message="too slow"))
    (shown,) = calls.new()
    assert isinstance(shown, Called)
    assert (shown.status, shown.code, shown.message) == ("failed", "timeout", "too slow")
    assert shown.milliseconds is not None  # Its start was seen in the look before.
    assert list(calls.new()) == []


@pytest.mark.parametrize("decided", [{}, {"approval": "approval-1", "decision": "deny", "decided_by": "ada"}])
def test_a_call_that_was_denied_has_ended_whoever_denied_it(
    log: ReceiptLog, calls: FinishedCalls, decided: dict[str, str]
) -> None:
    calls.recent()
    log.append(call(1, "tool.call.denied", code="approval_denied", message="ada said no", **decided))
    (shown,) = calls.new()
    assert isinstance(shown, Called)
    assert (shown.status, shown.code, shown.message) == ("denied", "approval_denied", "ada said no")


def test_no_call_is_left_out_however_many_there_are(log: ReceiptLog, calls: FinishedCalls) -> None:
    assert list(calls.recent()) == []
    log.append(*(call(number, kind) for number in range(2500) for kind in ("tool.call.started", "tool.call.succeeded")))
    shown = list(calls.all_new())
    assert len(shown) == 2500
    assert len({event.object()["receipt"] for event in shown}) == 2500


def test_receipts_that_cannot_be_read_are_a_problem_shown_once(log: ReceiptLog, calls: FinishedCalls) -> None:
    log.append(call(1, "tool.call.started"), call(1, "tool.call.succeeded"))
    calls.recent()
    log.append(call(2, "tool.call.started")._replace(timestamp="yesterday"))
    assert [event.kind for event in calls.new()] == ["problem"]
    assert list(calls.new()) == []


# The script ----------------------------------------------------------------------------------------------


def test_a_script_that_is_no_script_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    folder = tmp_path / "folder.py"
    folder.mkdir()
    binary = tmp_path / "binary.py"
    binary.write_bytes(b"x = 1\0")
    large = tmp_path / "large.py"
    large.write_text("#" * 101)
    for place, why in [(pipe, "ordinary"), (folder, "directory"), (binary, "binary"), (large, "larger than 100")]:
        with pytest.raises(Unreadable, match=why):
            Script(place).read(100)
    binary.write_text("\ufeffx = 1")
    assert Script(binary).read(100) == "x = 1"
