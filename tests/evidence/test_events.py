"""Events: one for each receipt, typed, frozen, and the same again after a trip through JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from coilclaw import evidence
from coilclaw.evidence import AnyEvent, Event, EventFeed, OtherReceipt, RunOutput, events
from coilclaw.receipts import Draft, ReceiptLog, now

HASH = "a" * 64
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "RunQueued": ("run.queued", {"name": "x.py", "engine": "wasm"}, {"name": "x.py", "conversation_id": "talk-1"}),
    "RunStarted": (
        "run.started",
        {"name": "x.py", "engine": "wasm", "generation": 3, "rehearsal": True},
        {"name": "x.py", "engine": "wasm", "generation": 3, "rehearsal": True, "conversation_id": "talk-1"},
    ),
    "RunSuspended": ("run.suspended", {}, {}),
    "RunResumed": ("run.resumed", {"process": 1}, {"conversation_id": "talk-1"}),
    "RunDiverged": ("run.diverged", {"difference": "another call"}, {"difference": "another call"}),
    "RunFinished": (
        "run.finished",
        {"duration_us": 1500, "stopped": "fire"},
        {"status": "done", "milliseconds": 1.5, "stopped": "fire"},
    ),
    "CallRequested": ("tool.call.requested", {"number": 2, "line": 7}, {"number": 2, "line": 7}),
    "CallApproved": (
        "tool.call.approved",
        {"decision": "window", "decided_by": "ada", "grant": "grant-1"},
        {"decision": "window", "decided_by": "ada", "window": "grant-1"},
    ),
    "CallDenied": (
        "tool.call.denied",
        {"code": "denied", "message": "no"},
        {"code": "denied", "message": "no", "decided_by": None},
    ),
    "CallStarted": ("tool.call.started", {"approval": "approval-1"}, {}),
    "CallProgress": ("tool.call.progress", {"message": "half"}, {"message": "half"}),
    "CallSucceeded": ("tool.call.succeeded", {}, {"result_hash": HASH}),
    "CallReused": (
        "tool.call.reused",
        {"source_run": "run-0", "source_receipt": "receipt-a-7"},
        {"source_run": "run-0", "source_receipt": "receipt-a-7", "result_hash": HASH},
    ),
    "CallFailed": ("tool.call.failed", {"code": "timeout", "message": "late"}, {"code": "timeout", "message": "late"}),
    "ApprovalAsked": (
        "tool.call.pending",
        {"approval": "approval-1", "reason": "it writes"},
        {"approval": "approval-1", "reason": "it writes"},
    ),
    "ApprovalDecided": (
        "tool.call.denied",
        {"approval": "approval-1", "decision": "deny", "decided_by": "ada", "code": "x", "message": "ada said no"},
        {"approval": "approval-1", "approved": False, "decided_by": "ada", "message": "ada said no"},
    ),
    "WindowOpened": (
        "approval.window.opened",
        {"grant": "grant-1", "uses": 3, "seconds": 60, "decided_by": "ada"},
        {"window": "grant-1", "tool": "a.b", "uses": 3, "seconds": 60, "decided_by": "ada"},
    ),
    "WindowClosed": (
        "approval.window.closed",
        {"grant": "grant-1", "decided_by": "ada"},
        {"window": "grant-1", "tool": "a.b", "decided_by": "ada"},
    ),
    "ToolReloaded": (
        "tool.module.loaded",
        {"path": "tools/x.py", "content_hash": HASH},
        {"file": "tools/x.py", "content_hash": HASH},
    ),
    "EstopSet": ("estop.set", {"decided_by": "ada", "reason": "fire"}, {"decided_by": "ada", "reason": "fire"}),
    "EstopCleared": ("estop.cleared", {"decided_by": "ada", "reason": None}, {"decided_by": "ada", "reason": None}),
    "OtherReceipt": (
        "tool.module.written",
        {"path": "tools/x.py"},
        {"type": "tool.module.written", "status": "done", "tool": "a.b", "payload": {"path": "tools/x.py"}},
    ),
}


LIVE = ("RunOutput", "RunDisplayed")
"""Events that no receipt tells of."""


def event_for(log: ReceiptLog, kind: str, payload: dict[str, Any]) -> Event:
    draft = Draft(kind, "done", now(), "run-1", "talk-1", tool="a.b", payload=payload)
    if kind.startswith("tool.call."):
        draft = draft._replace(tool_call_id="call-1", risk="write", result_hash=HASH)
    before = log.end()
    (receipt,) = log.append(draft)
    (event,) = EventFeed(log).read(before)
    assert event.receipt == receipt
    return event


@pytest.mark.parametrize("name", CASES)
def test_a_receipt_becomes_its_event(log: ReceiptLog, name: str) -> None:
    kind, payload, facts = CASES[name]
    event = event_for(log, kind, payload)
    assert type(event).__name__ == name
    assert event.run_id == "run-1"
    assert event.when.tzinfo is not None
    if isinstance(event, evidence.CallEvent):
        facts = {**facts, "call_id": "call-1", "tool": "a.b", "risk": "write"}
    for field, value in facts.items():
        assert getattr(event, field) == value


@pytest.mark.parametrize("name", CASES)
def test_an_event_is_the_same_after_a_trip_through_json(log: ReceiptLog, name: str) -> None:
    event = event_for(log, *CASES[name][:2])
    text = json.dumps(event.object())
    assert json.loads(text)["kind"] == event.kind
    assert TypeAdapter(AnyEvent).validate_json(text) == event


@pytest.mark.parametrize("name", CASES)
def test_a_receipt_that_says_something_else_than_its_type_should_is_shown_as_it_is(log: ReceiptLog, name: str) -> None:
    """It may come from a later version; a reader that failed over it would show nothing behind it either."""
    kind, payload, facts = CASES[name]
    for strange in ({}, {field: ["x"] for field in payload}):
        event = event_for(log, kind, strange)
        if isinstance(event, OtherReceipt):
            assert (event.type, event.payload) == (kind, strange)
        else:
            shown = event.object()
            assert all(shown[field] in (None, False) for field in facts if field in payload), "nothing is made up"


def test_an_event_cannot_be_changed() -> None:
    event = RunOutput(when=datetime.now(UTC), cursor="c", run_id="run-1", stream=1, text="hello")
    with pytest.raises(ValidationError):
        event.text = "bye"  # type: ignore[misc]


def test_every_event_is_exported_and_has_a_kind_of_its_own() -> None:
    types = [each for each in vars(events).values() if isinstance(each, type) and issubclass(each, Event)]
    assert {each.__name__ for each in types} <= set(evidence.__all__)
    named = [each.model_fields["kind"].default for each in types if each not in (Event, evidence.CallEvent)]
    assert len(named) == len(set(named)) == len(CASES) + len(LIVE)
