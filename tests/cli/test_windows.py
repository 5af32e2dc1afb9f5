"""Windows on the command line: opened, listed, used up and closed."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Command
from tests.cli.test_approvals import LEDGER, lines, waits
from tests.cli.test_decisions import SOURCE, me, opened, sql


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    coilclaw.tool("ledger/tools.py", LEDGER)
    return coilclaw


def test_a_window_is_listed_named_by_explain_and_revoked(ready: Command) -> None:
    assert ready("approval", "windows", "--json").json == []
    window = opened(ready, "tools.ledger.add(line='a', book='x')", "--uses", "3", "--where", "book=x")
    (listed,) = ready("approval", "windows", "--json").json
    assert (listed["tool"], listed["arguments"], listed["uses_left"]) == ("ledger.add", {"book": "x"}, 3)
    assert (listed["granted_by"], listed["workspace"]) == (me(), str(ready.workspace))
    shown = ready("approval", "windows").out
    assert window in shown
    assert "3 of 3 uses" in shown
    arguments = json.dumps({"line": "b", "book": "x"})
    told = ready("policy", "explain", "ledger.add", "--json", arguments)
    assert f"Window {window} is open" in told.out
    as_json = ready("policy", "explain", "ledger.add", "--json", arguments, "--format", "json").json
    assert (as_json["decision"], as_json["window"]["id"]) == ("ask", window)
    other = json.dumps({"line": "b", "book": "y"})
    assert "Window" not in ready("policy", "explain", "ledger.add", "--json", other).out
    done = ready("approval", "revoke", window)
    assert (done.code, f"Closed {window}" in done.err) == (0, True)
    assert ready("approval", "windows", "--json").json == []
    assert ready("run", "-", stdin="tools.ledger.add(line='b', book='x').unwrap()").code == 3
    last = ready("receipt", "list", "--limit", "200", "--json").json
    (closed,) = [each for each in last if each["type"] == "approval.window.closed"]
    assert closed["payload"] == {"grant": window, "decided_by": me()}
    again = ready("approval", "revoke", window)
    assert (again.code, f"there is no open window '{window}'" in again.err) == (2, True)
    sql(ready, "UPDATE grants SET uses_left = 3")
    assert ready("run", "-", stdin="tools.ledger.add(line='b', book='x').unwrap()").code == 3, "it stays closed"
    assert lines(ready) == []


def test_a_window_is_for_one_workspace_one_version_and_one_policy(ready: Command) -> None:
    opened(ready, "tools.ledger.add(line='a')")
    other = ready.folder / "other"
    (other / "tools/ledger").mkdir(parents=True)
    (other / "tools/ledger/tools.py").write_text(LEDGER)
    call = "tools.ledger.add(line='b').unwrap()"
    assert ready("run", "-", "--workspace", str(other), stdin=call).code == 3
    (ready.home / "config.toml").write_text('[[policy.rules]]\ntool = "ledger.*"\ndecision = "ask"\n')
    assert ready("run", "-", stdin=call).code == 3, "another policy"
    (ready.home / "config.toml").unlink()
    ready.tool("ledger/tools.py", LEDGER + "\n# edited\n")
    assert ready("run", "-", stdin=call).code == 3, "another version"
    assert lines(ready) == []
    ready.tool("ledger/tools.py", LEDGER)
    assert ready("run", "-", stdin=call).code == 0
    assert lines(ready) == ["b"]


@pytest.mark.parametrize(
    ("tool", "policy", "changed"),
    [
        (True, False, "the tool has changed since "),
        (False, True, "the policy has changed since "),
        (True, True, "the tool and the policy have changed since "),
    ],
)
def test_a_yes_that_does_not_count_any_more_is_asked_for_again_with_what_changed(
    ready: Command, tool: bool, policy: bool, changed: str
) -> None:
    facts = waits(ready, SOURCE)
    before = facts["approvals"][0]["id"]
    if tool:
        ready.tool("ledger/tools.py", LEDGER + "\n# edited\n")
    if policy:
        (ready.home / "config.toml").write_text('[[policy.rules]]\ntool = "ledger.*"\ndecision = "ask"\n')
    done = ready("approval", "approve", before, "--resume", "--json")
    assert done.code == 3
    (asked,) = ready("approval", "list", "--json").json
    assert asked["reason"].endswith(f"; {changed}{before}")
    (call,) = [each for each in done.json["activity"] if each["tool_id"] == "ledger.add"]
    assert (call["status"], call["approval"]) == ("pending", "required")
    assert ready("approval", "approve", asked["id"], "--resume").code == 0


def test_a_window_without_conditions_says_so_and_how_to_close_it(ready: Command) -> None:
    asked = waits(ready, "tools.ledger.add(line='a').unwrap()")["approvals"][0]
    done = ready("approval", "approve", asked["id"], "--window", "1m")
    (window,) = ready("approval", "windows", "--json").json
    close = f"coilclaw approval revoke {window['id']}"
    assert "of ledger.add with any arguments for 60 s" in done.err
    assert close in done.err
    assert "with any arguments" in ready("approval", "windows").out
    cancelled = ready("cancel", asked["run_id"])
    assert f"Window {window['id']} stays open: ledger.add with any arguments" in cancelled.err
    assert close in cancelled.err
    assert ready("cancel", "run-xyz").err.startswith("Error: there is no run 'run-xyz'\n")
