"""`coilclaw estop`: the file first, the receipt afterwards, in every process at once."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, Done

HANGS = """
import time
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="local.hang", risk="read")
def hang(ctx: ToolContext) -> None:
    (ctx.workspace / "began").touch()
    while not ctx.cancelled:
        time.sleep(0.01)
    (ctx.workspace / "gave-up").touch()
    ctx.raise_if_cancelled()
"""


def until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def started(coilclaw: Command, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*coilclaw.line, *args],
        env=coilclaw.environment,
        cwd=coilclaw.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def receipts(coilclaw: Command, kind: str) -> list[dict[str, Any]]:
    return [each for each in coilclaw("receipt", "list", "--json", "--limit", 1000).json if each["type"] == kind]


def stop_file(coilclaw: Command) -> Path:
    return coilclaw.home / "ESTOP"


@pytest.mark.req("R476", "R480")
def test_it_is_set_shown_and_cleared_with_receipts(coilclaw: Command) -> None:
    done = coilclaw("estop", "--reason", "it mails\n everyone")
    assert (done.code, done.out) == (0, "")
    assert done.err == "All tools are stopped. `coilclaw estop --clear` ends it.\n"
    file = stop_file(coilclaw)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["reason"] == "it mails everyone"
    (receipt,) = receipts(coilclaw, "estop.set")
    assert receipt["payload"]["reason"] == "it mails everyone"
    assert receipt["payload"]["decided_by"]

    shown = coilclaw("estop", "--status")
    assert shown.code == 1
    assert "it mails everyone" in shown.out
    assert coilclaw("estop", "--status", "--json").json["stopped"] is True

    done = coilclaw("estop", "--clear", "--reason", "fixed")
    assert (done.code, done.err) == (0, "Tools may be called again.\n")
    assert not file.exists()
    (receipt,) = receipts(coilclaw, "estop.cleared")
    assert receipt["payload"]["reason"] == "fixed"
    shown = coilclaw("estop", "--status")
    assert (shown.code, shown.out) == (0, "No stop is set.\n")
    assert coilclaw("receipt", "verify").code == 0


def test_clearing_what_is_not_set_says_so(coilclaw: Command) -> None:
    done = coilclaw("estop", "--clear")
    assert (done.code, done.err) == (0, "No stop is set.\n")
    assert coilclaw("estop", "--clear", "--json").json["changed"] is False
    assert receipts(coilclaw, "estop.cleared") == []


def test_setting_it_again_keeps_the_first_and_is_recorded(coilclaw: Command) -> None:
    first = coilclaw("estop", "--reason", "first", "--json").json
    again = coilclaw("estop", "--reason", "second", "--json").json
    assert (first["changed"], again["changed"]) == (True, False)
    assert (first["reason"], again["reason"]) == ("first", "first")
    assert [each["payload"]["already_set"] for each in receipts(coilclaw, "estop.set")] == [False, True]


def test_status_goes_with_nothing_else(coilclaw: Command) -> None:
    assert coilclaw("estop", "--status", "--clear").code == 2
    assert coilclaw("estop", "--status", "--reason", "x").code == 2


@pytest.mark.req("R477")
def test_a_snippet_runs_without_tools_and_the_person_is_told_once(coilclaw: Command) -> None:
    coilclaw("estop", "--reason", "enough")
    done = coilclaw("run", "-", stdin="r = tools.time.now()\n[1 + 1, r.error.code]")
    assert done.code == 0
    assert json.loads(done.out) == [2, "stopped"]
    assert done.err.count("Every call is refused until `coilclaw estop --clear`.") == 1
    direct = coilclaw("tool", "run", "time.now")
    assert direct.code != 0
    assert "stopped all tools" in direct.err


def test_doctor_mentions_it(coilclaw: Command) -> None:
    assert "estop" not in coilclaw("doctor").out
    stop_file(coilclaw).mkdir()  # Made by hand, and badly.
    done = coilclaw("doctor", "--json")
    (finding,) = [each for each in done.json if each["check"] == "estop"]
    assert finding["state"] == "warning"
    assert "estop --clear" in finding["hint"]


@pytest.mark.req("R478")
def test_a_call_in_another_process_is_cancelled(coilclaw: Command) -> None:
    coilclaw.tool("local/tools.py", HANGS)
    (coilclaw.folder / "snippet.py").write_text("tools.local.hang()\nprint('went on')")
    running = started(coilclaw, "run", "snippet.py")
    try:
        until((coilclaw.workspace / "began").exists)
        assert coilclaw("estop", "--reason", "enough").code == 0
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
        running.communicate()
    assert running.returncode == 130
    assert b"went on" not in out
    assert b"stopped all tools" in err
    assert (coilclaw.workspace / "gave-up").exists()
    (finished,) = receipts(coilclaw, "run.finished")
    assert finished["status"] == "cancelled"
    assert "enough" in finished["payload"]["stopped"]
    assert coilclaw("receipt", "verify").code == 0


# When other things are broken -----------------------------------------------------------------------------


def broken(coilclaw: Command, what: str) -> None:
    if what == "configuration":
        (coilclaw.home / "config.toml").write_text("autonomy = [")
    elif what == "database":
        (coilclaw.home / "coilclaw.db").write_bytes(b"not a database" * 1000)
    elif what == "folder for the database":
        (coilclaw.home / "coilclaw.db").mkdir()
    else:
        coilclaw("run", "-", stdin="1")
        (coilclaw.home / "keys/receipts.key").unlink()


BROKEN = ["configuration", "database", "folder for the database", "key"]


@pytest.mark.parametrize("what", BROKEN)
def test_it_works_when_no_receipt_can_be_written_and_says_so(coilclaw: Command, what: str) -> None:
    broken(coilclaw, what)
    done = coilclaw("estop", "--reason", "enough")
    assert done.code == 0
    assert json.loads(stop_file(coilclaw).read_text())["reason"] == "enough"
    assert "the stop holds, but its receipt could not be written" in done.err
    told = coilclaw("estop", "--json")
    assert told.code == 0
    assert told.json["stopped"] is True
    assert told.json["receipt"] is None
    assert told.json["problem"]


@pytest.mark.parametrize("what", BROKEN)
def test_it_is_not_ended_without_a_receipt(coilclaw: Command, what: str) -> None:
    broken(coilclaw, what)
    coilclaw("estop")
    done = coilclaw("estop", "--clear")
    assert done.code == 2
    assert "the stop still holds" in done.err
    assert str(stop_file(coilclaw)) in done.err
    assert stop_file(coilclaw).exists()


def test_a_stop_that_cannot_be_set_is_an_error(coilclaw: Command) -> None:
    (coilclaw.folder / "file").touch()
    done = coilclaw("estop", COILCLAW_HOME=str(coilclaw.folder / "file/home"))
    assert done.code == 2
    assert "nothing is stopped" in done.err


def test_it_holds_when_its_process_is_killed_before_the_receipt(coilclaw: Command) -> None:
    coilclaw("run", "-", stdin="1")
    holder = sqlite3.connect(coilclaw.home / "coilclaw.db", isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")  # Whoever writes a receipt waits for this.
        setting = started(coilclaw, "estop", "--reason", "enough")
        assert setting.stderr is not None
        assert b"All tools are stopped" in setting.stderr.readline()
        setting.send_signal(signal.SIGKILL)
        setting.communicate()
        assert setting.returncode == -signal.SIGKILL
    finally:
        holder.close()
    assert receipts(coilclaw, "estop.set") == []
    assert coilclaw("tool", "run", "time.now").code != 0
    coilclaw("estop")  # Makes up for the receipt.
    assert len(receipts(coilclaw, "estop.set")) == 1
    assert coilclaw("estop", "--clear").code == 0
    assert coilclaw("tool", "run", "time.now").code == 0


def test_a_clearing_that_is_killed_before_its_receipt_clears_nothing(coilclaw: Command) -> None:
    coilclaw("estop")
    holder = sqlite3.connect(coilclaw.home / "coilclaw.db", isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        clearing = started(coilclaw, "estop", "--clear")
        until(lambda: "coilclaw.db" in _open_files(clearing.pid))
        clearing.kill()
        clearing.communicate()
    finally:
        holder.close()
    assert stop_file(coilclaw).exists()
    assert receipts(coilclaw, "estop.cleared") == []


def _open_files(pid: int) -> set[str]:
    names = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            names.add(Path(os.readlink(link)).name)
        except OSError:
            continue
    return names


def test_processes_that_set_and_clear_at_once_leave_a_whole_log(coilclaw: Command) -> None:
    coilclaw("estop", "--clear")
    calls = [started(coilclaw, "estop", *(("--clear",) if number % 2 else ()), "--json") for number in range(4)]
    outcomes = []
    for call in calls:
        out, err = call.communicate()
        done = Done(call.returncode, out.decode(), err.decode())
        assert done.code in (0, 2)
        assert "Traceback" not in done.err
        outcomes.append(done)
    changed = [json.loads(done.out)["changed"] for done in outcomes if done.out]
    assert any(changed)
    assert coilclaw("receipt", "verify").code == 0
    assert coilclaw("estop", "--json").json["stopped"] is True
    assert coilclaw("estop", "--clear", "--json").json["stopped"] is False
