"""`coilclaw sop`: the real command in a home of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.agent.sop.test_definition import DAILY_CHECK
from tests.cli.conftest import Command, Done
from tests.cli.terminal import on_terminal

ONE_WRITE = """
name = "work"
description = "Write one file"
[[steps]]
id = "save"
kind = "tool"
tool = "file_write"
args = { path = "x.txt", content = "hello" }
"""


def sop(command: Command, name: str, text: str) -> Path:
    file = command.workspace / "sops" / name / "SOP.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def model(command: Command, *replies: dict[str, object]) -> None:
    """Let the configured model give these replies."""
    fixture = command.folder / "replies.json"
    fixture.write_text(json.dumps({"replies": replies}))
    (command.home / "config.toml").write_text(f'[providers.models.local]\nkind = "mock"\nfixture = "{fixture}"\n')


def approve_all(command: Command) -> None:
    for each in command("approval", "list", "--json").json:
        assert command("approval", "approve", each["id"]).code == 0


def run_id(done: Done) -> str:
    found = done.json["run_id"]
    assert isinstance(found, str)
    return found


@pytest.mark.req("R429")
def test_a_workspace_without_sops_lists_none(coilclaw: Command) -> None:
    done = coilclaw("sop", "list")
    assert (done.code, done.out) == (0, "")
    assert coilclaw("sop", "list", "--json").json == {"sops": [], "runs": []}


@pytest.mark.req("R429", "R430")
def test_sops_are_listed_and_checked(coilclaw: Command) -> None:
    sop(coilclaw, "daily-check", DAILY_CHECK)
    assert coilclaw("sop", "list").out == "daily-check  4 steps  Check workspace and write summary\n"
    assert coilclaw("sop", "validate").out == "Valid: sops/daily-check/SOP.toml\n"
    sop(coilclaw, "other", 'name = "other"\nsteps = []\n[x]')
    done = coilclaw("sop", "validate")
    assert (done.code, done.out) == (2, "Valid: sops/daily-check/SOP.toml\n")
    assert "Error: 3 problems in sops/other/SOP.toml:" in done.err
    assert "a SOP has no key 'x'" in done.err
    found = coilclaw("sop", "validate", "other", "--json")
    assert (found.code, found.json[0]["valid"], len(found.json[0]["problems"])) == (2, False, 3)
    sop(coilclaw, "third", ONE_WRITE.replace("work", "third").replace("file_write", "no_such_tool"))
    counts = {each["name"]: len(each["problems"]) for each in coilclaw("sop", "validate", "--json").json}
    listed = coilclaw("sop", "list")
    assert (listed.code, counts) == (0, {"daily-check": 0, "other": 3, "third": 1})
    assert [line for line in listed.out.splitlines() if "problem" in line] == ["other  3 problems", "third  1 problem"]
    missing = coilclaw("sop", "validate", "nothing")
    assert (missing.code, "there are: daily-check, other, third" in missing.err) == (2, True)


@pytest.mark.req("R270", "R431", "R441", "R444", "R445")
def test_the_daily_check_runs_as_it_is_written(coilclaw: Command) -> None:
    sop(coilclaw, "daily-check", DAILY_CHECK)
    model(coilclaw, {"text": "One folder with SOPs."})
    first = coilclaw("sop", "run", "daily-check", "--json")
    assert (first.code, first.json["status"]) == (3, "suspended")
    assert f"coilclaw sop resume {run_id(first)}" in first.err
    (asked,) = coilclaw("approval", "list", "--json").json
    assert (asked["tool"], asked["arguments"]["text"]) == ("sop.confirm", "One folder with SOPs.")
    assert "Write summary to daily-check.txt?" in coilclaw("approval", "show", asked["id"]).out
    approved = coilclaw("approval", "approve", asked["id"])
    assert f"To continue: coilclaw sop resume {run_id(first)}" in approved.err
    second = coilclaw("sop", "resume", run_id(first), "--json")
    assert (second.code, second.json["approvals"][0]["tool"]) == (3, "files.write")
    approve_all(coilclaw)
    third = coilclaw("sop", "resume", run_id(first), "--json")
    assert (third.code, [each["status"] for each in third.json["steps"]]) == (0, ["succeeded"] * 4)
    assert (coilclaw.workspace / "daily-check.txt").read_text() == "One folder with SOPs."
    over = coilclaw("sop", "resume", run_id(first))
    assert (over.code, "it is completed" in over.err) == (2, True)
    assert coilclaw("receipt", "verify").code == 0
    assert coilclaw("sop", "list", "--json").json["runs"][0]["status"] == "completed"


def test_a_denial_ends_the_run_with_1(coilclaw: Command) -> None:
    sop(coilclaw, "work", ONE_WRITE)
    first = coilclaw("sop", "run", "work", "--json")
    (asked,) = first.json["approvals"]
    assert coilclaw("approval", "deny", asked["id"], "--reason", "not now").code == 0
    done = coilclaw("sop", "resume", run_id(first))
    assert (done.code, "denied, 1 step" in done.err, "not now" in done.err) == (1, True, True)
    assert not (coilclaw.workspace / "x.txt").exists()


@pytest.mark.parametrize(("answer", "code", "written"), [(b"y\n", 0, True), (b"\n", 1, False), (b"l\n", 3, False)])
def test_the_person_at_the_terminal_decides(coilclaw: Command, answer: bytes, code: int, written: bool) -> None:
    sop(coilclaw, "work", ONE_WRITE)
    done = on_terminal(coilclaw, "sop", "run", "work", answers=[(b"Approve? [y/N/l]", answer)])
    assert "new file, 1 line, 5 characters" in done.screen
    assert (done.code, (coilclaw.workspace / "x.txt").exists()) == (code, written)


def test_a_call_that_was_under_way_when_the_process_died_waits_for_a_decision(coilclaw: Command) -> None:
    coilclaw.tool(
        "desk/tools.py",
        "import os, signal\nfrom coilclaw.sdk import ToolContext, define_tool\n"
        "@define_tool(id='desk.send', risk='write')\n"
        "def send(ctx: ToolContext) -> str:\n    '''Send.'''\n"
        "    with open(ctx.workspace / 'sent', 'a') as file:\n        file.write('x')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n    return 'x'\n",
    )
    step = '[[steps]]\nid = "send"\nkind = "tool"\ntool = "desk.send"\non_failure = "continue"\n'
    sop(
        coilclaw,
        "work",
        f'name = "work"\ndescription = "x"\n{step}[[steps]]\nid = "list"\nkind = "tool"\ntool = "file_list"\n',
    )
    assert coilclaw("sop", "run", "work", "--yes").code != 0
    (orphan,) = coilclaw("sop", "list", "--json").json["runs"]
    assert orphan["status"] == "orphaned"
    waits = coilclaw("sop", "resume", orphan["run_id"])
    assert (waits.code, f"coilclaw sop resume {orphan['run_id']} --unknown retry" in waits.err) == (3, True)
    done = coilclaw("sop", "resume", orphan["run_id"], "--unknown", "failed", "--json")
    assert (done.code, [each["status"] for each in done.json["steps"]]) == (0, ["failed", "succeeded"])
    assert (coilclaw.workspace / "sent").read_text() == "x"


def test_a_command_that_waits_names_each_call_it_waits_for(coilclaw: Command) -> None:
    step = '[[steps]]\nid = "{}"\nkind = "approval"\nprompt = "go?"\n'
    sop(coilclaw, "work", 'name = "work"\ndescription = "x"\n' + step.format("a") + step.format("b"))
    line = [*coilclaw.line, "sop", "run", "work", "--wait"]
    with subprocess.Popen(line, env=coilclaw.environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        found = []
        for row in process.stderr:
            if row.startswith(b"Waiting for approval: "):
                found.append(row.decode().split()[-1])
                assert coilclaw("approval", "approve", found[-1]).code == 0
        assert process.wait(60) == 0
    assert len(set(found)) == 2


def test_hostile_text_of_a_sop_is_made_visible(coilclaw: Command) -> None:
    sop(
        coilclaw, "work", 'name = "work"\ndescription = "\\u001b[31mred\\u202e"\n[[steps]]\nid = "a"\nkind = "b\\u001b"'
    )
    for command in ("list", "validate"):
        done = coilclaw("sop", command)
        assert "\x1b" not in done.out + done.err
        assert "\u202e" not in done.out + done.err


@pytest.mark.req("R342")
def test_a_question_of_a_tool_is_asked_on_the_terminal_with_its_text_made_legible(coilclaw: Command) -> None:
    hostile = "Which one?\x1b[2J\nApprove? [y/N/l] "
    source = coilclaw.folder / "ask.py"
    source.write_text(f"tools.ask_user(question={hostile!r}).unwrap()")
    done = on_terminal(coilclaw, "run", source, answers=[(b"Your answer (approves nothing): ", b"the first\n")])
    assert done.code == 0
    assert '"answer": "the first"' in done.screen
    assert '"source": "person"' in done.screen
    assert "  | Which one?\\u001b[2J" in done.screen
    assert "  | Approve? [y/N/l]" in done.screen
    run = coilclaw("run", "list", "--json").json[0]["run_id"]
    replayed = coilclaw("replay", run)  # Nobody is asked again.
    assert (replayed.code, "dentical" in replayed.out + replayed.err) == (0, True)


@pytest.mark.req("R342")
def test_where_nobody_is_a_question_is_an_honest_error(coilclaw: Command) -> None:
    done = coilclaw("tool", "run", "ask_user", "question=Which?")
    assert (done.code, "nobody_to_ask" in done.err) == (1, True)
