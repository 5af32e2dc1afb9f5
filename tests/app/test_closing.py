"""Closing an app: what is under way ends first, and whatever comes afterwards is refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from tests.app.conftest import Open
from tests.app.test_app import lookup, note
from tests.app.test_handle import waiting
from tests.conftest import cache_folder

from coilclaw.app import AppClosed, CoilClaw, NotResumable
from coilclaw.sandbox import Engine
from coilclaw.sdk import OperatorError

WAIT = "tools.slow.wait()"


def suspended_before_waiting(claw: CoilClaw) -> str:
    """A run that, once it is resumed, makes a call that waits."""
    report = claw.run("tools.crm.note(text='x')\ntools.slow.wait()")
    claw.approvals.approve(report.approvals[0].id, by="ada")
    return report.run_id


UNDER_WAY: dict[str, Callable[[CoilClaw, str], str]] = {
    "run": lambda claw, _: claw.run(WAIT).status,
    "call": lambda claw, _: claw.call("slow.wait").status,
    "rehearse": lambda claw, _: claw.rehearse(WAIT).report.status,
    "resume": lambda claw, run_id: claw.resume(run_id).status,
}


@pytest.mark.parametrize("method", UNDER_WAY)
def test_closing_waits_for_what_other_threads_have_under_way(
    temporary: Open, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    wait, began, _ = waiting()
    claw = temporary(wait, note)
    run_id = suspended_before_waiting(claw)
    with ThreadPoolExecutor(1) as thread:
        under_way = thread.submit(UNDER_WAY[method], claw, run_id)
        assert began.wait(30)
        claw.close()
        assert under_way.done()
        assert under_way.result() == "cancelled"
    assert not caplog.records


def test_closing_ends_a_replay_on_another_thread(temporary: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    claw, entered = temporary(lookup), threading.Event()
    run_id = claw.run("tools.crm.lookup(email='x')\nwhile True: pass", timeout=1).run_id
    engine = claw.engines.get()

    def get(name: str | None = None) -> Engine:
        entered.set()
        return engine

    monkeypatch.setattr(claw.engines, "get", get)
    with ThreadPoolExecutor(1) as thread:
        under_way = thread.submit(claw.replay, run_id)
        assert entered.wait(30)
        claw.close()
        assert under_way.done()
        assert under_way.result().run_id == run_id


def test_whoever_closes_too_returns_when_everything_is_closed(temporary: Open) -> None:
    wait, began, _ = waiting()
    claw = temporary(wait)
    handle = claw.start(WAIT)
    assert began.wait(30)
    with ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(claw.close) for _ in range(4)]:
            each.result(30)
            assert not claw.settings.home.exists()
    assert handle.result(0).status == "cancelled"


def test_a_second_resume_of_a_run_leaves_the_first_one_in_reach(temporary: Open) -> None:
    wait, began, _ = waiting()
    claw = temporary(wait, note)
    run_id = suspended_before_waiting(claw)
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(claw.resume, run_id)
        assert began.wait(30)
        with pytest.raises(NotResumable):
            claw.resume(run_id)
        claw.runs.cancel(run_id, by="ada")
        assert first.result(30).status == "cancelled"


AFTERWARDS: dict[str, Callable[[CoilClaw], Any]] = {
    "run": lambda claw: claw.run("1"),
    "start": lambda claw: claw.start("1"),
    "call": lambda claw: claw.call("crm.lookup", {"email": "x"}),
    "rehearse": lambda claw: claw.rehearse("1"),
    "resume": lambda claw: claw.resume("run-1"),
    "replay": lambda claw: claw.replay("run-1"),
    "verify": lambda claw: claw.verify(),
    "load": lambda claw: claw.load(),
    "events": lambda claw: claw.events(),
    "feed": lambda claw: claw.feed,
    "registry_of": lambda claw: claw.registry_of("run-1"),
    "approvals.pending": lambda claw: claw.approvals.pending(),
    "approvals.list": lambda claw: claw.approvals.list(),
    "approvals.get": lambda claw: claw.approvals.get("approval-1"),
    "approvals.approve": lambda claw: claw.approvals.approve("approval-1", by="ada"),
    "approvals.deny": lambda claw: claw.approvals.deny("approval-1", by="ada"),
    "approvals.decide_run": lambda claw: claw.approvals.decide_run("run-1", approved=True, by="ada"),
    "approvals.explain": lambda claw: claw.approvals.explain("approval-1"),
    "windows.list": lambda claw: claw.approvals.windows.list(),
    "windows.open": lambda claw: claw.approvals.windows.open("approval-1", by="ada", seconds=1),
    "windows.close": lambda claw: claw.approvals.windows.close("grant-1", by="ada"),
    "receipts.latest": lambda claw: claw.receipts.latest(),
    "receipts.find": lambda claw: claw.receipts.find("1"),
    "receipts.record": lambda claw: claw.receipts.record("auth.rotated", {}),
    "receipts.export": lambda claw: list(claw.receipts.export()),
    "runs.list": lambda claw: claw.runs.list(),
    "runs.find": lambda claw: claw.runs.find("run-1"),
    "runs.show": lambda claw: claw.runs.show("run-1"),
    "runs.cancel": lambda claw: claw.runs.cancel("run-1", by="ada"),
    "tools.registry": lambda claw: claw.tools.registry,
    "tools.get": lambda claw: claw.tools.get("crm.lookup"),
    "tools.policy": lambda claw: claw.tools.policy,
    "tools.reload": lambda claw: claw.tools.reload(),
    "tools.stubs": lambda claw: claw.tools.stubs(),
    "tools.has_secret": lambda claw: claw.tools.has_secret("X"),
    "quarantine.held": lambda claw: claw.quarantine.held(),
    "estop.state": lambda claw: claw.estop.state,
    "estop.set": lambda claw: claw.estop.set(by="ada"),
    "estop.clear": lambda claw: claw.estop.clear(by="ada"),
    "engines.get": lambda claw: claw.engines.get("restricted"),
    "with": lambda claw: claw.__enter__(),
    "async with": lambda claw: asyncio.run(claw.__aenter__()),
}


@pytest.fixture(scope="module")
def closed() -> tuple[CoilClaw, CoilClaw]:
    """Two closed apps: one that was never used, and one whose every part was."""
    unused, used = (CoilClaw.temporary(tools=[lookup], cache=cache_folder()) for _ in range(2))
    for use in AFTERWARDS.values():
        with suppress(OperatorError):
            use(used)
    unused.close()
    used.close()
    return unused, used


@pytest.mark.parametrize("method", AFTERWARDS)
def test_a_closed_app_says_so_whatever_it_is_asked_for(closed: tuple[CoilClaw, CoilClaw], method: str) -> None:
    for claw in closed:
        with pytest.raises(AppClosed):
            AFTERWARDS[method](claw)
        assert not claw.settings.home.exists()


def test_what_was_taken_from_an_app_before_it_was_closed_says_so_too(temporary: Open) -> None:
    claw = temporary(lookup)
    handle, approvals, estop = claw.start("1"), claw.approvals, claw.estop
    assert handle.result(30).value == 1
    reader = claw.events()
    claw.close()
    assert handle.result(0).value == 1
    assert list(reader) == []
    for use in (handle.events, approvals.pending, lambda: estop.set(by="ada")):
        with pytest.raises(AppClosed):
            use()


def test_starting_a_run_and_loading_tools_do_not_wait_for_each_other(temporary: Open) -> None:
    """One thread starts runs while another holds the app's parts and asks to cancel."""
    claw = temporary(lookup)
    with ThreadPoolExecutor(2) as threads:
        starts = threads.submit(lambda: [claw.start("1") for _ in range(20)])

        def hold_and_cancel() -> None:
            for _ in range(20):
                with claw._parts.using():
                    claw._runner.cancel("run-1")

        threads.submit(hold_and_cancel).result(60)
        assert [each.result(60).value for each in starts.result(60)] == [1] * 20
