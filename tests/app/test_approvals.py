"""Deciding about pending calls through the app."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.app.conftest import Open
from tests.app.test_app import note
from tests.conftest import cache_folder

from coilclaw.app import AlreadyDecided, BadArgument, CoilClaw, NoSuchWindow, Report
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


@pytest.mark.parametrize("approved", [True, False])
def test_all_pending_calls_of_a_run_are_decided_as_one_sheet(temporary: Open, approved: bool) -> None:
    claw = temporary(note)
    source = (
        "import asyncio\n"
        "found = await asyncio.gather(*(tools.crm.note.start(text=each) for each in 'abc'))\n"
        "[each.ok for each in found]"
    )
    report, other = suspended(claw, source), suspended(claw)
    assert len(report.approvals) == 3
    decided = claw.approvals.decide_run(report.run_id, approved=approved, by="ada")
    assert {each.status for each in decided} == {"granted" if approved else "denied"}
    assert claw.approvals.pending() == other.approvals
    assert claw.resume(report.run_id).value == [approved] * 3


MANY = "import asyncio\nawait asyncio.gather(*(tools.crm.note.start(text=each) for each in 'abc'))"


def test_of_several_decisions_at_once_all_count_or_none(temporary: Open) -> None:
    claw = temporary(note)
    first, second, third = suspended(claw, MANY).approvals
    claw.approvals.approve(second.id, by="ada")
    receipts = len(claw.receipts.latest(1000))
    with pytest.raises(AlreadyDecided, match=second.id):
        claw.approvals.decide(first.id, second.id, third.id, approved=False, by="bob")
    assert len(claw.receipts.latest(1000)) == receipts
    assert [claw.approvals.get(each.id).status for each in (first, second, third)] == ["pending", "granted", "pending"]


def test_a_sheet_that_somebody_else_began_to_decide_is_decided_to_its_end(
    temporary: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    claw = temporary(note)
    report = suspended(claw, MANY)
    store = claw._parts.stores.approvals
    decide_all = store.decide_all

    def meanwhile(ids: list[str], **options: Any) -> Any:
        monkeypatch.undo()
        store.decide(report.approvals[1].id, approved=False, decided_by="bob")
        return decide_all(ids, **options)

    monkeypatch.setattr(store, "decide_all", meanwhile)
    decided = claw.approvals.decide_run(report.run_id, approved=True, by="ada")
    assert [(each.status, each.decided_by) for each in decided] == [
        ("granted", "ada"),
        ("denied", "bob"),
        ("granted", "ada"),
    ]


def test_a_direct_call_that_needs_approval_names_what_to_decide_and_resume(temporary: Open) -> None:
    claw = temporary(note)
    done = claw.call("crm.note", {"text": "x"})
    (asked,) = done.approvals
    assert (done.status, asked.tool, asked.run_id) == ("suspended", "crm.note", done.run_id)
    assert done.error is not None
    assert asked.id in done.error.message
    assert done.run_id in str(done.error.hint)
    claw.approvals.approve(asked.id, by="ada")
    assert claw.resume(done.run_id).value == "x"


def test_hints_name_the_method_beside_the_command(temporary: Open) -> None:
    claw = temporary(note)
    for use in (
        lambda: claw.resume("run-1"),
        lambda: claw.approvals.approve("approval-1", by="ada"),
        lambda: claw.approvals.windows.close("grant-1", by="ada"),
        lambda: claw.receipts.find("999"),
    ):
        with pytest.raises(OperatorError) as refused:
            use()
        assert re.search(r"`coilclaw .*`.*`[a-z.]+\(\)`", str(refused.value.hint)), refused.value.hint


def test_runs_are_listed_in_pages_to_iterate_over(temporary: Open) -> None:
    claw = temporary(note)
    ids = [claw.run("1").run_id for _ in range(3)]
    page = claw.runs.list(limit=2)
    assert [run.run_id for run in page] == ids[:0:-1]
    assert len(page) == 2
    rest = claw.runs.list(cursor=page.cursor)
    assert [run.run_id for run in rest] == ids[:1]
    assert rest.cursor is None


def test_a_window_lets_further_calls_through_until_it_is_closed(temporary: Open) -> None:
    claw = temporary(note)
    asked = suspended(claw).approvals[0]
    window = claw.approvals.windows.open(asked.id, by="ada", seconds=60, uses=5, where={"text": "x"})
    assert [each.id for each in claw.approvals.windows.list()] == [window.id]
    assert claw.run(ONE).value == "x"
    assert claw.run(ONE.replace("'x'", "'y'")).status == "suspended"
    claw.approvals.windows.close(window.id, by="ada")
    with pytest.raises(NoSuchWindow):
        claw.approvals.windows.close(window.id, by="ada")
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


def test_nothing_is_decided_for_every_run_at_once(temporary: Open) -> None:
    claw = temporary(note)
    runs = suspended(claw), suspended(claw)
    with pytest.raises(BadArgument, match="`run_id` is the id of a run"):
        claw.approvals.decide_run(None, approved=True, by="ada")  # type: ignore[arg-type]
    assert {each.run_id for each in claw.approvals.pending()} == {each.run_id for each in runs}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"approved": "no"}, "`approved` is True or False, not a value of type str"),
        ({"approved": 0}, "`approved` is True or False, not a value of type int"),
        ({"approved": None}, "`approved` is True or False"),
        ({"by": 5}, "`by` is the name of who decides"),
        ({"by": None}, "`by` is the name of who decides"),
        ({"by": []}, "`by` is the name of who decides"),
        ({"reason": 5}, "`reason` is text"),
    ],
)
def test_only_a_plain_yes_or_no_of_somebody_decides(temporary: Open, wrong: dict[str, Any], told: str) -> None:
    claw = temporary(note)
    report = suspended(claw)
    said = {"approved": True, "by": "ada", **wrong}
    with pytest.raises(BadArgument) as refused:
        claw.approvals.decide(report.approvals[0].id, **said)
    assert told in refused.value.message
    with pytest.raises(BadArgument):
        claw.approvals.decide_run(report.run_id, **said)
    assert claw.approvals.pending() == report.approvals


def test_a_decision_names_approvals(temporary: Open) -> None:
    claw = temporary(note)
    with pytest.raises(BadArgument, match="`approval_id` is the id of an approval"):
        claw.approvals.decide([suspended(claw).approvals[0].id], approved=True, by="ada")  # type: ignore[arg-type]


def test_a_person_is_told_why_a_read_is_asked_about() -> None:
    with CoilClaw.temporary(cache=cache_folder()) as claw:
        url = "https://unlisted.example/"
        (asked,) = claw.call("http.get", {"url": url}).approvals
        assert asked.reason.endswith("risk 'write': unlisted.example is not in http_domains")
        told = [each.why for each in claw.tools.explain("http.get", {"url": url}).opinions]
        assert "the tool raises the risk of this call from 'read' to 'write': unlisted.example is not in" in str(told)
