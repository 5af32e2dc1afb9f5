"""What a program passes to the app is checked, and the error says what to pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.app.test_app import lookup, note
from tests.conftest import cache_folder

from coilclaw.app import Answer, BadArgument, Caller, CoilClaw, Question, Report
from coilclaw.policy import LONGEST_WINDOW_SECONDS
from coilclaw.sdk import CoilClawError, OperatorError, ToolContext, define_tool
from coilclaw.store import BadCursor


@define_tool(id="shelf.keep", risk="read")
def keep(ctx: ToolContext, data: bytes, amount: Decimal) -> list[Any]:
    """Keep something."""
    return [list(data), str(amount)]


@define_tool(id="shelf.echo", risk="read")
def echo(ctx: ToolContext, data: Any, at: Decimal) -> list[str]:
    """Say what was given."""
    return [repr(data), str(at)]


@dataclass
class Bill:
    due: date
    total: Decimal


@pytest.fixture(scope="module")
def claw() -> Iterator[CoilClaw]:
    with CoilClaw.temporary(tools=[lookup, note, keep, echo], cache=cache_folder()) as opened:
        yield opened


def test_an_engine_that_does_not_exist_is_an_error(claw: CoilClaw) -> None:
    with pytest.raises(BadArgument, match="no engine 'wsm'"):
        claw.run("1", engine="wsm")


@pytest.mark.parametrize("name", ["tools", "Ok", "1x", "__name__", "a b", "", 1])
def test_an_input_has_a_name_that_a_snippet_can_use(claw: CoilClaw, name: Any) -> None:
    with pytest.raises(BadArgument, match="name"):
        claw.run("1", inputs={name: 1})


@pytest.mark.parametrize("source", [None, Path("snippet.py"), b"1"])
def test_a_snippet_is_text(claw: CoilClaw, source: Any) -> None:
    with pytest.raises(BadArgument, match="source as text"):
        claw.run(source)


class Unwritable:
    """A value that JSON has no form for."""


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)

WRONG: dict[str, tuple[Callable[[CoilClaw], Any], str]] = {
    "inputs that are no mapping": (lambda claw: claw.run("1", inputs=[1]), "`inputs` is a mapping"),  # type: ignore[arg-type]
    "inputs without JSON": (
        lambda claw: claw.run("1", inputs={"x": Unwritable()}),
        "`inputs` cannot be written as JSON",
    ),
    "inputs in a circle": (lambda claw: claw.start("1", inputs={"x": CIRCLE}), "`inputs` cannot be written as JSON"),
    "arguments as text": (lambda claw: claw.call("crm.lookup", "hi"), "`arguments` is a mapping"),  # type: ignore[arg-type]
    "arguments without JSON": (
        lambda claw: claw.call("crm.lookup", {"email": Unwritable()}),
        "`arguments` cannot be written as JSON",
    ),
    "a tool that is no text": (lambda claw: claw.call(lookup), "`tool` is the id of a tool"),  # type: ignore[arg-type]
    "a timeout as text": (lambda claw: claw.run("1", timeout="3"), "`timeout` is a number of seconds"),  # type: ignore[arg-type]
    "no time": (lambda claw: claw.call("crm.lookup", timeout=0), "`timeout` is a number of seconds"),
    "no number": (lambda claw: claw.resume("run-1", timeout=float("nan")), "`timeout` is a number of seconds"),
    "limits": (lambda claw: claw.run("1", limits=3), "`limits` is an instance of Limits"),  # type: ignore[arg-type]
    "a caller": (lambda claw: claw.run("1", caller="ada"), "`caller` is an instance of Caller"),  # type: ignore[arg-type]
    "a name": (lambda claw: claw.run("1", name=Path("x")), "`name` is text"),  # type: ignore[arg-type]
    "a run": (lambda claw: claw.resume(3), "`run_id` is the id of a run"),  # type: ignore[arg-type]
    "another run": (lambda claw: claw.replay(3), "`run_id` is the id of a run"),  # type: ignore[arg-type]
    "a limit as text": (lambda claw: claw.runs.list(limit="3"), "`limit` is a whole number"),  # type: ignore[arg-type]
    "a limit of none": (lambda claw: claw.runs.list(limit=0), "`limit` is a whole number"),
    "a limit below none": (lambda claw: claw.receipts.latest(-1), "`limit` is a whole number"),
    "a limit beyond all": (lambda claw: claw.receipts.latest(10**30), "`limit` is a whole number"),
    "a limit of yes": (lambda claw: claw.receipts.latest(True), "`limit` is a whole number"),
    "a cursor": (lambda claw: claw.runs.list(cursor=3), "`cursor` is the cursor of a page"),  # type: ignore[arg-type]
    "a place in the log": (lambda claw: claw.events(after=3), "`after` is the cursor of an event"),  # type: ignore[arg-type]
    "a receipt": (lambda claw: claw.receipts.find(3), "`reference` is the id of a receipt"),  # type: ignore[arg-type]
    "an unknown tool": (lambda claw: claw.tools.explain("crm.lookupp"), "no tool 'crm.lookupp'"),
    "an unknown tool's facts": (lambda claw: claw.tools.facts("crm.lookupp"), "no tool 'crm.lookupp'"),
    "an approval": (lambda claw: claw.approvals.approve(3, by="ada"), "`approval_id` is the id of an approval"),  # type: ignore[arg-type]
    "a run that is none": (lambda claw: claw.approvals.pending({}), "`run_id` is the id of a run"),  # type: ignore[arg-type]
    "receipts of no run": (lambda claw: claw.receipts.latest(run_id={}), "`run_id` is the id of a run"),  # type: ignore[arg-type]
    "contents of no receipt": (lambda claw: claw.receipts.contents("1"), "a receipt is one that"),  # type: ignore[arg-type]
    "a state": (lambda claw: claw.runs.list(status="done"), "`status` is one of orphaned, queued, running, "),
    "a run to cancel": (lambda claw: claw.runs.cancel({}, by="ada"), "`run_id` is the id of a run"),  # type: ignore[arg-type]
    "a deadline": (lambda claw: claw.run("1", deadline=3), "`deadline` is an instance of Deadline"),  # type: ignore[arg-type]
    "a plan": (lambda claw: claw.run("1", plan=3), "`plan` is an instance of ApprovedPlan"),  # type: ignore[arg-type]
    "what to do": (lambda claw: claw.resume("run-1", unknown="x"), '`unknown` is "retry"'),  # type: ignore[arg-type]
    "a call's number": (lambda claw: claw.replay("run-1", until="1"), "`until` is a whole number"),  # type: ignore[arg-type]
    "a folder": (lambda claw: claw.replay("run-1", workspace="/nowhere"), "the workspace /nowhere does not exist"),
    "a query": (lambda claw: claw.tools.search(3), "`query` is text"),  # type: ignore[arg-type]
    "a budget": (lambda claw: claw.tools.stubs("x"), "`budget_tokens` is a whole number"),  # type: ignore[arg-type]
    "a tool that is none": (lambda claw: claw.tools.explain(3), "`tool` is the id of a tool"),  # type: ignore[arg-type]
    "a stopper": (lambda claw: claw.estop.set(by=3), "`by` is the name"),  # type: ignore[arg-type]
    "a reason": (lambda claw: claw.estop.set(by="ada", reason=3), "`reason` is text"),  # type: ignore[arg-type]
    "a wait": (lambda claw: claw.start("1").result("3"), "`timeout` is a number"),  # type: ignore[arg-type]
    "a run to resume": (lambda claw: claw.resume(None), "`run_id` is the id of a run"),  # type: ignore[arg-type]
    "every run": (lambda claw: claw.runs.cancel(None, by="ada"), "`run_id` is the id of a run"),  # type: ignore[arg-type]
    "tools of no run": (lambda claw: claw.registry_of([]), "`run_id` is the id of a run"),  # type: ignore[arg-type]
    "undecided calls": (lambda claw: claw.approvals.undecided([]), "`run_id` is the id of a run"),  # type: ignore[arg-type]
    "an explanation": (lambda claw: claw.approvals.explain([]), "`approval_id` is the id of an approval"),  # type: ignore[arg-type]
    "a request": (lambda claw: claw.approvals.open_request(10**30), "`approval_id` is the id of an approval"),  # type: ignore[arg-type]
    "a window from": (
        lambda claw: claw.approvals.windows.open([], by="ada", seconds=9),  # type: ignore[arg-type]
        "`approval_id` is the id of an approval",
    ),
    "a window": (lambda claw: claw.approvals.windows.close(3, by="ada"), "`window_id` is the id of a window"),  # type: ignore[arg-type]
    "a secret": (lambda claw: claw.tools.has_secret([]), "`name` is text"),  # type: ignore[arg-type]
    "a channel": (lambda claw: claw.tools.explain("crm.note", channel=3), "`channel` is text"),  # type: ignore[arg-type]
    "arguments that do not fit": (lambda claw: claw.tools.explain("crm.note", {}), "crm.note: text: Field required"),
    "a folder's name": (lambda claw: claw.replay("run-1", workspace="x" * 100_000), "`workspace` is a path"),
    "an approver": (lambda claw: claw.approvals.approve("approval-1", by=3), "`by` is the name"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", WRONG)
def test_an_argument_of_the_wrong_kind_is_refused_in_one_sentence(claw: CoilClaw, what: str) -> None:
    use, told = WRONG[what]
    with pytest.raises(BadArgument) as refused:
        use(claw)
    assert told in refused.value.message
    assert "\n" not in refused.value.message


class Yes:
    """Approves whatever it is asked."""

    def decide(self, question: Question) -> Answer:
        return Answer(decision="allow-once", decided_by=f"a test of {question.tool}")


class LaterYes:
    async def decide(self, question: Question) -> Answer:
        return Yes().decide(question)


async def later(*given: Any) -> bool:
    return False


WRONG_CALLERS: dict[str, tuple[dict[str, Any], str]] = {
    "a yes instead of a function": ({"waits": True}, "`Caller.waits` is a function that says whether to wait here"),
    "a number to show": ({"show": 5}, "`Caller.show` is a function of a stream's number and text"),
    "nothing to display": ({"display": None}, "`Caller.display` is a function"),
    "text to report to": ({"progress": "x"}, "`Caller.progress` is a function"),
    "a function that is awaited": ({"waits": later}, "`Caller.waits` is a plain function"),
    "a function as approver": ({"approver": lambda question: True}, "`Caller.approver` is an object whose method"),
    "a class as approver": ({"approver": Yes}, "`Caller.approver` is an object whose method"),
    "no approver": ({"approver": None}, "`Caller.approver` is an object whose method"),
    "an approver that is awaited": ({"approver": LaterYes()}, "`Caller.approver.decide` is a plain function"),
    "a number as channel": ({"channel": 5}, "`Caller.channel` is text"),
    "no channel": ({"channel": None}, "`Caller.channel` is text"),
    "a number as conversation": ({"conversation": 5}, "`Caller.conversation` is text"),
    "a number as view": ({"view": 5}, "`Caller.view` is text"),
    "a word as a flag": ({"suspends": "no"}, "`Caller.suspends` is True or False"),
}
TAKES_CALLER: dict[str, Callable[[CoilClaw, Caller], Any]] = {
    "run": lambda claw, caller: claw.run("1", caller=caller),
    "start": lambda claw, caller: claw.start("1", caller=caller),
    "call": lambda claw, caller: claw.call("crm.lookup", caller=caller),
    "rehearse": lambda claw, caller: claw.rehearse("1", caller=caller),
    "resume": lambda claw, caller: claw.resume("run-1", caller=caller),
    "replay": lambda claw, caller: claw.replay("run-1", caller=caller),
}


@pytest.mark.parametrize("what", WRONG_CALLERS)
def test_a_caller_that_cannot_be_used_is_refused_before_anything_runs(what: str) -> None:
    given, told = WRONG_CALLERS[what]
    with CoilClaw.temporary(tools=[note], cache=cache_folder()) as claw:
        with pytest.raises(BadArgument) as refused:
            claw.run("tools.crm.note(text='x')", caller=Caller(**given))
        assert told in refused.value.message
        assert len(claw.runs.list()) == 0


@pytest.mark.parametrize("method", TAKES_CALLER)
def test_every_method_that_takes_a_caller_refuses_one_that_cannot_be_used(claw: CoilClaw, method: str) -> None:
    with pytest.raises(BadArgument, match=r"Caller\.waits"):
        TAKES_CALLER[method](claw, Caller(waits=True))  # type: ignore[arg-type]


def test_an_approver_of_the_program_is_asked_at_once(claw: CoilClaw) -> None:
    report = claw.run("tools.crm.note(text='x').unwrap()", caller=Caller(approver=Yes()))
    assert report.status == "completed"
    assert "a test of crm.note" in str(report.activity[0].decided_by)


HALF = "half of a character: \ud83d"
HALVES: dict[str, Callable[[CoilClaw, Report], Any]] = {
    "who approves": lambda claw, run: claw.approvals.approve(run.approvals[0].id, by=HALF),
    "what is approved": lambda claw, run: claw.approvals.approve(HALF, by="ada"),
    "a reason for a no": lambda claw, run: claw.approvals.deny(run.approvals[0].id, by="ada", reason=HALF),
    "a reason for a whole run": lambda claw, run: claw.approvals.decide_run(
        run.run_id, approved=False, by="ada", reason=HALF
    ),
    "who decides": lambda claw, run: claw.approvals.decide(run.approvals[0].id, approved=True, by=HALF),
    "whose calls": lambda claw, run: claw.approvals.pending(HALF),
    "who cancels": lambda claw, run: claw.runs.cancel(run.run_id, by=HALF),
    "what is cancelled": lambda claw, run: claw.runs.cancel(HALF, by="ada"),
    "who opens a window": lambda claw, run: claw.approvals.windows.open(run.approvals[0].id, by=HALF, seconds=9),
    "where a window holds": lambda claw, run: claw.approvals.windows.open(
        run.approvals[0].id, by="ada", seconds=9, where={"text": HALF}
    ),
    "who stops": lambda claw, run: claw.estop.set(by=HALF),
    "why": lambda claw, run: claw.estop.set(by="ada", reason=HALF),
    "a tool": lambda claw, run: claw.call(HALF),
    "a snippet": lambda claw, run: claw.run(f"'{HALF}'"),
    "its name": lambda claw, run: claw.run("1", name=HALF),
    "its input": lambda claw, run: claw.run("1", inputs={"x": HALF}),
}


@pytest.mark.parametrize("what", HALVES)
def test_text_that_cannot_be_encoded_is_refused_and_changes_nothing(claw: CoilClaw, what: str) -> None:
    run = claw.run("tools.crm.note(text='x')")
    with pytest.raises(BadArgument):
        HALVES[what](claw, run)
    assert claw.approvals.pending(run.run_id) == run.approvals
    assert claw.estop.state is None
    assert claw.run("1 + 1").value == 2


@pytest.mark.parametrize("field", ["channel", "conversation", "agent", "project", "view"])
def test_a_caller_that_cannot_be_encoded_harms_no_other_run(claw: CoilClaw, field: str) -> None:
    given: dict[str, Any] = {field: HALF}
    with suppress(CoilClawError):
        claw.run("tools.crm.lookup(email='x')", caller=Caller(**given))
    assert claw.run("1 + 1").value == 2


@pytest.mark.parametrize("cursor", ["", "x", "\u2603", "cnVucyA"])
def test_a_text_that_is_no_cursor_is_refused(claw: CoilClaw, cursor: str) -> None:
    with pytest.raises(BadCursor):
        claw.runs.list(cursor=cursor)
    with pytest.raises(BadCursor):
        claw.events(after=cursor)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"seconds": "9"}, "`seconds` is a whole number"),
        ({"seconds": LONGEST_WINDOW_SECONDS + 1}, "`seconds` is a whole number"),
        ({"seconds": 9, "uses": 0}, "`uses` is a whole number"),
        ({"seconds": 9, "uses": "3"}, "`uses` is a whole number"),
        ({"seconds": 9, "where": "text"}, "`where` is a mapping"),
    ],
)
def test_a_window_that_could_not_be_counted_is_not_opened(claw: CoilClaw, options: dict[str, Any], told: str) -> None:
    (asked,) = claw.run("tools.crm.note(text='x')").approvals
    with pytest.raises(BadArgument) as refused:
        claw.approvals.windows.open(asked.id, by="ada", **options)
    assert told in refused.value.message
    assert claw.approvals.windows.list() == ()


OPENED_WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a function": ({"tools": [lambda: 1]}, "each of `tools` is a function with @define_tool"),
    "a tool": ({"tools": note}, "`tools` is a list of tools"),
    "a name": ({"tools": "crm.note"}, "`tools` is a list of tools"),
    "a number": ({"tools": 3}, "`tools` is a list of tools"),
    "a pool": ({"pool": -1}, "`pool` is a whole number"),
    "workers": ({"workers": 0}, "`workers` is a whole number"),
    "an environment": ({"environment": ["A=1"]}, "`environment` is a mapping"),
    "a configuration": ({"config": "limits.calls=3"}, "`config` is a mapping"),
    "a cache": ({"cache": 3}, "`cache` is a path"),
    "notices": ({"notices": 3}, "`notices` is an instance of Notices"),
    "a key": ({"config": {3: 4}}, "3 is no key of the configuration"),
}


@pytest.mark.parametrize("what", OPENED_WRONG)
def test_an_app_that_is_opened_with_the_wrong_things_says_what_it_takes(what: str) -> None:
    options, told = OPENED_WRONG[what]
    with pytest.raises(CoilClawError) as refused:
        CoilClaw.temporary(**options)
    assert told in refused.value.message


@pytest.mark.parametrize("given", [(), ("~/.coilclaw",)])
def test_an_app_that_is_made_without_opening_it_says_how_to_open_one(given: tuple[Any, ...]) -> None:
    with pytest.raises(BadArgument, match=r"use CoilClaw\.open\(home\) or CoilClaw\.temporary\(\)"):
        CoilClaw(*given)


def test_a_home_is_a_path() -> None:
    with pytest.raises(BadArgument, match="`home` is a path"):
        CoilClaw.open(3)  # type: ignore[arg-type]


TYPED: dict[str, Any] = {
    "data": b"abcd",
    "raw": b"\xff\0",
    "amount": Decimal("1.50"),
    "day": date(2024, 2, 29),
    "moment": datetime(2024, 2, 29, 8, 30, tzinfo=UTC),
    "opens": time(8, 30),
    "span": timedelta(days=-1, seconds=3),
    "id": UUID(int=7),
    "pair": (1, (b"x", None)),
    "several": {3},
    "by_number": {1: "a", (1, 2): "b"},
    "marked": {"": ["decimal", "1"]},
    "rows": [{"due": date(2024, 3, 1), "ok": True}],
}


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_inputs_have_their_types_in_the_snippet_and_when_it_is_replayed(claw: CoilClaw, engine: str) -> None:
    report = claw.run(f"repr([{', '.join(TYPED)}])", inputs=TYPED, engine=engine)
    assert report.value == repr(list(TYPED.values()))
    assert claw.replay(report.run_id).identical


def test_the_fields_of_a_record_among_the_inputs_have_their_types_too(claw: CoilClaw) -> None:
    report = claw.run("bill['due'].year, bill['total'] * 2", inputs={"bill": Bill(date(2024, 3, 1), Decimal("1.10"))})
    assert report.value == [2024, "2.20"]


@pytest.mark.parametrize("data", [b"abcd", b"hello", b"\xff\0", bytearray(b"abcd"), b""])
def test_bytes_that_a_program_passes_are_the_bytes_that_a_tool_gets(claw: CoilClaw, data: bytes) -> None:
    assert claw.call("shelf.keep", {"data": data, "amount": Decimal("1.10")}).result.unwrap() == [list(data), "1.10"]
    assert claw.tools.explain("shelf.keep", {"data": data, "amount": Decimal(1)}).verdict.decision.value == "allow"


@pytest.mark.parametrize("given", [{"": ["decimal", "7"]}, [{"": {"": ["literal", 1]}}], {"": 1, "b": 2}])
def test_a_dict_that_looks_like_a_marked_value_stays_what_it_is(claw: CoilClaw, given: Any) -> None:
    assert claw.call("shelf.echo", {"data": given, "at": Decimal("1.5")}).result.unwrap() == [repr(given), "1.5"]


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_text_of_a_snippet_is_not_taken_for_bytes(claw: CoilClaw, engine: str) -> None:
    report = claw.run("tools.shelf.keep(data='abcd', amount=1).error.message", engine=engine)
    assert "data: takes bytes, not text: pass text.encode()" in report.value
    assert claw.run("tools.shelf.keep(data=b'abcd', amount=1).ok", engine=engine).value is True


def test_a_direct_call_may_write_bytes_in_base64(claw: CoilClaw) -> None:
    assert claw.call("shelf.keep", {"data": "YQ==", "amount": 1}).result.unwrap() == [[97], "1"]
    error = claw.call("shelf.keep", {"data": "a,b", "amount": 1}).result
    assert "data: takes bytes, which are written in base64" in str(error)


@pytest.mark.parametrize(
    ("config", "environment", "told"),
    [
        ({"security.autonomy": "some"}, {}, "security.autonomy (from the app's arguments): "),
        ({"security.autonomy.x": 3}, {}, "security.autonomy (from the app's arguments): "),
        ({"limits": {"calls": "x"}}, {}, "limits.calls (from the app's arguments): "),
        ({"policy.rules": [{"tool": 3}]}, {}, "policy.rules.0.tool (from the app's arguments): "),
        ({"receipts.path": "\0"}, {}, "receipts.path (from the app's arguments): "),
        ({}, {"COILCLAW_AUTONOMY": "some"}, "security.autonomy (from COILCLAW_AUTONOMY): "),
    ],
)
def test_a_problem_of_the_configuration_names_where_the_value_comes_from(
    config: dict[str, Any], environment: dict[str, str], told: str
) -> None:
    with pytest.raises(OperatorError) as refused:
        CoilClaw.temporary(config=config, environment=environment)
    assert told in refused.value.message
    assert "config.toml" not in refused.value.message
    assert "command line" not in refused.value.message


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_a_run_has_the_configured_time_where_none_is_given(engine: str) -> None:
    # It ends by itself, so that a setting that is ignored shows soon.
    source = "import time\nend = time.monotonic() + 10\nwhile time.monotonic() < end: pass"
    with CoilClaw.temporary(cache=cache_folder(), config={"limits.seconds": 0.3}) as claw:
        assert claw.run(source, engine=engine).status == "timed_out"
        assert claw.start(source, engine=engine).result(60).status == "timed_out"
        assert claw.run("1", engine=engine, timeout=60).status == "completed"
