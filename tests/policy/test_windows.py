"""Windows and approvals: what they cover, who may use them, and that only the log can give leave."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coilclaw.policy import APPROVALS, Approval, ApprovalStore, CallOfTool, NoSuchWindow, Question, Window
from coilclaw.receipts import MIGRATIONS, Conflict, DamagedReceipt, Draft, ReceiptLog, digest, now
from coilclaw.sdk import Risk
from coilclaw.store import Database, Migration

CALL = CallOfTool("shelf.send", "sha256:1", "policy-1")


def opened(book: ApprovalStore, arguments: dict[str, Any] | None = None, *, uses: int = 2, seconds: int = 60) -> Window:
    return book.open_window(CALL, "/work", arguments or {}, uses=uses, seconds=seconds, granted_by="me")


@pytest.fixture
def book(database: Database, log: ReceiptLog) -> ApprovalStore:
    return ApprovalStore(database, log)


@pytest.mark.parametrize(
    ("window", "call"),
    [
        ([1], [True]),
        ({"force": 0}, {"force": False}),
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ("1", 1),
        (None, False),
        ([[1]], [[1.0]]),
        ("é", "e\u0301"),
        ({}, []),
    ],
)
def test_a_window_compares_values_as_canonical_json(book: ApprovalStore, window: Any, call: Any) -> None:
    opened(book, {"x": window})
    assert book.usable(CALL, "/work", json.dumps({"x": window, "y": 1})) is not None
    assert book.usable(CALL, "/work", json.dumps({"x": call})) is None
    assert book.usable(CALL, "/work", json.dumps({"y": window})) is None


def test_the_order_of_keys_makes_no_difference_to_a_window(book: ApprovalStore) -> None:
    opened(book, {"x": {"a": 1, "b": [2]}})
    assert book.usable(CALL, "/work", '{"x": {"b": [2], "a": 1}}') is not None


@pytest.mark.parametrize(
    ("call", "workspace"),
    [
        (CALL._replace(tool="shelf.sent"), "/work"),
        (CALL._replace(tool_version="sha256:2"), "/work"),
        (CALL._replace(policy_hash="policy-2"), "/work"),
        (CALL, "/elsewhere"),
    ],
)
def test_a_window_is_bound_to_tool_version_policy_and_workspace(
    book: ApprovalStore, call: CallOfTool, workspace: str
) -> None:
    opened(book)
    assert book.usable(call, workspace, "{}") is None
    assert book.usable(CALL, "/work", "{}") is not None


def test_a_name_in_a_window_is_no_pattern(book: ApprovalStore) -> None:
    book.open_window(CALL._replace(tool="shelf.*"), "/work", {}, uses=1, seconds=60, granted_by="me")
    assert book.usable(CALL, "/work", "{}") is None


def test_a_window_is_used_no_more_often_than_it_says(book: ApprovalStore, log: ReceiptLog) -> None:
    grant = opened(book, uses=1)
    used = Draft("tool.call.approved", "allowed", now(), payload={"decision": "window", "grant": grant.id})
    log.append(used, rows=[book.use(grant)])
    with pytest.raises(Conflict):
        log.append(used, rows=[book.use(grant)])
    assert book.windows() == []
    assert [each.type for each in log.latest(10)] == ["approval.window.opened", "tool.call.approved"]


def test_an_expired_window_stays_closed_when_the_clock_is_set_back(
    book: ApprovalStore, database: Database, log: ReceiptLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First by a clock that nobody sets, then by what the log remembers of later times."""
    real, boot = time.time, time.clock_gettime
    opened(book, seconds=30)
    assert book.windows()
    monkeypatch.setattr(time, "time", lambda: real() - 3600)
    monkeypatch.setattr(time, "clock_gettime", lambda clock: boot(clock) + 31)
    assert book.windows() == [], "nothing was written since, and yet its time is up"
    monkeypatch.setattr(time, "clock_gettime", boot)
    monkeypatch.setattr(time, "time", real)
    assert book.windows()
    later = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(real() + 40))
    log.append(Draft("run.started", "running", later))
    assert book.windows() == [], "the log has seen a later time"
    assert ApprovalStore(database, log).windows() == [], "also for another process"


