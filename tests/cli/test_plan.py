"""`coilclaw run --dry-run` and `--approve-plan`."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest
from tests.cli.conftest import Command

SOURCE = """
import random
now = tools.time.now().unwrap()
print("working")
made = tools.files.write(path="a.txt", text=str(random.random())).unwrap()
made["path"]
"""


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    coilclaw("init")
    return coilclaw


def test_a_dry_run_prints_the_plan_and_writes_nothing(ready: Command) -> None:
    done = ready("run", "-", "--dry-run", stdin=SOURCE)
    assert done.code == 0
    head, read, write = done.out.splitlines()
    assert head.split() == ["call", "line", "tool", "risk", "verdict", "rehearsal", "arguments"]
    assert read.split() == ["1", "3", "time.now", "read", "allow", "executed", "{}"]
    assert write.split()[:6] == ["2", "5", "files.write", "write", "ask", "stubbed"]
    assert write.split()[6].startswith('{"path":"a.txt"')
    assert "working" in done.err
    assert "1 with made-up answers" in done.err
    assert not (ready.workspace / "a.txt").exists()
    assert ready("receipt", "verify").code == 0


def test_a_dry_run_as_json_has_every_call_in_full(ready: Command) -> None:
    done = ready("run", "-", "--dry-run", "--json", stdin=SOURCE)
    assert (done.code, done.json["status"], done.json["error"]) == (0, "completed", None)
    assert done.json["stdout"] == "working\n"
    read, write = done.json["plan"]
    assert (read["verdict"], read["stubbed"], read["outcome"]) == ("allow", False, "succeeded")
    assert (write["verdict"], write["stubbed"], write["risk"], write["line"]) == ("ask", True, "write", 5)
    assert set(write["arguments"]) == {"path", "text"}
    assert len(write["args_hash"]) == 64


def test_yes_does_not_turn_a_dry_run_into_a_run(ready: Command) -> None:
    done = ready("run", "-", "--dry-run", "--yes", stdin=SOURCE)
    assert done.code == 0
    assert not (ready.workspace / "a.txt").exists()


@pytest.mark.parametrize("source", ["1 / 0", "x = = 1", "tools.tiem.now()"])
def test_a_dry_run_that_does_not_come_to_its_end_exits_with_1(ready: Command, source: str) -> None:
    done = ready("run", "-", "--dry-run", stdin=source)
    assert done.code == 1
    assert "no calls" in done.out
    assert "Error" in done.err or "error" in done.err or "UnknownTool" in done.err


def test_approve_plan_with_yes_runs_what_was_planned(ready: Command) -> None:
    done = ready("run", "-", "--approve-plan", "--yes", stdin=SOURCE)
    assert (done.code, done.out) == (0, 'working\n"a.txt"\n')
    assert "call  line  tool" in done.err
    assert "(plan of run-" in done.err
    assert (ready.workspace / "a.txt").read_text() in done.err, "what was shown is what was written"


def test_yes_to_a_plan_is_not_a_yes_to_anything_else(ready: Command) -> None:
    source = "made = tools.files.write(path='a.txt', text='x').unwrap()\ntools.files.write(path=made['path'] + '2', text='y')"
    done = ready("run", "-", "--approve-plan", "--yes", "--json", stdin=source)
    assert (done.code, done.json["status"]) == (3, "suspended")
    assert [each["arguments"]["path"] for each in done.json["approvals"]] == ["a.txt2"]
    assert (ready.workspace / "a.txt").exists()
    assert not (ready.workspace / "a.txt2").exists()


def test_without_a_person_and_without_yes_nothing_is_run(ready: Command) -> None:
    done = ready("run", "-", "--approve-plan", stdin=SOURCE)
    assert (done.code, done.out) == (3, "")
    assert "--yes" in done.err
    assert not (ready.workspace / "a.txt").exists()


def test_nothing_in_a_plan_controls_the_terminal(ready: Command) -> None:
    source = "tools.files.write(path='\\x1b[2J\\u202e.txt', text='x')"
    done = ready("run", "-", "--dry-run", stdin=source)
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def at_a_terminal(coilclaw: Command, arguments: list[str], answer: bytes) -> tuple[int, str]:
    """Run with a terminal on all sides, and answer the question about the plan."""
    master, slave = pty.openpty()
    line = [*coilclaw.line, *arguments]
    with subprocess.Popen(line, stdin=slave, stdout=slave, stderr=slave, env=coilclaw.environment) as process:
        os.close(slave)
        screen = b""
        answered = paged = False
        try:
            while chunk := os.read(master, 4096):
                screen += chunk
                if b"[a]ll" in screen and not paged:
                    os.write(master, b"a\n")
                    paged = True
                if b"[y/N]" in screen and not answered:
                    os.write(master, answer)
                    answered = True
        except OSError:
            pass  # Linux reports the end of a terminal this way.
        code = process.wait(60)
    os.close(master)
    assert answered, screen
    return code, screen.decode()


@pytest.mark.parametrize(("answer", "code", "written"), [(b"y\n", 0, True), (b"n\n", 1, False), (b"\n", 1, False)])
def test_a_person_approves_the_whole_plan_with_one_answer(
    ready: Command, answer: bytes, code: int, written: bool
) -> None:
    script = ready.folder / "two.py"
    script.write_text("for n in 'ab':\n    tools.files.write(path=n, text='x' * 3000).unwrap()\n")
    ended, screen = at_a_terminal(ready, ["run", str(script), "--approve-plan"], answer)
    assert ended == code
    assert screen.count("[y/N]") == 1
    assert screen.count("x") >= 6000  # Nothing of what would be written is left out.
    assert [(ready.workspace / name).exists() for name in "ab"] == [written, written]
