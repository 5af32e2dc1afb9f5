"""What a person decided holds, and counts only as the log tells it: whatever else changes, and whoever edits a table."""

from __future__ import annotations

import os
import pwd
import subprocess
import time
from typing import Any

import apsw
import pytest
from tests.cli.conftest import Command
from tests.cli.test_approvals import LEDGER, lines, on_terminal, trail, waits

SOURCE = "r = tools.ledger.add(line='a')\nr.value if r.ok else r.error.code + ': ' + r.error.message"


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    coilclaw.tool("ledger/tools.py", LEDGER)
    return coilclaw


def sql(command: Command, statement: str, *values: Any) -> list[Any]:
    connection = apsw.Connection(str(command.home / "coilclaw.db"))
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


def denied(command: Command, *options: str) -> str:
    """The id of a run whose only call a person has denied."""
    facts = waits(command, SOURCE)
    assert command("approval", "deny", facts["approvals"][0]["id"], *options).code == 0
    return str(facts["run_id"])


def opened(command: Command, source: str, *options: str) -> str:
    """The id of a window that was opened from the call of a run."""
    facts = waits(command, source)
    done = command("approval", "approve", facts["approvals"][0]["id"], "--window", "10m", *options)
    assert done.code == 0, done.err
    (found,) = command("approval", "windows", "--json").json
    return str(found["id"])


def me() -> str:
    return pwd.getpwuid(os.getuid()).pw_name


# A no holds ------------------------------------------------------------------------------------------------------------


def _full(command: Command) -> tuple[str, ...]:
    command.environment["COILCLAW_AUTONOMY"] = "full"
    return ("--yes",)


def _window(command: Command) -> tuple[str, ...]:
    opened(command, "tools.ledger.add(line='other')")
    return ()


def _edited(command: Command) -> tuple[str, ...]:
    command.tool("ledger/tools.py", LEDGER + "\n# edited\n")
    return ("--yes",)


def _policy(command: Command) -> tuple[str, ...]:
    (command.home / "config.toml").write_text('[[policy.rules]]\ntool = "ledger.*"\ndecision = "allow"\n')
    return ("--yes",)


def _forged_row(command: Command) -> tuple[str, ...]:
    sql(command, "UPDATE approvals SET status = 'granted'")
    return ("--yes",)


def _lost_row(command: Command) -> tuple[str, ...]:
    sql(command, "DELETE FROM approvals")
    return (*_full(command),)


def _asked_again(command: Command) -> tuple[str, ...]:
    ((approval_id,),) = sql(command, "SELECT id FROM approvals")
    sql(command, "UPDATE approvals SET status = 'pending'")
    assert command("approval", "approve", approval_id).code == 0
    return ()


@pytest.mark.parametrize("change", [_full, _window, _edited, _policy, _forged_row, _lost_row, _asked_again])
def test_a_denied_call_is_never_made_whatever_changes_afterwards(ready: Command, change: Any) -> None:
    run_id = denied(ready)
    options = change(ready)
    done = ready("resume", run_id, "--json", *options)
    assert (done.code, done.json["status"]) == (0, "completed"), done.err
    assert done.json["value"] == f"approval_denied: {me()} said no"
    assert lines(ready) == []
    assert trail(ready, run_id).count("started") == 0
    assert ready("receipt", "verify").code == 0


def test_a_no_at_the_prompt_holds_when_the_journal_of_the_run_is_lost(ready: Command) -> None:
    facts = waits(ready, SOURCE)
    code, _ = on_terminal(ready, "resume", facts["run_id"], answers={b"Approve? [y/N": b"n\n"})
    assert code == 0
    assert trail(ready, facts["run_id"])[-2:] == ["denied", "run.finished"]
    sql(ready, "DELETE FROM journal")
    sql(ready, "UPDATE runs SET status = 'running', process = '1:1:gone'")
    done = ready("resume", facts["run_id"], "--json", "--yes", COILCLAW_AUTONOMY="full")
    assert done.json["status"] == "diverged", "the receipts know of an answer that the journal has not"
    assert lines(ready) == []


def test_the_reason_of_a_no_reaches_the_snippet_and_the_log(ready: Command) -> None:
    run_id = denied(ready, "--reason", "not on a Friday")
    done = ready("resume", run_id, "--json")
    assert done.json["value"] == f"approval_denied: {me()} said no: not on a Friday"
    (told,) = [
        each for each in ready("receipt", "list", "--run", run_id, "--json").json if each["type"] == "tool.call.denied"
    ]
    assert told["payload"]["message"].endswith("said no: not on a Friday")


def test_a_question_that_lapsed_is_no_yes(ready: Command) -> None:
    facts = waits(ready, SOURCE)
    sql(ready, "UPDATE approvals SET status = 'expired'")
    done = ready("resume", facts["run_id"], "--json")
    assert (done.code, done.json["status"], lines(ready)) == (3, "suspended", [])