def test_a_window_closes_by_itself(book: ApprovalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    grant = opened(book, seconds=30)
    assert not grant.is_over(0)
    monkeypatch.setattr(time, "time", lambda: real() + 31)
    assert grant.is_over(0)
    assert book.windows() == []


def test_no_window_is_open_for_longer_than_a_quarter_of_an_hour(book: ApprovalStore) -> None:
    grant = opened(book, seconds=24 * 3600)
    assert grant.expires_at <= time.time() + 15 * 60
    assert grant.boot_ends - opened(book, seconds=1).boot_ends <= 15 * 60


def test_a_restart_of_the_machine_closes_windows(book: ApprovalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(book)
    monkeypatch.setattr("coilclaw.policy.decisions.this_boot", lambda: "another")
    assert book.windows() == []


def test_a_window_is_closed_once_with_a_receipt(book: ApprovalStore, log: ReceiptLog) -> None:
    grant = opened(book)
    assert book.close_window(grant.id, decided_by="lee") == grant
    with pytest.raises(NoSuchWindow):
        book.close_window(grant.id, decided_by="lee")
    with pytest.raises(Conflict):
        log.append(rows=[book.use(grant)])
    assert book.usable(CALL, "/work", "{}") is None
    assert log.latest(1)[0].type == "approval.window.closed"


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE grants SET uses_left = 3",
        "UPDATE grants SET opened_after = 1",
        "INSERT INTO grants SELECT 'grant-2', opened_after, uses_left, expires_at FROM grants; "
        "DELETE FROM grants WHERE id <> 'grant-2'",
    ],
)
def test_a_row_without_the_receipt_of_it_opens_nothing(book: ApprovalStore, database: Database, forgery: str) -> None:
    opened(book, uses=2)
    with database.transaction() as connection:
        connection.execute(forgery)
    assert ApprovalStore(database, book._log).windows() == []


def test_neither_a_use_nor_a_closing_is_undone_by_the_table(
    book: ApprovalStore, database: Database, log: ReceiptLog
) -> None:
    used, closed = opened(book, uses=2), opened(book, uses=2)
    draft = Draft("tool.call.approved", "allowed", now(), payload={"decision": "window", "grant": used.id})
    log.append(draft, rows=[book.use(used)])
    book.close_window(closed.id, decided_by="me")
    assert [(each.id, each.uses_left) for each in book.windows()] == [(used.id, 1)]
    with database.transaction() as connection:
        connection.execute("UPDATE grants SET uses_left = 2")
    assert book.windows() == ApprovalStore(database, log).windows() == []


def test_uses_that_appear_after_the_look_are_not_used(book: ApprovalStore, database: Database, log: ReceiptLog) -> None:
    grant = opened(book, uses=2)
    with database.transaction() as connection:
        connection.execute("UPDATE grants SET uses_left = 3")
    with pytest.raises(Conflict):
        log.append(rows=[book.use(grant)])


@pytest.mark.parametrize(("rehashed", "is_last"), [(False, True), (False, False), (True, True), (True, False)])
def test_a_receipt_that_was_changed_in_the_log_opens_nothing(
    book: ApprovalStore, database: Database, log: ReceiptLog, rehashed: bool, is_last: bool
) -> None:
    opened(book, uses=2)
    if not is_last:
        log.append(Draft("run.started", "running", now()))
    with database.transaction() as connection:
        body: Any = connection.execute("SELECT body FROM receipts WHERE seq = 1").fetchall()[0][0]
        forged = body.replace(b'"uses":2', b'"uses":9')
        connection.execute("UPDATE receipts SET body = ? WHERE seq = 1", (forged,))
        if rehashed:
            connection.execute("UPDATE receipts SET receipt_hash = ? WHERE seq = 1", (digest(forged),))
        connection.execute("UPDATE grants SET uses_left = 9")
    with pytest.raises(DamagedReceipt):
        ApprovalStore(database, book._log).windows()


