"""Views of a run that are made of receipts and of nothing else."""

from __future__ import annotations

import json
import re

import pytest

from coilclaw.evidence import activity_of, approval_words, relevant, run_of
from coilclaw.evidence.activity import _call_text
from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.sdk import ActivityItem, Receipt


def draft(kind: str, call: str = "call-1", run: str = "run-1", **payload: str) -> Draft:
    return Draft(
        type=kind, status="pending", timestamp=now(), run_id=run, tool_call_id=call, tool="a.b", payload=payload
    )


CALLS = {
    "call-1": (("requested", "started", "succeeded"), "succeeded"),
    "call-2": (("requested", "approved", "started", "failed"), "failed"),
    "call-3": (("requested", "denied"), "denied"),
    "call-4": (("requested",), "pending"),
    "call-5": (("requested", "pending"), "pending"),
    "call-6": (("requested", "pending", "approved"), "pending"),
    "call-7": (("requested", "started"), "unknown"),
}


@pytest.fixture
def full(log: ReceiptLog) -> ReceiptLog:
    log.append(Draft(type="run.started", status="running", timestamp=now(), run_id="run-1"))
    for call, (kinds, _) in CALLS.items():
        for kind in kinds:
            decided = {"decision": "allow-once", "decided_by": "ada"} if kind == "approved" else {}
            log.append(draft(f"tool.call.{kind}", call, **decided))
    log.append(draft("tool.call.succeeded", "call-9", run="run-2"), draft("tool.module.written", "call-8"))
    log.append(Draft(type="run.suspended", status="suspended", timestamp=now(), run_id="run-1"))
    return log


@pytest.mark.req("R48", "R49")
def test_every_call_has_the_status_of_its_last_receipt(full: ReceiptLog) -> None:
    items = activity_of("run-1", full.of_run("run-1")).items
    assert [item.status for item in items] == [status for _, status in CALLS.values()]
    last = [full.find(item.receipt_ref) for item in items]
    assert [receipt.tool_call_id for receipt in last] == [*CALLS]
    assert [receipt.type for receipt in last] == [f"tool.call.{kinds[-1]}" for kinds, _ in CALLS.values()]
    assert [(item.approval, item.decided_by) for item in items if item.approval != "none"] == [
        ("granted", "ada"),
        ("required", None),
        ("granted", "ada"),
    ]


@pytest.mark.parametrize("kinds", [("requested",), ("requested", "pending"), ("requested", "pending", "approved")])
def test_a_call_that_waited_when_its_run_ended_is_not_pending_any_more(log: ReceiptLog, kinds: tuple[str, ...]) -> None:
    log.append(Draft(type="run.started", status="running", timestamp=now(), run_id="run-1"))
    log.append(*(draft(f"tool.call.{kind}") for kind in kinds))
    log.append(Draft(type="run.finished", status="cancelled", timestamp=now(), run_id="run-1"))
    (item,) = activity_of("run-1", log.of_run("run-1")).items
    assert (item.status, item.code) == ("failed", "run_over")
    assert str(item.summary).endswith(": not made: its run was over before")
    if kinds[-1] == "pending":
        assert approval_words(item) == "was not approved"


@pytest.mark.parametrize(
    ("runs", "is_orphaned", "status"),
    [
        (["started"], False, "running"),
        (["started"], True, "unknown"),
        (["started", "suspended"], False, "unknown"),
        (["started", "suspended", "resumed"], False, "running"),
        (["started", "finished"], False, "unknown"),
    ],
)
def test_a_call_without_outcome_is_running_or_unknown_and_never_pending(
    log: ReceiptLog, runs: list[str], is_orphaned: bool, status: str
) -> None:
    log.append(draft("tool.call.requested"), draft("tool.call.started"))
    for kind in runs:
        log.append(Draft(type=f"run.{kind}", status="", timestamp=now(), run_id="run-1"))
    log.append(Draft(type="run.finished", status="failed", timestamp=now(), run_id="run-2"))
    (item,) = activity_of("run-1", log.of_run("run-1"), is_orphaned=is_orphaned).items
    assert item.status == status


