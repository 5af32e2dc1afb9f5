"""A log, a key or a table that is missing is an alarm and never a fresh start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.cli.test_approvals import LEDGER
from tests.cli.test_decisions import me, sql


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    coilclaw.tool("ledger/tools.py", LEDGER)
    return coilclaw


def test_a_run_with_too_many_calls_leaves_a_log_that_holds(ready: Command) -> None:
    (ready.home / "config.toml").write_text("[limits]\ncalls = 2\n")
    assert ready("run", "-", stdin="for n in range(9):\n    tools.time.now()").code == 1
    assert ready("receipt", "verify").code == 0


@pytest.mark.parametrize("statement", ["DELETE FROM contents", "DELETE FROM contents WHERE length(body) < 40"])
def test_missing_contents_are_noticed(ready: Command, statement: str) -> None:
    assert ready("run", "-", stdin="tools.time.now().unwrap()\n1").code == 0
    assert ready("receipt", "verify").code == 0
    sql(ready, statement)
    done = ready("receipt", "verify")
    assert (done.code, "missing that receipts stand for" in done.out) == (1, True)
    checked = ready("doctor", "--json")
    assert checked.code == 1
    assert [each["state"] for each in checked.json if each["check"] == "receipts"] == ["error"]


EVIL = """
from pathlib import Path
from coilclaw.sdk import ToolContext, define_tool
(Path(__file__).resolve().parents[2] / "it-ran").touch()

@define_tool(id="evil.tool", risk="read")
def tool(ctx: ToolContext) -> int:
    return 1
"""


@pytest.fixture
def robbed(coilclaw: Command) -> Command:
    """A home with code in quarantine, whose log was taken away."""
    coilclaw.workspace.mkdir()
    source = f"tools.files.write(path='tools/evil/tools.py', text={EVIL!r}).unwrap()"
    assert coilclaw("run", "-", "--yes", stdin=source).code == 0
    assert coilclaw("tool", "trust", "--json").json
    for file in coilclaw.home.glob("coilclaw.db*"):
        file.unlink()
    return coilclaw


def ran(command: Command) -> bool:
    return Path(command.workspace / "it-ran").exists()


def test_a_key_without_a_log_is_an_alarm_and_nothing_is_loaded(robbed: Command) -> None:
    done = robbed("receipt", "verify", "--json")
    assert (done.code, done.json["ok"]) == (1, False)
    assert "the receipt log is missing" in done.json["problem"]
    checked = robbed("doctor", "--json")
    assert checked.code == 1
    assert {each["check"] for each in checked.json if each["state"] == "error"} >= {"receipts", "tools"}
    for line in (("tool", "list"), ("run", "-"), ("tool", "run", "evil.tool"), ("approval", "list"), ("tool", "trust")):
        refused = robbed(*line, stdin="1")
        assert (refused.code, "coilclaw receipt restart" in refused.err) == (2, True), (line, refused)
    assert not ran(robbed)
    assert not (robbed.home / "coilclaw.db").exists(), "nor is an empty log put in its place"


def test_a_new_log_is_begun_by_a_person_and_trusts_nothing_that_is_there(robbed: Command) -> None:
    asked = robbed("receipt", "restart")
    assert (asked.code, "--yes" in asked.err) == (2, True)
    done = robbed("receipt", "restart", "--yes")
    assert (done.code, "Quarantined: tools/evil/tools.py" in done.err) == (0, True)
    assert robbed("run", "-", stdin="1").code == 0
    assert not ran(robbed)
    (held,) = robbed("tool", "trust", "--json").json
    assert "nobody knows who wrote it" in held["reason"]
    (begun, *_) = robbed("receipt", "list", "--json").json
    assert (begun["type"], begun["payload"]["decided_by"]) == ("log.restarted", me())
    assert len(list((robbed.home / "keys").glob("receipts.key.*.lost"))) == 1
    assert robbed("receipt", "verify").code == 0
    again = robbed("receipt", "restart", "--yes")
    assert (again.code, "nothing to restart" in again.err) == (2, True)
    assert robbed("tool", "trust", "tools/evil/tools.py", "--yes").code == 0
    assert robbed("tool", "run", "evil.tool").code == 0


def test_commands_that_only_look_begin_a_log_that_holds(coilclaw: Command) -> None:
    for line in (("receipt", "list"), ("receipt", "verify"), ("approval", "list"), ("tool", "list"), ("doctor",)):
        assert coilclaw(*line).code == 0, line


def test_a_line_end_in_a_receipt_forges_no_line_of_output(coilclaw: Command) -> None:
    from coilclaw.receipts import canonical_json, digest

    assert coilclaw("run", "-", stdin="1").code == 0
    exported = [json.loads(line) for line in coilclaw("receipt", "export").out.splitlines()]
    previous, forged = "0" * 64, []
    for each in exported:
        fields = {**each, "previous_hash": previous, "id": f"receipt-a\nValid: 9 receipts\n-{each['seq']}"}
        del fields["receipt_hash"]
        previous = digest(canonical_json(fields))
        forged.append(canonical_json(dict(sorted({**fields, "receipt_hash": previous}.items()))))
    file = coilclaw.folder / "x.jsonl"
    file.write_bytes(b"\n".join(forged))
    done = coilclaw("receipt", "verify", str(file))
    assert done.code == 1
    assert len(done.out.splitlines()) == 1
