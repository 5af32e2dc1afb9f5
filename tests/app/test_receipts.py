"""Recording what happens above the app."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.conftest import Open

from coilclaw.app import BadArgument
from coilclaw.evidence import OtherReceipt


def test_what_happens_above_the_app_is_in_the_chain(temporary: Open) -> None:
    claw = temporary()
    receipt_id = claw.receipts.record("auth.rotated", {"from": "a:1", "to": None}, conversation="c-1")
    receipt = claw.receipts.find(receipt_id)
    assert (receipt.type, receipt.status, receipt.payload) == ("auth.rotated", "succeeded", {"from": "a:1", "to": None})
    assert (receipt.conversation_id, receipt.run_id) == ("c-1", None)
    assert claw.verify().ok
    event = next(iter(claw.events()))
    assert isinstance(event, OtherReceipt)
    assert (event.type, event.receipt) == ("auth.rotated", receipt_id)


@pytest.mark.parametrize(
    "kind", ["tool.call.succeeded", "run.finished", "tool.call.approved", "estop.cleared", "", "x"]
)
def test_nothing_that_passes_for_a_call_a_run_or_a_decision_can_be_recorded(temporary: Open, kind: str) -> None:
    claw = temporary()
    with pytest.raises(BadArgument):
        claw.receipts.record(kind, {})
    assert kind not in [each.type for each in claw.receipts.latest()]


@pytest.mark.parametrize("facts", [{"a": ["list"]}, {1: "x"}, "text", {"a": b"bytes"}], ids=repr)
def test_facts_are_plain(temporary: Open, facts: Any) -> None:
    with pytest.raises(BadArgument):
        temporary().receipts.record("provider.fallback", facts)


def test_a_long_text_is_cut(temporary: Open) -> None:
    claw = temporary()
    receipt_id = claw.receipts.record("provider.fallback", {"reason": "x" * 5000})
    assert claw.receipts.find(receipt_id).payload == {"reason": "x" * 200}
