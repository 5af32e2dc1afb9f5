"""`coilclaw run list` and `run show`: finding runs, and showing them again as they ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.cli.test_approvals import LEDGER, lines, waits

SOURCE = "tools.ledger.add(line='x').unwrap()"


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    coilclaw.tool("ledger/tools.py", LEDGER)
    return coilclaw


def test_runs_are_listed_newest_first_and_by_state(ready: Command) -> None:
    ended = ready("run", "-", "--json", stdin="1").json["run_id"]
    suspended = waits(ready, SOURCE)["run_id"]
    failed = ready("run", "-", "--json", stdin="1/0").json["run_id"]
    found = ready("run", "list", "--json").json
    assert [(each["run_id"], each["status"]) for each in found] == [
        (failed, "failed"),
        (suspended, "suspended"),
        (ended, "completed"),
    ]
    assert [each["resumable"] for each in found] == [False, True, False]
    assert [each["run_id"] for each in ready("run", "list", "--json", "--status", "suspended").json] == [suspended]
    assert [line.split()[0] for line in ready("run", "list", "--limit", "2").out.splitlines()] == [failed, suspended]


def test_a_home_without_runs_says_so(coilclaw: Command) -> None:
    done = coilclaw("run", "list")
    assert (done.code, done.out, done.err) == (0, "", "There are no runs yet.\n")
    assert coilclaw("run", "list", "--json").json == []


@pytest.mark.parametrize(
    "source", ["print('hi')\n[1, {'a': 'ü'}]", "print('before')\n1/0", "import os\nos.no_such", "x ="]
)
def test_a_run_is_shown_again_as_it_ended(ready: Command, source: str) -> None:
    first = ready("run", "-", "--json", stdin=source).json
    assert ready("run", "show", first["run_id"], "--json").json == first


def test_a_suspended_run_is_shown_with_what_it_needs(ready: Command) -> None:
    facts = waits(ready, SOURCE)
    assert ready("run", "show", facts["run_id"], "--json").json == facts
    shown = ready("run", "show", facts["run_id"])
    assert shown.code == 0
    assert f"coilclaw approval approve {facts['approvals'][0]['id']} --resume" in shown.err


def test_output_and_value_are_shown_for_a_person(ready: Command) -> None:
    first = ready("run", "-", "--json", stdin="print('hi')\n[1]").json
    shown = ready("run", "show", first["run_id"])
    assert shown.out == "hi\n[\n  1\n]\n"
    assert "completed in" in shown.err


def test_a_run_that_there_is_none_of_is_a_mistake(coilclaw: Command) -> None:
    done = coilclaw("run", "show", "run-none")
    assert done.code == 2
    assert "there is no run" in done.err


def test_a_file_called_list_is_run_by_its_path(ready: Command) -> None:
    (Path(ready.folder) / "list").write_text("6 * 7")
    assert ready("run", "./list").out == "42\n"


def test_a_run_is_resumed_and_replayed_where_it_began_without_being_told(ready: Command, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "tools/ledger").mkdir(parents=True)
    (other / "tools/ledger/tools.py").write_text(LEDGER)
    facts = ready("run", "-", "--json", "--workspace", other, stdin=SOURCE).json
    assert facts["status"] == "suspended"
    done = ready("approval", "approve", facts["approvals"][0]["id"], "--resume", "--json")
    assert (done.code, done.json["status"]) == (0, "completed")
    assert ready("replay", facts["run_id"]).code == 0
    refused = ready("resume", facts["run_id"], "--workspace", ready.workspace)
    assert refused.code == 2
    assert f"began in the workspace {other}" in refused.err
    assert lines(ready) == []


@pytest.mark.parametrize("group", [(), ("tool",), ("approval",), ("receipt",)])
def test_a_command_that_needs_another_word_shows_its_help(coilclaw: Command, group: tuple[str, ...]) -> None:
    done = coilclaw(*group)
    assert done.code == 2
    assert "\nCommands:\n" in done.err
    assert "\\n" not in done.err


def test_more_runs_than_are_shown_are_named_with_the_command_that_lists_them(coilclaw: Command) -> None:
    for _ in range(2):
        coilclaw("run", "-", stdin="1")
    assert coilclaw("run", "list", "--limit", "1").err == "More: coilclaw run list --limit 10\n"
    more = coilclaw("run", "list", "--limit", "1", "--status", "completed").err
    assert more == "More: coilclaw run list --status completed --limit 10\n"
