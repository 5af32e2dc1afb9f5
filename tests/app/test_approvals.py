"""Deciding about pending calls through the app."""

from __future__ import annotations

import pytest
from tests.app.conftest import Open
from tests.app.test_app import note

from coilclaw.app import CoilClaw, Report
from coilclaw.policy import AlreadyDecided
from coilclaw.sdk import OperatorError

ONE = "r = tools.crm.note(text='x')\nr.value if r.ok else r.error.message"


def suspended(claw: CoilClaw, source: str = ONE) -> Report:
    report = claw.run(source)
    assert report.status == "suspended", report
    return report


def test_a_suspended_run_says_what_it_needs(temporary: Open) -> None:
    claw = temporary(note)
    report = suspended(claw)
    (asked,) = report.approvals
    assert (asked.tool, asked.arguments, asked.risk, asked.run_id) == (
        "crm.note",
        {"text": "x"},
        "write",
        report.run_id,
    )
    assert asked.reason
    assert claw.approvals.pending(report.run_id) == report.approvals == claw.approvals.pending()
    assert claw.approvals.explain(asked.id)["source"] == ONE


def test_a_decision_about_something_decided_returns_how_it_stands(temporary: Open) -> None:
    claw = temporary(note)
    report = suspended(claw)
    (asked,) = report.approvals
    first = claw.approvals.approve(asked.id, by="ada")
    assert (first.status, first.decided_by) == ("granted", "ada")
    assert claw.approvals.approve(asked.id, by="bob") == first
    assert claw.approvals.deny(asked.id, by="bob", reason="no") == first
    assert claw.resume(report.run_id).value == "x"
    assert claw.approvals.deny(asked.id, by="bob").status == "consumed"


def test_a_denial_reaches_the_snippet_with_its_reason(temporary: Open) -> None:
    claw = temporary(note)
    report = suspended(claw)
    claw.approvals.deny(report.approvals[0].id, by="ada", reason="not on a Friday")
    assert "not on a Friday" in str(claw.resume(report.run_id).value)


@pytest.mark.parametrize("granted", [True, False])
def test_all_pending_calls_of_a_run_are_decided_as_one_sheet(temporary: Open, granted: bool) -> None:
    claw = temporary(note)
    source = (
        "import asyncio\n"
        "found = await asyncio.gather(*(tools.crm.note.start(text=each) for each in 'abc'))\n"
        "[each.ok for each in found]"
    )
    report, other = suspended(claw, source), suspended(claw)
    assert len(report.approvals) == 3
    decided = claw.approvals.decide_run(report.run_id, approved=granted, by="ada")
    assert {each.status for each in decided} == {"granted" if granted else "denied"}
    assert claw.approvals.pending() == other.approvals
    assert claw.resume(report.run_id).value == [granted] * 3


def test_a_run_is_decided_as_a_whole_or_not_at_all(temporary: Open) -> None:
    claw = temporary(note)
    source = "import asyncio\nawait asyncio.gather(*(tools.crm.note.start(text=each) for each in 'abc'))"
    report = suspended(claw, source)
    ids = [each.id for each in report.approvals]
    commits: list[int] = []
    claw._parts.stores.log.listen(lambda: commits.append(1))
    claw.approvals.deny(ids[1], by="bob")
    with pytest.raises(AlreadyDecided, match=ids[1]):
        claw.approvals.decide_all(ids, approved=True, by="ada")
    assert [each.status for each in claw.approvals.list(run_id=report.run_id)] == ["pending", "denied", "pending"]
    commits.clear()
    decided = claw.approvals.decide_run(report.run_id, approved=True, by="ada")
    assert ([each.id for each in decided], len(commits)) == ([ids[0], ids[2]], 1)
    assert claw.approvals.decide_run(report.run_id, approved=True, by="ada") == ()


def test_a_window_lets_further_calls_through_until_it_is_revoked(temporary: Open) -> None:
    claw = temporary(note)
    asked = suspended(claw).approvals[0]
    window = claw.approvals.windows.open(asked.id, by="ada", seconds=60, uses=5, where={"text": "x"})
    assert [each.id for each in claw.approvals.windows.list()] == [window.id]
    assert claw.run(ONE).value == "x"
    assert claw.run(ONE.replace("'x'", "'y'")).status == "suspended"
    assert claw.approvals.windows.revoke(window.id, by="ada") is not None
    assert claw.approvals.windows.revoke(window.id, by="ada") is None
    assert claw.run(ONE).status == "suspended"


def test_a_window_that_does_not_fit_its_own_call_is_refused(temporary: Open) -> None:
    claw = temporary(note)
    asked = suspended(claw).approvals[0]
    with pytest.raises(OperatorError, match="does not fit"):
        claw.approvals.windows.open(asked.id, by="ada", seconds=60, where={"text": "y"})


def test_a_cancelled_run_is_resumed_by_nobody(temporary: Open) -> None:
    claw = temporary(note)
    report = suspended(claw)
    claw.runs.cancel(report.run_id, by="ada")
    assert claw.runs.find(report.run_id).status == "cancelled"
    assert claw.approvals.pending() == ()
    with pytest.raises(OperatorError):
        claw.resume(report.run_id)
