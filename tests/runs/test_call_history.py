"""What is put together from the bytes of receipts is what they say when each is read as a whole."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coilclaw.receipts import MIGRATIONS, DamagedReceipt, Draft, ReceiptLog, digest, now
from coilclaw.runs import call_history
from coilclaw.sdk import Receipt
from coilclaw.store import Database

RUN, OTHER = "run-1a", "run-1b"
TRICKY = ["a.b", "a.c", 'x","tool_call_id":"call-1a-1', '"tool":', '\\","type":"tool.call.succeeded"}', "ü€😀\n", ""]
PLAIN_KINDS = ["tool.call.started", "tool.call.succeeded", "tool.call.failed", "tool.call.denied", "tool.call.progress"]

calls = st.builds(
    lambda kind, number, tool, version, fence, run: (kind, number, tool, version, fence, run),
    st.sampled_from(["tool.call.requested", *PLAIN_KINDS]),
    st.integers(1, 3),
    st.sampled_from(TRICKY),
    st.sampled_from(["sha256:1", "sha256:2", None]),
    st.integers(1, 2),
    st.sampled_from([RUN, RUN, RUN, OTHER]),
)
stretches = st.builds(
    lambda kind, fence, run: (kind, 0, "", None, fence, run),
    st.sampled_from(["run.started", "run.resumed", "run.suspended", "run.finished", "run.diverged"]),
    st.integers(1, 2),
    st.sampled_from([RUN, RUN, OTHER]),
)


def draft(at: int, kind: str, number: int, tool: str, version: str | None, fence: int, run: str) -> Draft:
    payload: dict[str, Any] = {}
    if kind == "tool.call.requested":
        payload = {"line": 1, "number": number, "heard": f"{at}:m", **({"fence": fence} if fence > 1 else {})}
    elif kind in ("tool.call.failed", "tool.call.denied"):
        payload = {"code": "x", "message": f'{at} ","type":"tool.call.succeeded"}}'}
    elif kind == "run.started":
        payload = {"header_hash": f"h{at}"}
    elif kind.startswith("run.") and kind != "run.resumed":
        payload = {"heard": f"{at}:m", **({"fence": fence} if fence > 1 else {})}
    return Draft(
        type=kind,
        status="allowed",
        timestamp=now(),
        run_id=run,
        tool_call_id=f"call-{run.removeprefix('run-')}-{number}" if number else None,
        tool=tool if number else None,
        tool_version=version,
        args_hash=digest(b"%d" % at) if number else None,
        result_hash=digest(b"result %d" % at) if kind == "tool.call.succeeded" else None,
        payload=payload,
    )


def read_plainly(receipts: list[Receipt]) -> dict[str, Any] | None:
    """The same, from whole receipts and without any haste; None if one has a fence that nobody had by then."""
    fence, left, resumed_since, end = 1, None, 0, None
    known: dict[str, Any] = {}
    marks: dict[str, int | None] = {}
    for receipt in receipts:
        facts, kind = receipt.payload, receipt.type
        mark, current = facts.get("heard"), facts.get("fence", 1) == fence
        if mark is not None and facts.get("fence", 1) > fence:
            return None
        call = known.get(str(receipt.tool_call_id))
        if kind == "tool.call.requested":
            call = known.setdefault(
                str(receipt.tool_call_id), {"number": facts["number"], "asked": None, "results": [], "refusals": []}
            )
            if current:
                marks.setdefault(str(mark), facts["number"])
                call["asked"] = call["asked"] or [receipt.tool, receipt.tool_version, receipt.args_hash, "requested"]
        elif kind in PLAIN_KINDS[:4] and call is not None:
            if kind == "tool.call.succeeded":
                call["results"].append(receipt.result_hash)
            elif kind != "tool.call.started":
                call["refusals"].append(facts["message"])
            if call["asked"]:
                state = "started" if kind == "tool.call.started" else "ended"
                call["asked"] = [receipt.tool, receipt.tool_version, call["asked"][2], state]
        elif kind == "run.resumed":
            fence, resumed_since, end = fence + 1, resumed_since + 1, None
        elif kind in ("run.suspended", "run.finished", "run.diverged"):
            left, resumed_since, end = mark, 0, kind
            if current:
                marks.setdefault(str(mark), None)
    begun = [receipt.payload["header_hash"] for receipt in receipts if receipt.type == "run.started"]
    return {
        "calls": {call.pop("number"): call for call in known.values()},
        "marks": marks,
        "stretches": (begun, left, resumed_since, end),
    }


def shown(told: call_history.CallHistory) -> dict[str, Any]:
    return {
        "calls": {
            number: {
                "asked": [call.tool, call.tool_version, call.args_hash, call.state] if call.is_requested else None,
                "results": list(call.results),
                "refusals": [refusal.payload["message"] for refusal in call.refusals],
            }
            for number, call in told.calls.items()
        },
        "marks": told.marks,
        "stretches": (told.header_hashes, told.left, told.resumed_since, told.end.type if told.end else None),
    }


@pytest.fixture(scope="module")
def log_and_database(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("call_history")
    with Database(folder / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
        yield log, database


@settings(max_examples=400, deadline=None)
@given(events=st.lists(calls | calls | stretches, min_size=1, max_size=25))
def test_receipts_are_understood_as_when_they_are_parsed(log_and_database: Any, events: list[Any]) -> None:
    log, _ = log_and_database
    first = log.append(*(draft(at, *event) for at, event in enumerate(events)))[0]
    plain, tail = read_plainly(log.of_run(RUN, since=first)), log.tail(int(first.rsplit("-", 1)[1]) - 1, RUN)
    if plain is None:
        with pytest.raises(DamagedReceipt, match="never took the run over"):
            call_history.read_call_history(tail)
    else:
        assert shown(call_history.read_call_history(tail)) == plain


def test_a_version_that_came_back_is_the_one_that_ran(log_and_database: Any) -> None:
    log, _ = log_and_database
    versions = ["1", "2", "1"]
    kinds = ["tool.call.requested", "tool.call.started", "tool.call.started"]
    events = [(kind, 1, "a.b", version, 1, RUN) for kind, version in zip(kinds, versions, strict=True)]
    first = log.append(*(draft(at, *event) for at, event in enumerate(events)))[0]
    told = call_history.read_call_history(log.tail(int(first.rsplit("-", 1)[1]) - 1, RUN))
    assert (told.calls[1].tool_version, told.calls[1].state) == ("1", "started")


@pytest.mark.parametrize("body", [b"", b"{}", b'"', b"not a receipt", b'{"args_hash":null', b"\xff"])
def test_what_is_no_receipt_is_damage_even_with_a_fitting_hash(tmp_path: Path, body: bytes) -> None:
    with Database(tmp_path / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
        log.append(*(draft(at, "tool.call.requested", at + 1, "a.b", "1", 1, RUN) for at in range(4)))
        ((before,),) = database.read("SELECT body FROM receipts WHERE seq = 2")
        start = before.rfind(b'"previous_hash":"')
        # The link to the one before holds, and so does the run: only what it says is broken.
        for forged in (
            body,
            body + before[start:],
            before[:30] + body + before[start:],
            before[: -len(body) - 1] + body,
        ):
            with database.transaction() as connection:
                connection.execute(
                    "UPDATE receipts SET body = ?, receipt_hash = ? WHERE seq = 2", (forged, digest(forged))
                )
            with pytest.raises(DamagedReceipt):
                call_history.read_call_history(log.tail(0, RUN))


@pytest.mark.parametrize("value", [None, 7, "text", 1.5])
def test_a_body_of_another_type_is_damage(tmp_path: Path, value: Any) -> None:
    with Database(tmp_path / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
        log.append(draft(0, "tool.call.requested", 1, "a.b", "1", 1, RUN))
        with database.transaction() as connection:
            connection.execute("CREATE TABLE loose (seq INTEGER PRIMARY KEY, run_id TEXT, body, receipt_hash TEXT)")
            connection.execute("INSERT INTO loose SELECT * FROM receipts")
            connection.execute("DROP TABLE receipts")
            connection.execute("ALTER TABLE loose RENAME TO receipts")
            connection.execute("UPDATE receipts SET body = ?", (value,))
        with pytest.raises(DamagedReceipt):
            call_history.read_call_history(log.tail(0, RUN))


def test_many_receipts_are_read_in_several_goes(tmp_path: Path) -> None:
    with Database(tmp_path / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
        kinds = ("tool.call.requested", "tool.call.started", "tool.call.succeeded")
        steps = itertools.product(range(1, 401), kinds)
        log.append(*(draft(at, kind, number, "a.b", "1", 1, RUN) for at, (number, kind) in enumerate(steps)))
        told = call_history.read_call_history(log.tail(0, RUN))
        assert [call.state for call in told.calls.values()] == ["ended"] * 400
        assert told.calls[400].results == (digest(b"result 1199"),)
