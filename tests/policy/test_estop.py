"""The file that stops everything: in doubt it is set."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from coilclaw.policy import EmergencyStop, StopState
from coilclaw.sdk import OperatorError

WHEN = "2026-02-03T04:05:06.000000Z"


@pytest.fixture
def stop(tmp_path: Path) -> EmergencyStop:
    return EmergencyStop.of_home(tmp_path / "home")


def test_nothing_is_stopped_without_the_file(stop: EmergencyStop) -> None:
    assert stop() is None
    stop.path.parent.mkdir()
    assert stop() is None
    assert stop.clear() is False


@pytest.mark.req("R476", "R480")
def test_the_file_says_who_stopped_everything_when_and_why(stop: EmergencyStop) -> None:
    assert stop.set(who="kim", reason="it mails everyone", when=WHEN) is True
    assert stop.path.name == "ESTOP"
    assert stat.S_IMODE(stop.path.stat().st_mode) == 0o600
    assert json.loads(stop.path.read_text()) == {"when": WHEN, "who": "kim", "reason": "it mails everyone"}
    assert stop() == f"kim stopped all tools at {WHEN}: it mails everyone"
    assert stop.clear() is True
    assert stop() is None
    assert not stop.path.exists()


def test_a_second_stop_leaves_the_first_as_it_is(stop: EmergencyStop) -> None:
    stop.set(who="kim", reason="first", when=WHEN)
    assert stop.set(who="lee", reason="second", when=WHEN) is False
    assert stop.found() == StopState(when=WHEN, who="kim", reason="first")


def _fifo(path: Path) -> None:
    os.mkfifo(path)


ODD: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.touch(),
    "garbage": lambda path: path.write_bytes(b"\xff\x00{"),
    "another value": lambda path: path.write_text("[1]"),
    "other fields": lambda path: path.write_text("{}"),
    "wrong types": lambda path: path.write_text('{"when": 1, "who": [], "reason": {}}'),
    "nested": lambda path: path.write_text("[" * 10_000),
    "huge": lambda path: path.write_text('{"reason": "' + "x" * 1_000_000),
    "not to be read": lambda path: path.touch(mode=0),
    "folder": lambda path: path.mkdir(),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to("ESTOP"),
    "link to a folder": lambda path: path.symlink_to("."),
    "pipe": _fifo,
}


@pytest.mark.req("R477")
@pytest.mark.parametrize("make", ODD.values(), ids=ODD.keys())
def test_whatever_has_the_name_stops_everything(stop: EmergencyStop, make: Callable[[Path], object]) -> None:
    stop.path.parent.mkdir()
    make(stop.path)
    reason = stop()
    assert reason is not None
    assert "stopped all tools" in reason
    assert len(reason) < 1000
    assert stop.set(who="kim", reason=None, when=WHEN) is False
    assert stop.clear() is True
    assert stop() is None


def test_a_link_is_not_followed_when_it_is_read_set_or_cleared(stop: EmergencyStop, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text('{"when": null, "who": "mallory", "reason": "told from elsewhere"}')
    stop.path.parent.mkdir()
    stop.path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert "mallory" not in str(stop())
    stop.set(who="kim", reason=None, when=WHEN)
    stop.clear()
    assert elsewhere.read_bytes() == before


def test_a_folder_with_something_in_it_is_left_to_a_person(stop: EmergencyStop) -> None:
    (stop.path / "inside").mkdir(parents=True)
    with pytest.raises(OperatorError, match="a folder with something in it") as raised:
        stop.clear()
    assert raised.value.hint == "remove it by hand"
    assert stop() is not None


@pytest.mark.parametrize("home", ["file", "loop", "x" * 5000, "nul\0"], ids=["file", "loop", "long", "nul"])
def test_a_home_that_cannot_be_looked_into_counts_as_stopped(tmp_path: Path, home: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    assert "cannot be looked at" in str(EmergencyStop.of_home(tmp_path / home)())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_home_without_permission_counts_as_stopped(stop: EmergencyStop) -> None:
    stop.path.parent.mkdir(mode=0)
    try:
        assert "PermissionError" in str(stop())
        with pytest.raises(OperatorError, match="nothing is stopped"):
            stop.set(who="kim", reason=None, when=WHEN)
    finally:
        stop.path.parent.chmod(0o700)


def test_a_stop_that_cannot_be_set_is_said_loudly(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OperatorError, match="nothing is stopped"):
        EmergencyStop.of_home(tmp_path / "file/home").set(who="kim", reason=None, when=WHEN)


def test_a_reason_cannot_control_a_terminal_or_fill_a_receipt(stop: EmergencyStop) -> None:
    stop.set(who="kim\x1b[2J", reason="a\r\n\x07b" + "c" * 10_000, when=WHEN)
    found = stop.found()
    assert found is not None
    assert found.who == "kim�[2J"
    assert found.reason is not None
    assert found.reason.startswith("a �bccc")
    assert len(found.reason) <= 501
    stop.path.write_text(json.dumps({"when": "\x1b]0;x\x07", "who": "k" * 5000, "reason": None}))
    assert str(stop()).isprintable()
    assert len(str(stop())) < 300


def test_a_full_disk_stops_everything_too(stop: EmergencyStop) -> None:
    """No byte can be written to any file; a name in a folder needs none."""
    code = f"""
from pathlib import Path
from coilclaw.policy import EmergencyStop
print(EmergencyStop(Path({str(stop.path)!r})).set(who="kim", reason="x", when="now"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"True\n"
    assert stop.path.read_bytes() == b""
    assert "does not say why" in str(stop())


def test_of_many_that_set_at_once_one_has_set_it_and_of_many_that_clear_one_has_cleared_it(
    stop: EmergencyStop,
) -> None:
    def at_once(act: Callable[[], bool]) -> list[bool]:
        barrier = threading.Barrier(16)
        results: list[bool] = []

        def one() -> None:
            barrier.wait()
            try:
                results.append(act())
            except OperatorError:  # Gone between looking and removing.
                results.append(False)

        threads = [threading.Thread(target=one) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    for _ in range(20):
        assert sum(at_once(lambda: stop.set(who="kim", reason=None, when=WHEN))) == 1
        assert stop() is not None
        assert sum(at_once(stop.clear)) == 1
        assert stop() is None
