"""Runs in the background: accepted durably, begun once, and continued by whichever process serves the home."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from tests.app.conftest import Open
from tests.app.test_app import lookup
from tests.app.test_handle import waiting
from tests.conftest import cache_folder

from coilclaw.app import Caller, CoilClaw, NotCancellable, Report, TooManyRuns
from coilclaw.runs import NotResumable
from coilclaw.sdk import ToolContext, define_tool

WRITE = "tools.notes.add(text='hi').unwrap()"


@define_tool(id="notes.add", risk="write")
def add(ctx: ToolContext, text: str) -> int:
    """Append a line to a file."""
    with (ctx.workspace / "notes.txt").open("a") as file:
        file.write(f"{text}\n")
    return 1


def opened(home: Path, **options: object) -> CoilClaw:
    workspace = home.parent / "workspace"
    workspace.mkdir(exist_ok=True)
    return CoilClaw.open(home, workspace=workspace, tools=[add, lookup], cache=cache_folder(), **options)  # type: ignore[arg-type]


def ended(claw: CoilClaw, run_id: str) -> Report:
    """Wait for the end of a run, whoever executes it."""
    for _ in claw.feed.of_run(run_id, past_suspension=True):
        pass
    return claw.runs.show(run_id)


def test_an_accepted_run_is_on_disk_before_it_begins(temporary: Open) -> None:
    wait, began, go_on = waiting()
    claw = temporary(wait, workers=1)
    claw.start("tools.slow.wait()")
    assert began.wait(60)
    handle = claw.background.submit("x + 1", inputs={"x": 1}, name="later.py")
    known = claw.runs.find(handle.run_id)
    assert (known.status, known.state, known.header.name) == ("queued", "queued", "later.py")
    assert claw.runs.show(handle.run_id).status == "queued"
    assert [each.run_id for each in claw.runs.list(status="queued")] == [handle.run_id]
    go_on.set()
    assert handle.result(60).value == 2
    kinds = [each.type for each in claw.receipts.latest(10, run_id=handle.run_id)]
    assert kinds == ["run.queued", "run.started", "run.finished"]
    assert claw.verify().ok
    assert claw.replay(handle.run_id).identical


def test_a_queued_run_can_be_cancelled_and_never_begins(temporary: Open) -> None:
    wait, began, go_on = waiting()
    claw = temporary(wait, workers=1)
    claw.start("tools.slow.wait()")
    assert began.wait(60)
    handle = claw.background.submit("1")
    claw.runs.cancel(handle.run_id, by="ada")
    assert claw.runs.show(handle.run_id).status == "cancelled"
    go_on.set()
    with pytest.raises(NotResumable, match="not queued"):
        handle.result(60)
    with pytest.raises(NotCancellable):
        claw.runs.cancel(handle.run_id, by="ada")


def test_the_last_decision_resumes_the_run_whoever_makes_it(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as claw, opened(tmp_path / "home") as elsewhere, claw.background.served():
        handle = claw.background.submit(f"{WRITE} + {WRITE}")
        assert handle.result(60).status == "suspended"
        reader = claw.feed.of_run(handle.run_id, claw.feed.end(), past_suspension=True)
        (asked,) = elsewhere.approvals.pending(handle.run_id)
        elsewhere.approvals.approve(asked.id, by="ada")
        next(event for event in reader if event.kind == "run.suspended")
        (asked,) = elsewhere.approvals.pending(handle.run_id)
        elsewhere.approvals.approve(asked.id, by="ada")
        assert ended(claw, handle.run_id).value == 2
    assert (tmp_path / "workspace/notes.txt").read_text() == "hi\nhi\n"


def test_a_run_that_nobody_accepted_is_left_to_whoever_began_it(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as claw, claw.background.served():
        report = claw.run(WRITE)
        claw.approvals.approve(report.approvals[0].id, by="ada")
        handle = claw.background.submit("1")
        assert handle.result(60).value == 1
        assert claw.runs.find(report.run_id).status == "suspended"
        resumed = claw.background.resume_if_decided(report.run_id)
        assert resumed is not None
        assert resumed.result(60).value == 1


def test_a_decision_that_comes_before_the_suspension_is_not_lost(tmp_path: Path) -> None:
    """The run still waits for another call when its approval is decided."""
    wait, began, go_on = waiting()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    source = "slow = tools.slow.wait.start()\ntools.notes.add(text='hi').unwrap()"
    with CoilClaw.open(tmp_path / "home", workspace=workspace, tools=[add, wait], cache=cache_folder()) as claw:
        handle = claw.background.submit(source, timeout=120)
        assert began.wait(60)
        asked = next(event for event in handle.events() if event.kind == "approval.asked")
        claw.approvals.approve(asked.approval, by="ada")  # type: ignore[attr-defined]
        assert claw.background.resume_if_decided(handle.run_id) is None  # It is under way.
        go_on.set()
        assert ended(claw, handle.run_id).status == "completed"


def test_closing_keeps_the_queue_and_suspends_what_runs(tmp_path: Path) -> None:
    began, closing = threading.Event(), threading.Event()

    @define_tool(id="slow.step", risk="read")
    def step(ctx: ToolContext) -> int:
        began.set()
        closing.wait(60)
        return 1

    workspace = tmp_path / "workspace"
    workspace.mkdir()
    options = {"workspace": workspace, "tools": [add, step], "cache": cache_folder(), "workers": 1}
    source = "one = tools.slow.step().unwrap()\ntwo = tools.slow.step().unwrap()\none + two"
    claw = CoilClaw.open(tmp_path / "home", **options)  # type: ignore[arg-type]
    running, queued = claw.background.submit(source), claw.background.submit("7")
    assert began.wait(60)
    closer = threading.Thread(target=claw.close)
    closer.start()
    assert claw._made is not None
    while not claw._made.closed:
        time.sleep(0.001)
    closing.set()
    closer.join()
    with CoilClaw.open(tmp_path / "home", **options) as later:  # type: ignore[arg-type]
        assert later.runs.find(running.run_id).status == "suspended"
        assert later.runs.find(queued.run_id).status == "queued"
        # The process that accepted it is this one, and lives; a server takes up what dead ones left.
        assert later.background.take_up() == 1
        assert ended(later, running.run_id).value == 2
        calls = [each for each in later.receipts.latest(100) if each.type == "tool.call.started"]
        assert len(calls) == 2


KILLED = """
    import os, signal, sys, threading
    from pathlib import Path
    sys.path.insert(0, {root!r})
    from tests.app.test_background import add
    from coilclaw.app import CoilClaw
    from coilclaw.receipts import ReceiptLog
    from coilclaw.sdk import define_tool, ToolContext

    @define_tool(id="crm.lookup", risk="read")
    def lookup(ctx: ToolContext, email: str) -> dict[str, str]:
        return {{"email": email}}

    real = ReceiptLog.append
    def append(self, *drafts, **rest):
        made = real(self, *drafts, **rest) if {after} else None
        if any(each.type == {kind!r} for each in drafts):
            os.kill(os.getpid(), signal.SIGKILL)
        return made if {after} else real(self, *drafts, **rest)

    claw = CoilClaw.open({home!r}, workspace={workspace!r}, tools=[add, lookup], cache={cache!r},
                         config={{"security.autonomy": "full"}}, workers=1)
    ReceiptLog.append = append
    handle = claw.background.submit({source!r})
    print(handle.run_id, flush=True)
    handle.result()
