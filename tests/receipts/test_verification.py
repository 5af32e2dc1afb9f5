"""What was done to a log is found, at the right receipt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import KEY

from coilclaw.receipts import MIGRATIONS, DamagedReceipt, Draft, LogUnwritable, ReceiptLog, digest, verify_export
from coilclaw.receipts.canonical import canonical_json, in_profile
from coilclaw.store import Database


def fill(log: ReceiptLog, count: int) -> None:
    log.append(
        *(
            Draft(
                type="tool.call.succeeded",
                status="allowed",
                timestamp=f"2026-05-12T14:00:{number:02d}.000000Z",
                tool="files.read",
                payload={"note": f"number {number}", "previous_hash": "x", "seq": number + 5},
            )
            for number in range(count)
        )
    )


def edited(body: bytes) -> bytes:
    fields = json.loads(body)
    fields["status"] = "denied"
    return canonical_json(in_profile(fields))


def tamper(path: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    connection = apsw.Connection(str(path))
    for sql, parameters in statements:
        connection.execute(sql, parameters)
    connection.close()


def body_of(path: Path, seq: int) -> bytes:
    connection = apsw.Connection(str(path))
    rows: list[Any] = connection.execute("SELECT body FROM receipts WHERE seq = ?", (seq,)).fetchall()
    connection.close()
    return bytes(rows[0][0])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "coilclaw.db"
    with Database(place, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        fill(log, 6)
    return place


def verify(path: Path, key: bytes = KEY) -> Any:
    with Database(path, MIGRATIONS) as database, ReceiptLog(database, key) as log:
        return log.verify()


@pytest.mark.req("R381", "R382")
def test_an_untouched_log_holds(path: Path) -> None:
    result = verify(path)
    assert result.ok
    assert result.count == 6


def test_an_empty_log_holds(tmp_path: Path) -> None:
    assert verify(tmp_path / "new.db").ok


@pytest.mark.req("R488")
@pytest.mark.parametrize("seq", range(1, 7))
def test_an_edited_receipt_is_named(path: Path, seq: int) -> None:
    tamper(path, ("UPDATE receipts SET body = ? WHERE seq = ?", (edited(body_of(path, seq)), seq)))
    assert verify(path).first_bad == seq


@pytest.mark.parametrize("seq", range(1, 7))
def test_an_edited_and_rehashed_receipt_is_named(path: Path, seq: int) -> None:
    body = edited(body_of(path, seq))
    tamper(path, ("UPDATE receipts SET body = ?, receipt_hash = ? WHERE seq = ?", (body, digest(body), seq)))
    assert verify(path).first_bad == seq


@pytest.mark.parametrize("seq", range(1, 7))
def test_a_deleted_receipt_is_named(path: Path, seq: int) -> None:
    tamper(path, ("DELETE FROM receipts WHERE seq = ?", (seq,)))
    assert verify(path).first_bad == seq


@pytest.mark.parametrize(("one", "two"), [(1, 2), (2, 5), (5, 6), (1, 6)])
def test_swapped_receipts_are_named(path: Path, one: int, two: int) -> None:
    tamper(
        path,
        ("UPDATE receipts SET seq = -1 WHERE seq = ?", (one,)),
        ("UPDATE receipts SET seq = ? WHERE seq = ?", (one, two)),
        ("UPDATE receipts SET seq = ? WHERE seq = -1", (two,)),
    )
    assert verify(path).first_bad == one


@pytest.mark.parametrize("place", [1, 3, 6])
def test_an_inserted_receipt_is_named(path: Path, place: int) -> None:
    body = edited(body_of(path, place))
    tamper(
        path,
        ("UPDATE receipts SET seq = -seq WHERE seq > ?", (place,)),
        ("UPDATE receipts SET seq = 1 - seq WHERE seq < 0", ()),
        ("INSERT INTO receipts VALUES (?, NULL, ?, ?)", (place + 1, body, digest(body))),
        ("UPDATE receipt_head SET seq = seq + 1", ()),
    )
    assert verify(path).first_bad == place + 1


def test_a_receipt_before_the_first_is_found(path: Path) -> None:
    body = body_of(path, 1)
    tamper(path, ("INSERT INTO receipts VALUES (0, NULL, ?, ?)", (body, digest(body))))
    assert verify(path).first_bad == 1


def test_a_receipt_behind_the_last_is_found(path: Path) -> None:
    body = edited(body_of(path, 6)).replace(b'"seq":6', b'"seq":7')
    tamper(path, ("INSERT INTO receipts VALUES (7, NULL, ?, ?)", (body, digest(body))))
    assert verify(path).first_bad == 7


def test_a_log_cut_at_its_end_is_found(path: Path) -> None:
    tamper(path, ("DELETE FROM receipts WHERE seq > 4", ()))
    result = verify(path)
    assert result.first_bad == 5
    assert "cut" in result.problem


def rewritten(path: Path, first: int) -> None:
    """Edit one receipt and recompute every hash after it, and the head: all that can be done without the key."""
    connection = apsw.Connection(str(path))
    rows: list[Any] = connection.execute("SELECT seq, body FROM receipts ORDER BY seq").fetchall()
    previous = "0" * 64
    for seq, body in rows:
        fields = json.loads(body)
        if seq == first:
            fields["status"] = "denied"
        fields["previous_hash"] = previous
        new = canonical_json(in_profile(fields))
        previous = digest(new)
        connection.execute("UPDATE receipts SET body = ?, receipt_hash = ? WHERE seq = ?", (new, previous, seq))
    connection.execute("UPDATE receipt_head SET receipt_hash = ?", (previous,))
    connection.close()


def test_a_log_rewritten_without_the_key_is_found(path: Path) -> None:
    rewritten(path, 2)
    result = verify(path)
    assert not result.ok
    assert "seal" in result.problem


def test_a_cut_log_with_a_matching_head_is_found(path: Path) -> None:
    tamper(
        path,
        ("DELETE FROM receipts WHERE seq > 4", ()),
        ("UPDATE receipt_head SET seq = 4, receipt_hash = (SELECT receipt_hash FROM receipts WHERE seq = 4)", ()),
    )
    assert not verify(path).ok


def test_an_honest_append_does_not_seal_a_forged_log(path: Path) -> None:
    rewritten(path, 2)
    with Database(path, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        with pytest.raises(LogUnwritable, match="the log was changed"):
            log.append(Draft(type="later", status="allowed", timestamp="t"))
        assert not log.verify().ok


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE receipt_head SET seal = 'x'",
        "UPDATE receipt_head SET seq = 'abc'",
        "UPDATE receipt_head SET seal = x'00ff'",
        "UPDATE receipt_head SET seal = 'é'",
        "UPDATE receipt_head SET log_id = 'other'",
        "DELETE FROM receipt_head",
        "DELETE FROM receipts WHERE seq = 6",
        "DELETE FROM receipts",
        "UPDATE receipts SET receipt_hash = 'x' WHERE seq = 6",
        "INSERT INTO receipts VALUES (7, NULL, x'00', 'x')",
    ],
)
def test_nothing_is_appended_to_a_log_whose_end_was_changed(path: Path, statement: str) -> None:
    tamper(path, (statement, ()))
    with Database(path, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        with pytest.raises(LogUnwritable):
            log.append(Draft(type="later", status="allowed", timestamp="t"))
        assert not log.verify().ok


def test_nothing_is_appended_with_another_key(path: Path) -> None:
    with (
        Database(path, MIGRATIONS) as database,
        ReceiptLog(database, b"x" * 32) as log,
        pytest.raises(LogUnwritable),
    ):
        log.append(Draft(type="later", status="allowed", timestamp="t"))


def test_a_receipt_filed_under_another_run_is_named(path: Path) -> None:
    tamper(path, ("UPDATE receipts SET run_id = 'run-x' WHERE seq = 4", ()))
    assert verify(path).first_bad == 4


def test_changed_contents_are_named_and_not_shown(tmp_path: Path) -> None:
    place = tmp_path / "x.db"
    args = b'{"path":"secret"}'
    with Database(place, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        fill(log, 2)
        log.append(Draft(type="t", status="s", timestamp="t", args_hash=digest(args)), contents={digest(args): args})
    tamper(place, ("UPDATE contents SET body = ?", ('{"path":"innocent"}',)))
    with Database(place, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        assert log.verify().first_bad == 3
        with pytest.raises(DamagedReceipt):
            log.contents(digest(args))


def test_another_key_does_not_fit(path: Path) -> None:
    assert not verify(path, b"x" * 32).ok


def test_a_receipt_that_is_no_receipt_is_named(path: Path) -> None:
    tamper(path, ("UPDATE receipts SET body = ? WHERE seq = 3", (b"\xff\x00",)))
    assert verify(path).first_bad == 3


# Exports --------------------------------------------------------------------------------------------


@pytest.fixture
def lines(path: Path) -> list[bytes]:
    with Database(path, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        return list(log.export())


def test_an_untouched_export_holds(lines: list[bytes]) -> None:
    assert verify_export(lines).count == 6
    assert verify_export([line + b"\n" for line in lines]).ok


def _status(line: bytes) -> bytes:
    return line.replace(b'"status":"allowed"', b'"status":"denied"')


def _reordered(line: bytes) -> bytes:
    return json.dumps(dict(reversed(json.loads(line).items())), separators=(",", ":")).encode()


def _spaced(line: bytes) -> bytes:
    return line.replace(b'","', b'", "', 1)


def _doubled(line: bytes) -> bytes:
    return line.replace(b'"status":', b'"status":"denied","status":', 1)


@pytest.mark.parametrize("seq", range(1, 7))
@pytest.mark.parametrize("change", [_status, _reordered, _spaced, _doubled, lambda line: b"", lambda line: b"[1]"])
def test_a_changed_line_is_named(lines: list[bytes], seq: int, change: Callable[[bytes], bytes]) -> None:
    lines[seq - 1] = change(lines[seq - 1])
    assert verify_export(lines).first_bad == seq


@pytest.mark.parametrize("seq", range(1, 6))
def test_a_missing_line_is_named(lines: list[bytes], seq: int) -> None:
    del lines[seq - 1]
    assert verify_export(lines).first_bad == seq


def test_a_repeated_line_is_named(lines: list[bytes]) -> None:
    assert verify_export([*lines[:3], lines[2], *lines[3:]]).first_bad == 4


def test_receipts_of_two_logs_do_not_mix(lines: list[bytes], tmp_path: Path) -> None:
    with Database(tmp_path / "other.db", MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        fill(log, 6)
        other = list(log.export())
    assert verify_export([*lines[:3], *other[3:]]).first_bad == 4


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_any_byte_is_found(lines: list[bytes], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, 5))
    position = data.draw(st.integers(0, len(lines[number]) - 1))
    replacement = data.draw(st.integers(0, 255))
    line = bytearray(lines[number])
    if line[position] == replacement:
        return
    line[position] = replacement
    changed = [*lines[:number], bytes(line), *lines[number + 1 :]]
    result = verify_export(changed)
    assert not result.ok
    assert result.first_bad == number + 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type", 5),
        ("type", "Tool Call"),
        ("status", None),
        ("timestamp", None),
        ("timestamp", "2026-05-12"),
        ("timestamp", "2026-13-45T14:00:00.000000Z"),
        ("tool", 1),
        ("run_id", ["x"]),
        ("args_hash", "abc"),
        ("risk", "none at all"),
        ("payload", "x"),
        ("payload", []),
        ("seq", True),
        ("id", "receipt-a\nb-1"),
        ("id", "receipt-ABCDEFGH-1"),
        ("id", 7),
    ],
)
def test_an_export_that_was_linked_anew_must_still_be_made_of_receipts(
    lines: list[bytes], field: str, value: Any
) -> None:
    previous, forged = "0" * 64, []
    for number, line in enumerate(lines):
        fields = {**json.loads(line), "previous_hash": previous}
        if number == 0:
            fields[field] = value
        del fields["receipt_hash"]
        previous = digest(canonical_json(dict(sorted(fields.items()))))
        forged.append(canonical_json(dict(sorted({**fields, "receipt_hash": previous}.items()))))
    result = verify_export(forged)
    assert (result.ok, result.first_bad) == (False, 1)


@pytest.mark.parametrize(
    "promise",
    [
        {"type": "tool.call.requested", "args_hash": "{}"},
        {"type": "tool.call.requested", "args_hash": "{}", "payload": {"arguments_bytes": 9}, "kept": False},
        {"type": "tool.call.denied", "args_hash": "{}", "payload": {"arguments_bytes": 9}, "kept": False},
        {"type": "tool.call.started", "args_hash": "{}"},
        {"type": "tool.call.pending", "args_hash": "{}"},
        {"type": "tool.call.succeeded", "result_hash": "{}"},
        {"type": "run.started", "payload": {"kind": "snippet", "code_hash": "{}"}},
        {"type": "run.started", "payload": {"kind": "call", "code_hash": "{}"}, "kept": False},
        {"type": "run.started", "payload": {"kind": "call", "inputs_hash": "{}"}},
        {"type": "tool.module.loaded", "payload": {"content_hash": "{}"}},
        {"type": "tool.module.trusted", "payload": {"content_hash": "{}"}},
    ],
    ids=str,
)
def test_each_kind_of_receipt_promises_what_it_has_the_hash_of(tmp_path: Path, promise: dict[str, Any]) -> None:
    body = b'"kept"'
    filled = json.loads(json.dumps(promise).replace('"{}"', f'"{digest(body)}"'))
    kept = filled.pop("kept", True)
    draft = Draft(status="allowed", timestamp="2026-05-12T14:00:00.000000Z", **filled)
    with Database(tmp_path / "x.db", MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        log.append(draft, contents={digest(body): body})
        assert log.verify().ok
    tamper(tmp_path / "x.db", ("DELETE FROM contents", ()))
    assert verify(tmp_path / "x.db").ok is not kept


def test_contents_that_receipts_stand_for_must_be_there(tmp_path: Path) -> None:
    place = tmp_path / "x.db"
    kept = [f'"{number}"'.encode() for number in range(5000)]
    with Database(place, MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
        moment = "2026-05-12T14:00:00.000000Z"
        for body in kept:
            log.append_relaxed(
                Draft("tool.call.requested", "pending", moment, args_hash=digest(body)), contents={digest(body): body}
            )
        ended = Draft("tool.call.succeeded", "allowed", moment, result_hash=digest(b"1"))
        log.append(ended, Draft("tool.call.succeeded", "allowed", moment), contents={digest(b"1"): b"1"})
        large = Draft("tool.call.requested", "pending", moment, args_hash=digest(b"x"), payload={"arguments_bytes": 9})
        log.append(large, large._replace(type="tool.call.denied"))
        assert log.verify().ok, "what is large is not promised before it is decided"
        log.append(large, large._replace(type="tool.call.started"), contents={digest(b"x"): b"x"})
        assert log.verify().ok
    tamper(place, ("DELETE FROM contents WHERE hash = ?", (digest(b"1"),)))
    found = verify(place)
    assert (found.first_bad, found.problem) == (
        5001,
        "1 content is missing that receipts stand for, the first of them receipt 5001",
    )
    tamper(place, ("DELETE FROM contents", ()))
    found = verify(place)
    assert (found.first_bad, "5002 contents are missing" in str(found.problem)) == (1, True)