@pytest.mark.req("R90")
def test_views_need_nothing_but_the_receipts(full: ReceiptLog) -> None:
    """An export is enough: nothing of a view is kept anywhere else."""
    exported = [Receipt(**json.loads(line)) for line in full.export()]
    assert activity_of("run-1", exported) == activity_of("run-1", full.of_run("run-1"))
    assert run_of("run-1", exported) == run_of("run-1", full.of_run("run-1"))
    assert len(activity_of("run-1", exported).items) == len(CALLS)
    assert activity_of("run-2", exported).items[0].receipt_ref == exported[-3].id
    assert activity_of("run-3", exported).items == ()


@pytest.mark.parametrize(
    ("kinds", "shown"),
    [
        (("requested",), "none"),
        (("requested", "denied"), "none"),
        (("requested", "pending"), "required"),
        (("requested", "pending", "approved", "pending"), "required"),
        (("requested", "pending", "approved", "denied"), "required"),
        (("requested", "pending", "approved", "failed"), "required"),
        (("requested", "pending", "approved", "started", "denied"), "granted"),
        (("requested", "pending", "approved", "pending", "approved"), "granted"),
    ],
)
def test_a_decision_that_was_not_used_is_not_shown(log: ReceiptLog, kinds: tuple[str, ...], shown: str) -> None:
    for kind in kinds:
        decided = {"decision": "allow-once", "decided_by": "ada", "scope": "once"} if kind == "approved" else {}
        log.append(draft(f"tool.call.{kind}", **decided))
    (item,) = activity_of("run-1", log.of_run("run-1")).items
    assert item.approval == shown
    assert (item.decided_by, item.scope) == (("ada", "once") if shown == "granted" else (None, None))


@pytest.mark.req("R50")
@pytest.mark.parametrize(
    ("kind", "payload", "state", "words"),
    [
        ("approved", {"decision": "window", "scope": "window"}, "granted", "approved by ada (window)"),
        ("approved", {"decision": "allow-once", "scope": "plan"}, "granted", "approved by ada (plan)"),
        ("denied", {"decision": "deny", "scope": "once"}, "denied", "denied by ada"),
        ("denied", {"decision": "unanswered"}, "required", "needs approval"),
        ("started", {"decision": "retry"}, "none", ""),
        ("failed", {"decision": "failed"}, "none", ""),
        ("failed", {"decision": "allow-once"}, "none", ""),
        ("denied", {"decision": "allow-once"}, "none", ""),
    ],
)
def test_the_approval_of_a_call_is_what_a_person_decided(
    log: ReceiptLog, kind: str, payload: dict[str, str], state: str, words: str
) -> None:
    log.append(draft("tool.call.requested"), draft(f"tool.call.{kind}", decided_by="ada", **payload))
    (item,) = activity_of("run-1", log.of_run("run-1")).items
    assert item.approval == state
    assert approval_words(item) == words


def item(status: str, risk: str | None, tool: str = "a.b") -> ActivityItem:
    return ActivityItem(tool, status, "none", "", "", risk=risk)  # type: ignore[arg-type]


@pytest.mark.req("R47", "R54", "R55", "R56")
def test_plain_reads_are_folded_where_something_else_was_done() -> None:
    kept = [item("succeeded", "write"), item("failed", "read"), item("denied", None), item("pending", "destructive")]
    reads = [item("succeeded", "read")] * 5
    assert relevant([*reads, *kept, *reads]) == (tuple(kept), 10)


@pytest.mark.req("R56")
def test_the_last_reads_stay_where_nothing_else_was_done() -> None:
    reads = [item("succeeded", "read", f"a.n{number}") for number in range(5)]
    looks = [item("succeeded", "read", "registry.search")]
    assert relevant([*reads, *looks]) == (tuple(reads[2:]), 3)
    assert relevant([]) == ((), 0)


def test_a_summary_names_the_tool_once(log: ReceiptLog) -> None:
    log.append(draft("tool.call.failed", message="a.b: due: Field required", summary="a.b()"))
    (item,) = activity_of("run-1", log.of_run("run-1")).items
    assert (item.summary, item.message) == ("a.b(): due: Field required", "a.b: due: Field required")


@pytest.mark.req("R57")
@pytest.mark.parametrize("filler", ["x" * length for length in range(50, 130)])
def test_no_argument_ends_its_quotation_by_being_long(filler: str) -> None:
    given = {"a": f'{filler}\\"', "b": " deleted all ", "c, deleted": [filler, "” deleted"]}
    text = re.sub(r'"(?:[^"\\]|\\.)*("|$)', "", _call_text("a.b", json.dumps(given).encode()))
    assert "deleted" not in text