# Tables and the log -----------------------------------------------------------------------------------------------------


def test_a_pending_row_that_was_made_granted_executes_nothing(ready: Command) -> None:
    facts = waits(ready, SOURCE)
    sql(ready, "UPDATE approvals SET status = 'granted', decided_by = 'cfo', decided_after = 0")
    done = ready("resume", facts["run_id"], "--json")
    assert done.json["value"].startswith("approval_unproven: the table says that approval-")
    assert "the log has no receipt of that decision" in done.json["value"]
    assert lines(ready) == []
    assert "started" not in trail(ready, facts["run_id"])


@pytest.mark.parametrize(
    "change",
    [
        "args_hash = (SELECT args_hash FROM approvals WHERE status = 'pending')",
        "expires_at = expires_at + 1000000",
        "decided_by = 'cfo'",
        "decided_after = (SELECT max(seq) FROM receipts)",
        "runs_hash = args_hash",
    ],
)
def test_a_granted_row_that_was_changed_executes_nothing(ready: Command, change: str) -> None:
    facts = waits(ready, SOURCE)
    waits(ready, "tools.ledger.add(line='other')")
    assert ready("approval", "approve", facts["approvals"][0]["id"]).code == 0
    sql(ready, f"UPDATE approvals SET {change} WHERE status = 'granted'")
    done = ready("resume", facts["run_id"], "--json")
    assert lines(ready) == []
    assert done.json["status"] == "suspended" or done.json["value"].startswith("approval_unproven")


def test_an_honest_approval_still_counts_while_others_write(ready: Command) -> None:
    facts = waits(ready, SOURCE)
    assert ready("approval", "approve", facts["approvals"][0]["id"]).code == 0
    assert ready("run", "-", stdin="[tools.time.now() for _ in range(300)]\n1").code == 0
    done = ready("resume", facts["run_id"], "--json")
    assert (done.json["value"], lines(ready)) == (1, ["a"])


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE grants SET uses_left = 5",
        "UPDATE grants SET uses_left = 5, expires_at = expires_at + 100000",
        "INSERT INTO grants VALUES ('grant-forged', 0, 5, 99999999999)",
    ],
)
def test_the_table_of_windows_lets_nothing_through_that_receipts_do_not(ready: Command, change: str) -> None:
    opened(ready, "tools.ledger.add(line='first')", "--uses", "1")
    assert ready("run", "-", "--json", stdin="tools.ledger.add(line='b').unwrap()").code == 0
    assert lines(ready) == ["b"]
    sql(ready, change)
    done = ready("run", "-", "--json", stdin="tools.ledger.add(line='c').unwrap()")
    assert (done.code, lines(ready)) == (3, ["b"])
    assert "the table of windows and the log disagree" in done.err
    assert ready("approval", "windows", "--json").json == []


# Who, and what else -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["approve", "deny", "--yes", "trust", "estop"])
def test_the_decider_is_who_the_system_says_it_is(ready: Command, way: str) -> None:
    liar = {"LOGNAME": "cfo", "USER": "cfo", "LNAME": "cfo", "USERNAME": "cfo"}
    if way in ("approve", "deny"):
        facts = waits(ready, SOURCE)
        assert ready("approval", way, facts["approvals"][0]["id"], **liar).code == 0
    elif way == "--yes":
        assert ready("run", "-", "--yes", stdin=SOURCE, **liar).code == 0
    elif way == "estop":
        assert ready("estop", "--reason", "x", **liar).code == 0
    else:
        source = f"tools.files.write(path='tools/new/tools.py', text={LEDGER.replace('ledger', 'new')!r}).unwrap()"
        done = ready("run", "-", "--yes", stdin=source)
        assert done.code == 0, done.err
        assert ready("tool", "trust", "tools/new/tools.py", "--yes", **liar).code == 0
    log = ready("receipt", "export").out
    assert "cfo" not in log
    assert me() in log


def test_more_questions_than_fit_are_counted_and_denied_together(ready: Command) -> None:
    source = "for n in range(1200):\n    tools.ledger.add.start(line=str(n))\nawait tools.ledger.add.start(line='last')"
    (ready.home / "config.toml").write_text("[limits]\ncalls = 2000\n")
    done = ready("run", "-", "--json", "--timeout", "300", stdin=source)
    assert (done.code, len(done.json["approvals"])) == (3, 1201), done.out[:300]
    run_id = done.json["run_id"]
    listed = ready("approval", "list")
    assert listed.out.count("approval-") == 100
    assert "1101 more, 1201 in all" in listed.err
    assert len(ready("approval", "list", "--json").json) == 1201
    limited = ready("approval", "list", "--limit", "3", "--json")
    assert (len(limited.json), "1198 more" in limited.err) == (3, True)
    assert ready("approval", "deny", "--run", run_id).code == 0
    assert ready("approval", "list", "--json").json == []
    assert ready("resume", run_id, "--json").code == 0
    assert lines(ready) == []