USER = """
import sys
from pathlib import Path
from coilclaw.policy import ApprovalStore, CallOfTool
from coilclaw.receipts import Conflict, Draft, ReceiptLog, now
from coilclaw.store import Database

with Database(Path(sys.argv[1])) as database, ReceiptLog(database, b"k" * 32) as log:
    book, used = ApprovalStore(database, log), 0
    print("ready", flush=True)
    sys.stdin.readline()
    while grant := book.usable(CallOfTool("shelf.send", "sha256:1", "policy-1"), "/work", "{}"):
        draft = Draft("tool.call.approved", "allowed", now(), payload={"decision": "window", "grant": grant.id})
        try:
            log.append(draft, rows=[book.use(grant)])
            used += 1
        except Conflict:
            pass
    print(used)
"""


def test_processes_share_the_uses_of_a_window_to_the_last(book: ApprovalStore, database: Database) -> None:
    opened(book, uses=25)
    users = [
        subprocess.Popen(
            [sys.executable, "-c", USER, str(database.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for user in users:
        assert user.stdout is not None
        assert user.stdout.readline() == "ready\n"
    for user in users:
        assert user.stdin is not None
        user.stdin.write("go\n")
        user.stdin.flush()
    used = [int(user.communicate(timeout=120)[0]) for user in users]
    assert sum(used) == 25
    assert book.windows() == []


# Approvals ----------------------------------------------------------------------------------------------------------------


def question(**changes: Any) -> Question:
    facts: dict[str, Any] = {
        "run_id": "run-1",
        "call_id": "call-1-3",
        "number": 3,
        "tool": "shelf.send",
        "tool_version": "sha256:1",
        "risk": Risk.WRITE,
        "reason": "because",
        "arguments": "{}",
        "line": 1,
        "policy_hash": "policy-1",
    }
    return Question(**{**facts, **changes})


def test_a_decision_is_proven_by_its_receipt_alone(book: ApprovalStore, database: Database, log: ReceiptLog) -> None:
    asked = question()
    requested = Draft("tool.call.requested", "pending", now(), "run-1", tool_call_id=asked.call_id)
    first = book.ask(asked, digest(b"{}"), requested)
    with database.transaction() as connection:
        connection.execute("UPDATE approvals SET status = 'granted', decided_by = 'me', decided_after = 0")
    assert not book.is_proven(book.get(first.id))
    with database.transaction() as connection:
        connection.execute("UPDATE approvals SET status = 'pending', decided_by = NULL")
    granted = book.decide(first.id, approved=True, decided_by="me")
    assert book.is_proven(granted)
    started = Draft("tool.call.started", "allowed", now(), "run-1", payload={"approval": first.id})
    log.append(started, rows=[book.consume(granted)])
    with database.transaction() as connection:
        connection.execute("UPDATE approvals SET status = 'granted'")
    assert not book.is_proven(book.get(first.id)), "it was used"


@pytest.fixture
def first(book: ApprovalStore) -> Approval:
    asked = question()
    return book.ask(asked, digest(b"{}"), Draft("tool.call.requested", "pending", now(), "run-1"))


def edit(database: Database, change: str) -> None:
    with database.transaction() as connection:
        connection.execute(f"UPDATE approvals SET {change}")


@pytest.mark.parametrize("decided_after", ["NULL", "0"])
@pytest.mark.parametrize("status", ["granted", "denied"])
def test_no_decision_in_the_table_is_proven_without_a_receipt(
    book: ApprovalStore, database: Database, first: Approval, status: str, decided_after: str
) -> None:
    edit(database, f"status = '{status}', decided_by = 'me', decided_after = {decided_after}")
    assert not book.is_proven(book.get(first.id))


@pytest.mark.parametrize(
    "change",
    [
        "run_id = 'run-2'",
        "call_id = 'call-1-4'",
        "tool = 'shelf.drop'",
        "tool_version = 'sha256:2'",
        "args_hash = 'x'",
        "policy_hash = 'policy-2'",
        "expires_at = expires_at + 1",
        "decided_by = 'lee'",
    ],
)
@pytest.mark.parametrize("granted", [True, False])
def test_a_decision_is_proven_for_exactly_what_it_was_made_about(
    book: ApprovalStore, database: Database, first: Approval, granted: bool, change: str
) -> None:
    assert book.is_proven(book.decide(first.id, approved=granted, decided_by="me"))
    edit(database, change)
    assert not book.is_proven(book.get(first.id))


def test_a_yes_beside_a_no_is_not_proven(book: ApprovalStore, database: Database, first: Approval) -> None:
    book.decide(first.id, approved=True, decided_by="me")
    edit(database, "status = 'pending'")
    book.decide(first.id, approved=False, decided_by="me")
    edit(database, "status = 'granted', decided_after = 0")
    assert not book.is_proven(book.get(first.id))


OLD_APPROVALS = Migration(
    4,
    "approvals",
    """
    CREATE TABLE approvals (
        id TEXT PRIMARY KEY,
        run_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        conversation_id TEXT,
        tool TEXT NOT NULL,
        tool_version TEXT NOT NULL,
        args_hash TEXT NOT NULL,
        policy_hash TEXT NOT NULL,
        risk TEXT NOT NULL,
        reason TEXT NOT NULL,
        line INTEGER,
        status TEXT NOT NULL CHECK (status IN ('pending', 'granted', 'denied', 'expired', 'consumed')),
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        decided_by TEXT,
        decided_at INTEGER
    );
    CREATE INDEX approvals_of_calls ON approvals (run_id, number);
    CREATE INDEX approvals_by_status ON approvals (status, created_at);
    CREATE TABLE grants (
        id TEXT PRIMARY KEY,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        uses_left INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        granted_by TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
)
"""The tables as the first release that had them made them."""


@pytest.fixture
def upgraded(tmp_path: Path) -> Iterator[ApprovalStore]:
    """A book that was begun in the first form of its tables, with a question in every state and an open window."""
    with Database(tmp_path / "x.db", (*MIGRATIONS, OLD_APPROVALS)) as database, database.transaction() as connection:
        for number, status in enumerate(("pending", "granted", "denied", "expired", "consumed"), 1):
            decided = ("root", 1) if status in ("granted", "denied", "consumed") else (None, None)
            asked = (status, "run-1", number, f"call-1-{number}", None, "t.t", "v", "h", "p", "write", "r", 1)
            connection.execute(
                f"INSERT INTO approvals VALUES ({', '.join('?' * 17)})", (*asked, status, 1, 2**40, *decided)
            )
        connection.execute("INSERT INTO grants VALUES ('grant-1', 't.*', '{}', 5, ?, 'root')", (2**40,))
    with Database(tmp_path / "x.db", (*MIGRATIONS, *APPROVALS)) as database, ReceiptLog(database, b"k" * 32) as log:
        for number, name in enumerate(("pending", "granted", "denied", "expired", "consumed"), 1):
            call = {
                "tool_call_id": f"call-1-{number}",
                "tool": "t.t",
                "tool_version": "v",
                "risk": "write",
                "args_hash": "h",
            }
            payload = {"approval": name, "reason": "r"}
            log.append(Draft("tool.call.pending", "pending", now(), "run-1", **call, payload=payload))
        yield ApprovalStore(database, log)


def test_a_yes_of_an_earlier_form_is_asked_for_again(upgraded: ApprovalStore) -> None:
    assert [each.id for each in upgraded.list("pending")] == ["pending", "granted"]
    assert (upgraded.list("granted"), upgraded.get("granted").decided_by) == ([], None)
    for name in ("pending", "granted"):
        assert upgraded.is_proven(upgraded.decide(name, approved=True, decided_by="me"))


def test_a_no_of_an_earlier_form_stays_and_its_windows_are_closed(
    upgraded: ApprovalStore,
) -> None:
    denied = upgraded.get("denied")
    assert (denied.status, denied.decided_by) == ("denied", "root")
    assert [upgraded.get(name).status for name in ("expired", "consumed")] == ["expired", "consumed"]
    assert not upgraded.windows()
