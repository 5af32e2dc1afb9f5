"""Whoever edits the database, without the key, makes no run do what its receipts do not say."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import cache_folder

from coilclaw.app import CoilClaw
from coilclaw.policy import DamagedApproval
from coilclaw.receipts import DamagedReceipt
from coilclaw.runs import NotResumable
from coilclaw.sdk import ToolContext, define_tool

_EVIL = """
from pathlib import Path
Path({mark!r}).write_text("host code ran")
"""


class Shop:
    """An app whose database is edited between two processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.did: list[str] = []

        @define_tool(id="shop.ask", risk="write", policy="ask")
        def ask(ctx: ToolContext) -> int:
            self.did.append("asked")
            return 1

        @define_tool(id="shop.pay", risk="write", policy="ask")
        def pay(ctx: ToolContext) -> int:
            self.did.append("paid")
            return 1

        self._tools = [ask, pay]

    def opened(self) -> CoilClaw:
        return CoilClaw.open(self.folder / "home", workspace=self.workspace, tools=self._tools, cache=cache_folder())

    def edit(self, statement: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(self.folder / "home" / "coilclaw.db", isolation_level=None)) as database:
            return database.execute(statement, values).fetchall()


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.mark.parametrize(
    "again",
    [lambda claw, run_id: claw.resume(run_id), lambda claw, run_id: claw.replay(run_id)],
    ids=["resume", "replay"],
)
def test_no_tool_of_a_workspace_that_was_written_into_a_header_is_loaded(
    shop: Shop, again: Callable[[CoilClaw, str], object]
) -> None:
    evil, mark = shop.folder / "evil", shop.folder / "mark"
    (evil / "tools" / "x").mkdir(parents=True)
    (evil / "tools" / "x" / "t.py").write_text(_EVIL.format(mark=str(mark)))
    with shop.opened() as claw:
        run_id = claw.run("tools.shop.ask()").run_id
    ((header,),) = shop.edit("SELECT header FROM runs")
    forged = header.replace(str(shop.workspace), str(evil))
    assert forged != header
    shop.edit("UPDATE runs SET header = ?", forged)
    old, new = (hashlib.sha256(each.encode()).hexdigest().encode() for each in (header, forged))
    for seq, body in shop.edit("SELECT seq, body FROM receipts"):
        if old in bytes(body):
            shop.edit("UPDATE receipts SET body = ? WHERE seq = ?", bytes(body).replace(old, new), seq)
    with shop.opened() as claw, pytest.raises(NotResumable, match="header"):
        again(claw, run_id)
    assert not mark.exists()


def test_no_approval_shows_another_snippet_than_the_one_that_asks(shop: Shop) -> None:
    with shop.opened() as claw:
        claw.run("'harmless'")
        (asked,) = claw.run("tools.shop.pay()").approvals
    harmless, payment = (hashlib.sha256(each).hexdigest() for each in (b"'harmless'", b"tools.shop.pay()"))
    shop.edit("UPDATE runs SET header = replace(header, ?, ?)", payment, harmless)
    with shop.opened() as claw, pytest.raises(DamagedApproval):
        claw.approvals.explain(asked.id)


@pytest.mark.parametrize("by", [-1, 1])
def test_a_run_whose_count_of_resumes_was_edited_is_not_resumed(shop: Shop, by: int) -> None:
    """Otherwise the requests it makes from then on would not count, and what it did could be done again."""
    with shop.opened() as claw:
        run = claw.run("tools.shop.ask()\ntools.shop.pay()")
        claw.approvals.approve(run.approvals[0].id, by="ada")
    shop.edit("UPDATE runs SET fence = fence + ?", by)
    with shop.opened() as claw:
        assert claw.resume(run.run_id).status == "diverged"
    assert shop.did == []


def test_a_cancelled_run_is_not_brought_back_by_its_row(shop: Shop) -> None:
    with shop.opened() as claw:
        run = claw.run("tools.shop.pay()")
        claw.approvals.approve(run.approvals[0].id, by="ada")
        claw.runs.cancel(run.run_id, by="ada")
    shop.edit("UPDATE approvals SET status = 'granted'")
    shop.edit("UPDATE runs SET status = 'suspended', fence = 1")
    with shop.opened() as claw, pytest.raises(NotResumable, match="over"):
        claw.resume(run.run_id)
    assert shop.did == []


def test_a_receipt_takes_back_what_was_approved_to_a_run_that_is_cancelled(shop: Shop) -> None:
    with shop.opened() as claw:
        run = claw.run("tools.shop.pay()")
        (asked,) = run.approvals
        claw.approvals.approve(asked.id, by="ada")
        approved = claw._parts.stores.approvals.get(asked.id)
        assert claw._parts.stores.approvals.is_proven(approved)
        claw.runs.cancel(run.run_id, by="bob")
        assert not claw._parts.stores.approvals.is_proven(approved), "whatever its row says"
        denied, finished = claw.receipts.latest(2, run_id=run.run_id)
        assert (denied.type, denied.payload["approval"]) == ("tool.call.denied", asked.id)
        assert (denied.payload["code"], denied.payload["decided_by"]) == ("cancelled", "bob")
        assert finished.type == "run.finished"
        assert claw.approvals.get(asked.id).status == "expired"


_VIEWS: dict[str, Callable[[CoilClaw, str, str], object]] = {
    "run show": lambda claw, run_id, _: claw.runs.show(run_id),
    "approval explain": lambda claw, _, approval_id: claw.approvals.explain(approval_id),
    "receipt list": lambda claw, *_: claw.receipts.latest(),
    "receipts of a run": lambda claw, run_id, _: claw.receipts.latest(run_id=run_id),
    "receipt show": lambda claw, *_: claw.receipts.find("2"),
    "receipt export": lambda claw, *_: list(claw.receipts.export()),
    "events": lambda claw, *_: claw.feed.recent(10),
}


@pytest.mark.parametrize("view", _VIEWS)
@pytest.mark.parametrize(
    "change",
    [
        "body = CAST(replace(CAST(body AS TEXT), 'shop.', 'shoq.') AS BLOB)",
        "receipt_hash = (SELECT receipt_hash FROM receipts WHERE seq = 1)",
        "(body, receipt_hash) = (SELECT body, receipt_hash FROM receipts WHERE seq = 1)",
    ],
)
def test_no_view_shows_a_receipt_that_was_changed(shop: Shop, view: str, change: str) -> None:
    with shop.opened() as claw:
        run = claw.run("tools.shop.pay()")
        approval_id = run.approvals[0].id
        _VIEWS[view](claw, run.run_id, approval_id)
    shop.edit(f"UPDATE receipts SET {change} WHERE seq = 2")
    with shop.opened() as claw, pytest.raises(DamagedReceipt, match="receipt 2 was changed"):
        _VIEWS[view](claw, run.run_id, approval_id)