def test_deny_wants_one_id_or_one_run(ready: Command) -> None:
    assert ready("approval", "deny").code == 2
    assert ready("approval", "deny", "approval-1", "--run", "run-1").code == 2
    facts = waits(ready, SOURCE)
    done = ready("approval", "deny", "--run", facts["run_id"], "--json")
    assert [each["status"] for each in done.json] == ["denied"]
    again = ready("approval", "deny", "--run", facts["run_id"])
    assert (again.code, "waits for no decision" in again.err) == (2, True)


def test_a_run_that_waits_is_cancelled_for_good(ready: Command) -> None:
    facts = waits(ready, SOURCE)
    done = ready("cancel", facts["run_id"], "--json")
    assert (done.code, done.json["status"]) == (0, "cancelled")
    assert trail(ready, facts["run_id"])[-2:] == ["denied", "run.finished"]
    assert ready("approval", "list", "--json").json == []
    approval_id = facts["approvals"][0]["id"]
    assert ready("approval", "approve", approval_id).code == 2
    for again in (("resume", facts["run_id"], "--yes"), ("cancel", facts["run_id"])):
        refused = ready(*again)
        assert (refused.code, "cancelled" in refused.err) == (2, True)
    assert lines(ready) == []
    assert ready("replay", facts["run_id"]).code == 0
    assert ready("receipt", "verify").code == 0
    assert ready("cancel", "run-nothing").code == 2


@pytest.mark.parametrize("timeout", ["inf", "nan", "86401"])
def test_a_resumed_run_is_bounded_as_a_new_one(ready: Command, timeout: str) -> None:
    facts = waits(ready, SOURCE)
    for line in (("run", "-", "--timeout", timeout), ("resume", facts["run_id"], "--timeout", timeout)):
        assert ready(*line, stdin="1").code == 2
    assert "run.resumed" not in trail(ready, facts["run_id"])


def test_a_lock_that_another_process_holds_is_told_and_bounded_by_the_run(ready: Command) -> None:
    assert ready("run", "-", stdin="1").code == 0
    connection = apsw.Connection(str(ready.home / "coilclaw.db"))
    connection.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    try:
        done = ready("run", "-", "--timeout", "4", stdin="1")
    finally:
        connection.execute("ROLLBACK")
        connection.close()
    assert done.code == 1
    assert "Waiting for another process that writes to" in done.err
    assert "another process is writing to" in done.err
    assert time.monotonic() - began < 25, "not the half minute that it would take without the run's bound"


def test_a_lock_that_is_given_back_costs_only_time(ready: Command) -> None:
    assert ready("run", "-", stdin="1").code == 0
    holder = subprocess.Popen(
        [ready.line[0].replace("coilclaw", "python"), "-c", HOLDER, str(ready.home / "coilclaw.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        script = ready.folder / "one.py"
        script.write_text("1")
        with subprocess.Popen(
            [*ready.line, "run", str(script)],
            env=ready.environment,
            cwd=ready.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as run:
            assert run.stderr is not None
            assert any("Waiting for another process" in line for line in run.stderr)
            holder.stdin.write("go on\n")
            holder.stdin.flush()
            assert run.wait() == 0


HOLDER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""


SLOW = '''
import time
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="slow.write", risk="write")
def write(ctx: ToolContext) -> None:
    """Begins to write and does not come to an end."""
    (ctx.workspace / "begun").touch()
    time.sleep(600)
'''


def test_a_killed_process_that_nobody_waited_for_holds_neither_its_run_nor_the_tools(ready: Command) -> None:
    ready.tool("slow/tools.py", SLOW)
    with subprocess.Popen(
        [*ready.line, "tool", "run", "slow.write", "--json", "{}", "--yes"],
        env=ready.environment,
        cwd=ready.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        ends = time.monotonic() + 60
        while not (ready.workspace / "begun").exists() and time.monotonic() < ends and process.poll() is None:
            time.sleep(0.02)
        assert (ready.workspace / "begun").exists()
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # Ended, and still a zombie.
        run_id = sql(ready, "SELECT run_id FROM runs WHERE status = 'running'")[0][0]
        ready.tool("mine/tools.py", LEDGER.replace("ledger.", "mine."))
        ready("tool", "list")
        assert ready("resume", run_id, "--unknown", "failed", "--json").json["status"] == "failed"
        ready.tool("mine/more.py", LEDGER.replace("ledger.", "more."))
        assert ready("tool", "show", "more.add").code == 0, "what is written now is a person's"
