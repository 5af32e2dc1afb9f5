"""The key of the log."""

from __future__ import annotations

import hmac
import threading
from pathlib import Path

import pytest

from coilclaw.receipts import MIGRATIONS, Draft, ReceiptLog, load_or_create_key
from coilclaw.receipts.seal import seal
from coilclaw.sdk import OperatorError
from coilclaw.store import Database


def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys/receipts.key"
    key = load_or_create_key(path)
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert load_or_create_key(path) == key
    assert [entry.name for entry in path.parent.iterdir()] == ["receipts.key"]


def test_makers_at_the_same_time_agree_on_one_key(tmp_path: Path) -> None:
    keys: list[bytes] = []
    threads = [threading.Thread(target=lambda: keys.append(load_or_create_key(tmp_path / "k"))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 12
    assert len(set(keys)) == 1


def test_no_new_key_is_made_for_a_log_that_has_one(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="missing"):
        load_or_create_key(tmp_path / "k", create=False)
    assert not (tmp_path / "k").exists()


def test_a_damaged_key_is_named_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "k"
    path.write_bytes(b"short")
    with pytest.raises(OperatorError, match="not a receipt key"):
        load_or_create_key(path)
    assert path.read_bytes() == b"short"


def test_a_key_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OperatorError, match="receipt key"):
        load_or_create_key(tmp_path / "file" / "k")


@pytest.mark.req("R383")
def test_the_log_is_sealed_by_hmac_sha256_with_the_key_that_is_kept_here(tmp_path: Path) -> None:
    place = tmp_path / "receipts.key"
    with Database(tmp_path / "log.db", MIGRATIONS) as database:
        with ReceiptLog(database, load_or_create_key(place)) as log:
            log.append(Draft(type="a", status="allowed", timestamp="t"))
        ((log_id, seq, receipt_hash, mark),) = database.read("SELECT log_id, seq, receipt_hash, seal FROM receipt_head")
    sealed = f"{log_id}:{seq}:{receipt_hash}".encode()
    assert mark == hmac.new(place.read_bytes(), sealed, "sha256").hexdigest()


def test_the_seal_covers_log_number_and_hash() -> None:
    seals = {
        seal(key, log_id=log_id, seq=seq, receipt_hash=receipt_hash)
        for key in (b"a" * 32, b"b" * 32)
        for log_id in ("x", "y")
        for seq in (1, 2)
        for receipt_hash in ("p", "q")
    }
    assert len(seals) == 16
