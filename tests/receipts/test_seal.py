"""The key of the log."""

from __future__ import annotations

import hmac
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from coilclaw.receipts import (
    MIGRATIONS,
    Draft,
    LogMissing,
    ReceiptLog,
    found_log,
    now,
    refuse_without_log,
    restart_log,
    verify_database,
)
from coilclaw.receipts.seal import seal
from coilclaw.sdk import OperatorError
from coilclaw.store import Database


@pytest.fixture
def key_path(tmp_path: Path) -> Path:
    return tmp_path / "keys/receipts.key"


def opened(tmp_path: Path) -> Database:
    return Database(tmp_path / "coilclaw.db", MIGRATIONS)


def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path, key_path: Path) -> None:
    with opened(tmp_path) as database:
        key = found_log(database, key_path)
        assert len(key) == 32
        assert key_path.stat().st_mode & 0o777 == 0o600
        assert key_path.parent.stat().st_mode & 0o777 == 0o700
        assert found_log(database, key_path) == key
        assert [entry.name for entry in key_path.parent.iterdir()] == ["receipts.key"]
        with ReceiptLog(database, key) as log:
            assert log.verify().ok
            log.append(Draft("run.started", "running", now()))
            assert log.verify().count == 1


def test_makers_at_the_same_time_agree_on_one_key(tmp_path: Path, key_path: Path) -> None:
    keys: list[bytes] = []

    def found() -> None:
        with opened(tmp_path) as database, ReceiptLog(database, found_log(database, key_path)) as log:
            keys.append(key_path.read_bytes())
            log.append(Draft("run.started", "running", now()))

    threads = [threading.Thread(target=found) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 12
    assert len(set(keys)) == 1
    with opened(tmp_path) as database:
        assert verify_database(database, keys[0]).count == 12


def test_no_new_key_is_made_for_a_log_that_has_one(tmp_path: Path, key_path: Path) -> None:
    with opened(tmp_path) as database:
        with ReceiptLog(database, found_log(database, key_path)) as log:
            log.append(Draft("run.started", "running", now()))
        key_path.unlink()
        with pytest.raises(OperatorError, match="key of the receipt log is missing"):
            found_log(database, key_path)
    assert not key_path.exists()


def test_a_process_that_dies_before_the_key_is_written_leaves_nothing_in_the_way(
    tmp_path: Path, key_path: Path
) -> None:
    """The only moment between the two files: a head that nobody has a key for, and no receipt."""
    with opened(tmp_path) as database:
        lost = found_log(database, key_path)
        key_path.unlink()
        key = found_log(database, key_path)
        assert key != lost
        with ReceiptLog(database, key) as log:
            log.append(Draft("run.started", "running", now()))
            assert log.verify().ok


@pytest.mark.parametrize("gone", ["the file", "its tables' rows"])
def test_a_key_without_a_log_is_an_alarm(tmp_path: Path, key_path: Path, gone: str) -> None:
    with opened(tmp_path) as database, ReceiptLog(database, found_log(database, key_path)) as log:
        log.append(Draft("run.started", "running", now()))
    if gone == "the file":
        for file in tmp_path.glob("coilclaw.db*"):
            file.unlink()
        with pytest.raises(LogMissing):
            refuse_without_log(tmp_path / "coilclaw.db", key_path)
    else:
        with opened(tmp_path) as database, database.transaction() as connection:
            connection.execute("DELETE FROM receipts; DELETE FROM receipt_head")
    with opened(tmp_path) as database, pytest.raises(LogMissing, match="holds no log"):
        found_log(database, key_path)


RESTARTED = Draft("log.restarted", "allowed", now(), payload={"decided_by": "me"})


def test_a_log_in_place_of_a_lost_one_says_so_and_the_old_key_is_kept(tmp_path: Path, key_path: Path) -> None:
    key_path.parent.mkdir()
    key_path.write_bytes(b"o" * 32)
    with opened(tmp_path) as database:
        kept = restart_log(database, key_path, RESTARTED)
        assert kept.read_bytes() == b"o" * 32
        with ReceiptLog(database, found_log(database, key_path)) as log:
            (first,) = log.latest(9)
            assert (first.type, first.payload) == ("log.restarted", {"decided_by": "me", "lost_key": kept.name})
            log.append(Draft("run.started", "running", now()))
            assert (log.verify().ok, log.verify().count) == (True, 2)
        with pytest.raises(OperatorError, match="nothing to restart"):
            restart_log(database, key_path, RESTARTED)
        assert verify_database(database, found_log(database, key_path)).count == 2


DIES = """
import os, signal, sys
from pathlib import Path
from coilclaw.receipts import MIGRATIONS, Draft, founding, now
from coilclaw.store import Database

def die(*args, **more):
    os.kill(os.getpid(), signal.SIGKILL)

owner = os if sys.argv[3] in ("link", "replace") else founding
setattr(owner, sys.argv[3], die)
with Database(Path(sys.argv[1]), MIGRATIONS) as database:
    founding.restart_log(database, Path(sys.argv[2]), Draft("log.restarted", "allowed", now()))
"""


@pytest.mark.parametrize("seam", ["link", "keep_key", "begin_log", "_finish_restart", "replace", "sync_folder"])
def test_a_restart_that_is_killed_leaves_an_alarm_or_a_log_that_says_what_it_is(
    tmp_path: Path, key_path: Path, seam: str
) -> None:
    key_path.parent.mkdir()
    key_path.write_bytes(b"o" * 32)
    place = tmp_path / "coilclaw.db"
    done = subprocess.run([sys.executable, "-c", DIES, place, key_path, seam], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with opened(tmp_path) as database:
        if seam in ("link", "keep_key", "begin_log"):
            with pytest.raises(LogMissing):
                found_log(database, key_path)
            restart_log(database, key_path, RESTARTED)
        with ReceiptLog(database, found_log(database, key_path)) as log:
            assert [receipt.type for receipt in log.latest(9)] == ["log.restarted"]
            assert log.verify().ok
    (kept,) = key_path.parent.glob("*.lost")
    assert kept.read_bytes() == b"o" * 32
    assert {file.name for file in key_path.parent.iterdir()} == {key_path.name, kept.name}


def test_a_damaged_key_is_named_and_not_replaced(tmp_path: Path, key_path: Path) -> None:
    key_path.parent.mkdir()
    key_path.write_bytes(b"short")
    with opened(tmp_path) as database, pytest.raises(OperatorError, match="not a receipt key"):
        found_log(database, key_path)
    assert key_path.read_bytes() == b"short"


def test_a_key_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with opened(tmp_path) as database, pytest.raises(OperatorError, match="receipt key"):
        found_log(database, tmp_path / "file" / "k")


@pytest.mark.req("R383")
def test_the_log_is_sealed_by_hmac_sha256_with_the_key_that_is_kept_here(tmp_path: Path) -> None:
    place = tmp_path / "receipts.key"
    with Database(tmp_path / "log.db", MIGRATIONS) as database:
        with ReceiptLog(database, found_log(database, place)) as log:
            log.append(Draft(type="a", status="allowed", timestamp=now()))
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