"""


@pytest.mark.parametrize(
    ("kind", "after", "accepted"),
    [
        ("run.queued", False, False),
        ("run.queued", True, True),
        ("run.started", False, True),
        ("run.started", True, True),
        ("tool.call.started", False, True),
        ("run.finished", False, True),
        ("run.finished", True, True),
    ],
)
def test_a_run_survives_a_kill_at_every_step_and_is_executed_once(
    tmp_path: Path, kind: str, after: bool, accepted: bool
) -> None:
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    workspace.mkdir()
    program = textwrap.dedent(KILLED).format(
        root=str(Path(__file__).parents[2]),
        after=after,
        kind=kind,
        home=str(home),
        workspace=str(workspace),
        cache=str(cache_folder()),
        source=WRITE,
    )
    died = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    with opened(home, config={"security.autonomy": "full"}) as claw:
        known = list(claw.runs.list())
        assert len(known) == accepted
        with claw.background.served():
            for each in known:
                assert ended(claw, each.run_id).status == "completed"
        assert claw.background.take_up() == 0
        assert claw.verify().ok
    notes = workspace / "notes.txt"
    assert (notes.read_text() if notes.exists() else "") == "hi\n" * accepted


def test_of_two_processes_that_take_a_run_up_one_begins_it(tmp_path: Path) -> None:
    with opened(tmp_path / "home", config={"security.autonomy": "full"}) as claw:
        place = claw._parts.workspace()
        from coilclaw.app.arguments import given_request

        request = given_request(claw.settings.config, WRITE, "x.py", None, None, None, None, None)
        place.runtime.queue(
            request.snippet, "wasm", request.limits, caller=Caller(channel="api"), run_id="run-1", retry_of=None
        )
        with opened(tmp_path / "home", config={"security.autonomy": "full"}) as other:
            both = [each.background._begin("run-1", 60, lambda: None) for each in (claw, other)]
            done = [each._future.exception(60) for each in both]
        assert sorted(type(each).__name__ for each in done) == ["NoneType", "NotResumable"]
    assert (tmp_path / "workspace/notes.txt").read_text() == "hi\n"


def test_an_edited_header_is_not_begun(tmp_path: Path) -> None:
    with opened(tmp_path / "home", config={"security.autonomy": "full"}, workers=1) as claw:
        claw._parts.workspace()
        wait_for = claw.background.submit("1")
        assert wait_for.result(60).value == 1
        from coilclaw.app.arguments import given_request

        request = given_request(claw.settings.config, WRITE, "x.py", None, None, None, None, None)
        claw._parts.workspace().runtime.queue(
            request.snippet, "wasm", request.limits, caller=Caller(), run_id="run-1", retry_of=None
        )
        with claw._parts.stores.database.transaction() as connection:
            connection.execute("UPDATE runs SET header = replace(header, 'x.py', 'y.py') WHERE run_id = 'run-1'")
        with pytest.raises(NotResumable, match="accepted with"):
            claw.background._begin("run-1", 60, lambda: None).result(60)


def test_more_runs_than_can_wait_are_refused(temporary: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coilclaw.app.background._MOST_WAITING", 1)
    wait, began, go_on = waiting()
    claw = temporary(wait, workers=1)
    first = claw.background.submit("tools.slow.wait()")
    assert began.wait(60)
    with pytest.raises(TooManyRuns):
        claw.background.submit("1")
    go_on.set()
    first.result(60)
    assert len(claw.runs.list()) == 1


def test_what_the_caller_is_survives_in_the_queue(temporary: Open) -> None:
    seen = []

    @define_tool(id="who.asks", risk="read")
    def asks(ctx: ToolContext) -> str | None:
        seen.append((ctx.agent, ctx.project))
        return None

    claw = temporary(asks)
    project = claw.spaces.create("Letters").id
    caller = Caller(channel="api", agent="helper", project=project, conversation="talk-1")
    handle = claw.background.submit("tools.who.asks()", caller=caller)
    assert handle.result(60).status == "completed"
    assert seen == [("helper", project)]
    known = claw.runs.find(handle.run_id)
    assert known.header.accepted == {"channel": "api", "agent": "helper", "project": project}
    assert known.header.conversation_id == "talk-1"
