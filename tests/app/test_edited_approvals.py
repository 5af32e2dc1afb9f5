"""Whoever edits the table of approvals, without the key, shows a person no other call than the one that waits."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.app.test_edited_runs import Shop, shop

from coilclaw.app import CoilClaw, DamagedApproval
from coilclaw.sdk import OperatorError

__all__ = ["shop"]

FORGED = (
    "risk = 'read'", "reason = 'nothing to worry about'", "line = 7", "tool = 'shop.ask'", "tool_version = 'sha256:0'", "number = 9",
    "args_hash = 'sha256:0'", "policy_hash = 'sha256:0'", "expires_at = expires_at + 99", "created_at = created_at - 99", "call_id = 'call-9'",
    "conversation_id = 'other'", "runs_hash = 'sha256:0'", "decided_by = 'the boss'", "run_id = 'run-0'",
)  # fmt: skip
BROKEN = (
    "expires_at = 'x'", "created_at = 9223372036854775807", "created_at = -9223372036854775807", "risk = 'zzz'", "line = 'x'", "number = 'x'",
    "reason = x'ff'", "tool = x'ff00'", "args_hash = x'ff'", "run_id = x'ff'", "reason = CAST(x'ff' AS TEXT)", "note = x'ff'",
    "decided_at = 'x'", "decided_at = 9223372036854775807", "decided_after = 1.5", "tool = CAST(x'ff00' AS TEXT)", "decided_by = x'ff'",
)  # fmt: skip


def both_waiting(claw: CoilClaw) -> tuple[Any, Any]:
    first, second = claw.run("tools.shop.pay()"), claw.run("tools.shop.ask()")
    return first.approvals[0], second.approvals[0]


@pytest.mark.parametrize("change", [*FORGED, *BROKEN])
def test_a_question_that_was_edited_is_neither_shown_nor_decided_and_hides_no_other(
    shop: Shop, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    with shop.opened() as claw:
        pay, ask = both_waiting(claw)
    shop.edit(f"UPDATE approvals SET {change} WHERE id = ?", pay.id)
    with shop.opened() as claw:
        caplog.set_level(logging.WARNING)
        for listed in (claw.approvals.pending(), claw.approvals.list()):
            assert [each.id for each in listed] == [ask.id]
        assert "is damaged" in caplog.text
        for look in (claw.approvals.get, claw.approvals.explain, claw.approvals.open_request):
            with pytest.raises(DamagedApproval, match="does not say what the receipt"):
                look(pay.id)
        for approved in (True, False):
            with pytest.raises(DamagedApproval):
                claw.approvals.decide(pay.id, approved=approved, by="me")
        with pytest.raises(OperatorError):
            claw.approvals.windows.open(pay.id, by="me", seconds=60)
        again = claw.resume(pay.run_id)
        assert (again.status, shop.did) == ("suspended", [])
        (asked,) = again.approvals
        assert (asked.risk, asked.tool, asked.line) == ("write", "shop.pay", 1)
        assert asked.id != pay.id
        claw.approvals.approve(asked.id, by="me")
        assert (claw.resume(pay.run_id).status, shop.did) == ("completed", ["paid"])
        assert claw.approvals.approve(ask.id, by="me").status == "granted"


@pytest.mark.parametrize("approved", [True, False])
def test_who_decided_is_who_the_receipts_say(shop: Shop, approved: bool) -> None:
    with shop.opened() as claw:
        pay, _ = both_waiting(claw)
        claw.approvals.decide(pay.id, approved=approved, by="ada")
        assert claw.approvals.get(pay.id).decided_by == "ada"
        claw.resume(pay.run_id)
        assert claw.approvals.get(pay.id).decided_by == "ada"
    shop.edit("UPDATE approvals SET decided_by = 'bob' WHERE id = ?", pay.id)
    with shop.opened() as claw, pytest.raises(DamagedApproval):
        claw.approvals.get(pay.id)


def test_a_run_with_a_damaged_question_can_be_cancelled(shop: Shop) -> None:
    with shop.opened() as claw:
        pay, _ = both_waiting(claw)
        shop.edit("UPDATE approvals SET reason = x'ff' WHERE id = ?", pay.id)
        claw.runs.cancel(pay.run_id, by="me")
        assert claw.runs.find(pay.run_id).status == "cancelled"


def test_the_warning_about_a_damaged_question_is_one_legible_line(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    with shop.opened() as claw:
        both_waiting(claw)
        shop.edit("UPDATE approvals SET id = 'approval' || char(27) || '[2J' || char(10) || number || run_id")
        caplog.set_level(logging.WARNING)
        assert claw.approvals.pending() == ()
    said = [each.getMessage() for each in caplog.records]
    assert len(said) == 2
    assert all("is damaged" in each and each.isprintable() for each in said)
