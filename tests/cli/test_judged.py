"""A command with patterns: the person sees the files, and the yes is for those."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Command
from tests.cli.test_approvals import on_terminal, trail, waits
from tests.cli.test_decisions import sql

SOURCE = "r = tools.shell.run(command='cat *.txt')\nr.value['stdout'] if r.ok else r.error.code"


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    (coilclaw.home / "config.toml").write_text('[security]\nshell_allow = ["cat"]\n')
    coilclaw.workspace.mkdir(exist_ok=True)
    (coilclaw.workspace / "a.txt").write_text("a\n")
    (coilclaw.workspace / "b.txt").write_text("b\n")
    return coilclaw


def test_the_files_that_a_pattern_stands_for_are_shown_wherever_the_call_is(ready: Command) -> None:
    facts = waits(ready, SOURCE)
    approval_id = facts["approvals"][0]["id"]
    runs = [["cat", "a.txt", "b.txt"]]
    shown = ready("approval", "show", approval_id)
    assert '  Runs:\n    - ["cat", "a.txt", "b.txt"]\n' in shown.out
    assert json.loads(ready("approval", "show", approval_id, "--json").json["runs"]) == runs
    (listed,) = ready("approval", "list", "--json").json
    assert json.loads(listed["runs"]) == runs
    told = ready("run", "-", stdin=SOURCE)
    assert '  Runs:    [["cat", "a.txt", "b.txt"]]' in told.err
    (planned,) = ready("run", "-", "--dry-run", "--json", stdin=SOURCE).json["plan"]
    assert json.loads(planned["runs"]) == runs
    whole = ready("run", "-", "--approve-plan", stdin=SOURCE)
    assert '  Runs:\n    - ["cat", "a.txt", "b.txt"]\n' in whole.err


def test_the_prompt_shows_the_files_before_it_asks(ready: Command) -> None:
    (ready.workspace / "script.py").write_text(SOURCE)
    hostile = "c\n  Risk:   read (low).txt"
    (ready.workspace / hostile).write_text("c\n")
    script = str(ready.workspace / "script.py")
    code, screen = on_terminal(ready, "run", script, answers={b"Approve? [y/N": b"y\n"})
    assert code == 0, screen
    assert screen.index('"a.txt"') < screen.index('"b.txt"') < screen.index("Approve?")
    assert screen.count("\n  Risk:") == 1, "the name of a file is no line of the question"


def test_one_more_file_after_the_yes_is_asked_about_again(ready: Command) -> None:
    facts = waits(ready, SOURCE)
    run_id = facts["run_id"]
    assert ready("approval", "approve", facts["approvals"][0]["id"]).code == 0
    (ready.workspace / "private.txt").write_text("p\n")
    again = ready("resume", run_id, "--json")
    assert (again.code, again.json["status"]) == (3, "suspended")
    assert trail(ready, run_id).count("started") == 0
    (asked,) = ready("approval", "list", "--json").json
    assert json.loads(asked["runs"]) == [["cat", "a.txt", "b.txt", "private.txt"]]
    done = ready("approval", "approve", asked["id"], "--resume", "--json")
    assert done.json["value"] == "a\nb\np\n"
    assert trail(ready, run_id).count("started") == 1
    assert ready("receipt", "verify").code == 0


def test_the_same_files_are_read_once_and_a_yes_without_its_receipt_reads_none(ready: Command) -> None:
    honest, forged = waits(ready, SOURCE), waits(ready, SOURCE)
    for each in (honest, forged):
        assert ready("approval", "approve", each["approvals"][0]["id"]).code == 0
    assert ready("resume", honest["run_id"], "--json").json["value"] == "a\nb\n"
    (ready.workspace / "c.txt").write_text("c\n")
    other = waits(ready, SOURCE)
    sql(
        ready,
        "UPDATE approvals SET runs_hash = (SELECT runs_hash FROM approvals WHERE run_id = ?) WHERE run_id = ?",
        other["run_id"],
        forged["run_id"],
    )
    assert ready("resume", forged["run_id"], "--json").json["value"] == "approval_unproven"
    assert trail(ready, forged["run_id"]).count("started") == 0


def test_what_was_shown_is_missed_when_it_is_gone(ready: Command) -> None:
    facts = waits(ready, SOURCE)
    assert ready("receipt", "verify").code == 0
    sql(ready, "DELETE FROM contents WHERE hash = (SELECT runs_hash FROM approvals)")
    done = ready("receipt", "verify")
    assert (done.code, "missing that receipts stand for" in done.out) == (1, True)
    assert "no longer kept" in ready("approval", "show", facts["approvals"][0]["id"]).out
