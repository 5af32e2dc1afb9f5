"""`coilclaw run --retry-of`: a corrected snippet repeats no write, and a person sees what was reused."""

from __future__ import annotations

import pytest
from tests.cli.conftest import Command
from tests.cli.test_approvals import LEDGER, lines

FAILS = "tools.ledger.add(line='a'); 1/0"


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    coilclaw.tool("ledger/tools.py", LEDGER)
    return coilclaw


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_a_person_sees_what_was_reused(ready: Command, engine: str) -> None:
    first = ready("run", "-", "--yes", "--json", "--engine", engine, stdin=FAILS).json
    source = "[tools.ledger.add(line=each).value for each in 'ab']"
    again = ready("run", "-", "--yes", "--json", "--engine", engine, "--retry-of", first["run_id"], stdin=source)
    facts = again.json
    assert (again.code, facts["status"], facts["retry_of"]) == (0, "completed", first["run_id"])
    assert len(lines(ready)) == 2
    source_receipt = first["activity"][0]["receipt_ref"]
    assert [each["reused_from"] for each in facts["activity"]] == [source_receipt, None]
    shown = ready("run", "show", facts["run_id"])
    assert f"Retry of {first['run_id']}: 1 call reused." in shown.err
    assert f"not made again; it succeeded before: {source_receipt}" in shown.err
    assert 'ledger.add(line="a")' in shown.err
    assert ready("run", "show", facts["run_id"], "--json").json == facts
    assert ready("receipt", "verify").code == 0


def test_a_run_that_is_not_over_is_refused_with_a_sentence(ready: Command) -> None:
    waits = ready("run", "-", "--json", stdin=FAILS).json
    done = ready("run", "-", "--retry-of", waits["run_id"], stdin="1")
    assert (done.code, done.out) == (2, "")
    assert f"{waits['run_id']} is suspended, and may still make calls of its own" in done.err
    assert f"coilclaw cancel {waits['run_id']}" in done.err
    assert ready("run", "-", "--retry-of", "run-none", stdin="1").code == 2


@pytest.mark.parametrize("option", ["--dry-run", "--approve-plan"])
def test_a_rehearsal_is_no_retry(ready: Command, option: str) -> None:
    done = ready("run", "-", option, "--retry-of", "run-1", stdin="1")
    assert (done.code, "goes with neither" in done.err) == (2, True)


def test_a_write_that_may_be_a_repetition_is_warned_about(ready: Command) -> None:
    first = ready("run", "-", "--yes", "--json", stdin=FAILS).json
    ready.tool("ledger/tools.py", LEDGER + "\n# changed\n")
    done = ready("run", "-", "--yes", "--json", "--retry-of", first["run_id"], stdin="\ntools.ledger.add(line='a')")
    (warning,) = done.json["warnings"]
    assert (warning["kind"], warning["line"]) == ("repeated_write", 2)
    assert "the tool has changed since" in warning["message"]
    assert len(lines(ready)) == 2
    shown = ready("run", "show", done.json["run_id"])
    assert "Warning: ledger.add was called although the same call of" in shown.err
