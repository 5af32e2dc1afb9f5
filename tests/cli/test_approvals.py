"""`coilclaw approval`: what waits is shown as it is, and each question is answered once."""

from __future__ import annotations

import getpass
import json
import os
import pty
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import apsw
import pytest
from tests.cli.conftest import Command, Done

LEDGER = '''
from coilclaw.sdk import Risk, ToolContext, define_tool

@define_tool(id="ledger.add", risk="write")
def add(ctx: ToolContext, line: str, book: str = "main") -> int:
    """Append a line; every execution shows."""
    file = ctx.workspace / "ledger"
    with file.open("a") as handle:
        handle.write(f"{line}\\n")
    return len(file.read_text().splitlines())

@define_tool(id="ledger.wipe", risk="destructive")
def wipe(ctx: ToolContext, pages: int = 1) -> int:
    """Remove everything; every execution shows."""
    with (ctx.workspace / "ledger").open("a") as handle:
        handle.write(f"wiped {pages}\\n")
    return pages
'''


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    coilclaw.tool("ledger/tools.py", LEDGER)
    return coilclaw


def lines(command: Command) -> list[str]:
    file = command.workspace / "ledger"
    return file.read_text().splitlines() if file.exists() else []


def waits(command: Command, source: str, *options: str) -> dict[str, Any]:
    """Run a snippet that is expected to wait, and return what `--json` said."""
    done = command("run", "-", "--json", *options, stdin=source)
    assert (done.code, done.json["status"]) == (3, "suspended"), done.err
    facts: dict[str, Any] = done.json
    return facts


def trail(command: Command, run_id: str) -> list[str]:
    receipts = command("receipt", "list", "--run", run_id, "--limit", "1000", "--json").json
    return [each["type"].removeprefix("tool.call.") for each in receipts]


def on_terminal(command: Command, *args: str, answers: dict[bytes, bytes]) -> tuple[int, str]:
    """Run a command on a terminal and answer each prompt once; its exit code and what was shown."""
    master, slave = pty.openpty()
    line = [*command.line, *args]
    with subprocess.Popen(
        line, stdin=slave, stdout=slave, stderr=slave, env=command.environment, cwd=command.folder
    ) as process:
        os.close(slave)
        screen = b""
        left = dict(answers)
        try:
            while chunk := os.read(master, 4096):
                screen += chunk
                for prompt in [each for each in left if each in screen]:
                    os.write(master, left.pop(prompt))
        except OSError:
            pass  # Linux reports the end of a terminal this way.
        process.wait(60)
    os.close(master)
    assert not left, screen
    return process.returncode, screen.decode()


@pytest.mark.req("R31", "R32", "R33")
def test_a_call_that_asks_when_nobody_is_there_suspends_the_run_and_says_how_it_goes_on(ready: Command) -> None:
    done = ready("run", "-", stdin="print('before')\ntools.ledger.wipe(pages=3).unwrap()\nprint('after')")
    assert done.code == 3
    assert done.out == "before\n"
    (run_id,) = re.findall(r"coilclaw resume (run-\w+)", done.err)
    (approval_id,) = re.findall(r"coilclaw approval approve (approval-\w+) --resume", done.err)
    for words in ("ledger.wipe", "destructive (high)", '{"pages": 3}', "supervised", "suspended in"):
        assert words in done.err
    assert lines(ready) == []
    (waiting,) = ready("approval", "list", "--json").json
    assert (waiting["id"], waiting["run_id"]) == (approval_id, run_id)


def test_the_json_of_a_run_and_of_the_list_have_the_promised_keys(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.add(line='a').unwrap()")
    (asked,) = facts["approvals"]
    assert asked == {
        "id": asked["id"],
        "run_id": facts["run_id"],
        "tool": "ledger.add",
        "arguments": {"line": "a"},
        "status": "pending",
    }
    assert (facts["value"], facts["error"]) == (None, None)
    assert [item["status"] for item in facts["activity"]] == ["pending"]
    (listed,) = ready("approval", "list", "--json").json
    assert asked.items() <= listed.items()
    assert {"risk", "reason", "created", "expires"} <= set(listed)
    assert ready("run", "-", "--json", stdin="1").json["approvals"] == []


def test_the_list_leaves_out_what_is_decided_and_runs_that_are_over(ready: Command) -> None:
    first = waits(ready, "tools.ledger.add(line='a').unwrap()")
    second = waits(ready, "tools.ledger.add(line='b').unwrap()")
    assert ready("approval", "deny", first["approvals"][0]["id"]).code == 0
    assert [each["run_id"] for each in ready("approval", "list", "--json").json] == [second["run_id"]]
    assert [each["status"] for each in ready("approval", "list", "--all", "--json").json] == ["denied", "pending"]
    only = ready("approval", "list", "--all", "--run", first["run_id"], "--json").json
    assert [each["run_id"] for each in only] == [first["run_id"]]
    connection = apsw.Connection(str(ready.home / "coilclaw.db"))
    connection.execute("UPDATE runs SET status = 'cancelled' WHERE run_id = ?", (second["run_id"],))
    connection.close()
    assert ready("approval", "list", "--json").json == []
    done = ready("approval", "approve", second["approvals"][0]["id"])
    assert done.code == 2
    assert "is over (cancelled)" in done.err


def test_show_tells_exactly_what_would_run(ready: Command) -> None:
    source = "x = tools.time.now().ok\n\ntools.ledger.add(line='one', book='b').unwrap()\n"
    facts = waits(ready, source)
    approval_id = facts["approvals"][0]["id"]
    shown = ready("approval", "show", approval_id)
    assert shown.code == 0
    assert ">    3  tools.ledger.add(line='one', book='b').unwrap()" in shown.out
    assert "     1  x = tools.time.now().ok" in shown.out
    version = ready("tool", "show", "ledger.add", "--json").json["version"]
    for words in ("succeeded time.now", version, "write (medium)", '"line": "one"', '"book": "b"', "(pending)"):
        assert words in shown.out
    told = ready("approval", "show", approval_id, "--json").json
    assert (told["tool_version"], told["line"], told["source"]) == (version, 3, source)
    assert [item["tool_id"] for item in told["activity"]] == ["time.now", "ledger.add"]
    assert told["arguments"] == {"line": "one", "book": "b"}


def test_a_long_snippet_is_shown_around_its_line_and_in_full_when_asked(ready: Command) -> None:
    source = "\n".join([*(f"x{n} = {n}" for n in range(1, 151)), "tools.ledger.add(line='a')", *("y = 1",) * 150])
    approval_id = waits(ready, source)["approvals"][0]["id"]
    shown = ready("approval", "show", approval_id).out
    assert ">  151  tools" in shown
    assert "130 lines before" in shown
    assert "x1 = 1" not in shown
    assert "  x1 = 1\n" in ready("approval", "show", approval_id, "--full").out


HOSTILE = "\x1b[2J\x1b]0;pwned\x07\u202e\u200b\u3164\ufe0f\U000e0101\x9b2J\x7f\n  Args: {}\r"


def test_nothing_in_arguments_hides_or_controls_the_terminal(ready: Command) -> None:
    facts = waits(ready, f"tools.ledger.add(line={HOSTILE!a}).unwrap()")
    approval_id = facts["approvals"][0]["id"]
    assert facts["approvals"][0]["arguments"] == {"line": HOSTILE}
    outputs = [
        on_terminal(ready, "approval", "show", approval_id, answers={})[1],
        on_terminal(ready, "approval", "list", answers={})[1],
        on_terminal(ready, "approval", "approve", approval_id, answers={b"Approve? [y/N": b"n\n"})[1],
        ready("resume", facts["run_id"]).err,
    ]
    assert json.dumps(HOSTILE) in outputs[1]
    assert json.dumps(HOSTILE) in outputs[3]
    for shown in outputs:
        for written_out in ("\\u001b[2J", "\\u0007", "\\u202e", "\\u3164", "  Args: {}\\r"):
            assert written_out in shown.replace("\r\n", "\n")
        assert "\n  Args: {}" not in shown
        for hidden in ("\x1b[2J", "\x1b]0", "\x07", "\u202e", "\u200b", "\u3164", "\ufe0f", "\U000e0101", "\x9b"):
            assert hidden not in shown, ascii(hidden)


def test_a_line_end_only_some_know_does_not_move_the_mark(ready: Command) -> None:
    source = "# \u2028 \x0c \x85\ntools.ledger.add(line='a').unwrap()\n# tools.time.now()\n"
    approval_id = waits(ready, source)["approvals"][0]["id"]
    shown = ready("approval", "show", approval_id).out
    assert ">    2  tools.ledger.add(line='a').unwrap()" in shown
    assert "\\u2028" in shown


def test_the_decider_is_recorded(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.add(line='a').unwrap()")
    done = ready("approval", "approve", facts["approvals"][0]["id"], "--json")
    assert done.code == 0
    assert (done.json["status"], done.json["decided_by"]) == ("granted", getpass.getuser())
    assert f"coilclaw resume {facts['run_id']}" in done.err
    assert lines(ready) == []  # A decision is not an execution.
    done = ready("resume", facts["run_id"], "--json")
    (item,) = done.json["activity"]
    assert (item["approval"], item["decided_by"]) == ("granted", getpass.getuser())
    assert lines(ready) == ["a"]


@pytest.mark.parametrize("second", ["approve", "deny"])
def test_a_question_is_answered_once(ready: Command, second: str) -> None:
    approval_id = waits(ready, "tools.ledger.add(line='a').unwrap()")["approvals"][0]["id"]
    assert ready("approval", "approve", approval_id).code == 0
    done = ready("approval", second, approval_id)
    assert done.code == 2
    assert f"{approval_id} was already approved by {getpass.getuser()}" in done.err


def test_a_person_reads_that_an_approval_was_used(ready: Command) -> None:
    asked = waits(ready, "tools.ledger.add(line='a').unwrap()")["approvals"][0]["id"]
    assert ready("approval", "approve", asked).code == 0
    assert f"{asked}  approved  " in ready("approval", "list", "--all").out
    assert ready("approval", "list", "--all", "--json").json[0]["status"] == "granted"
    assert ready("resume", waiting_run(ready)).code == 0
    assert f"{asked}  approved, used  " in ready("approval", "list", "--all").out
    assert f"{asked} (approved, used)" in ready("approval", "show", asked).out
    assert ready("approval", "list", "--all", "--json").json[0]["status"] == "consumed"


def waiting_run(command: Command) -> str:
    (run,) = command("run", "list", "--status", "suspended", "--json").json
    return str(run["run_id"])


def test_of_many_who_decide_at_once_one_does(ready: Command) -> None:
    approval_id = waits(ready, "tools.ledger.add(line='a').unwrap()")["approvals"][0]["id"]
    with ThreadPoolExecutor(4) as pool:
        words = ["approve", "deny", "approve", "deny"]
        done: list[Done] = list(pool.map(lambda word: ready("approval", word, approval_id), words))
    assert sorted(each.code for each in done) == [0, 2, 2, 2]
    (decided,) = ready("approval", "list", "--all", "--json").json
    winner = words[[each.code for each in done].index(0)]
    assert decided["status"] == {"approve": "granted", "deny": "denied"}[winner]


@pytest.mark.parametrize("action", [("show",), ("approve",), ("approve", "--resume"), ("deny",)])
def test_an_unknown_id_is_one_clear_line(ready: Command, action: tuple[str, ...]) -> None:
    for name in ("approval-nothing", "\x1b[2J'; --", "run-1"):
        done = ready("approval", *action, "--", name)
        assert done.code == 2
        assert "there is no approval" in done.err
        assert "approval list" in done.err
        assert "\x1b" not in done.err


@pytest.mark.parametrize("change", ["risk = 'read'", "tool = x'ff00'", "expires_at = 'x'"])
def test_a_damaged_question_is_named_and_not_approved(ready: Command, change: str) -> None:
    damaged, other = (waits(ready, f"tools.ledger.add(line='{each}').unwrap()") for each in "ab")
    approval_id, other_id = (each["approvals"][0]["id"] for each in (damaged, other))
    connection = apsw.Connection(str(ready.home / "coilclaw.db"))
    connection.execute(f"UPDATE approvals SET {change} WHERE id = ?", (approval_id,))
    connection.close()
    listed = ready("approval", "list")
    assert listed.code == 0
    assert other_id in listed.out
    assert approval_id not in listed.out
    for verb in ("show", "approve", "deny"):
        done = ready("approval", verb, approval_id)
        assert done.code == 2
        assert f"{approval_id} is damaged" in done.err


def test_an_expired_question_cannot_be_approved(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.add(line='a').unwrap()")
    connection = apsw.Connection(str(ready.home / "coilclaw.db"))
    connection.execute("UPDATE approvals SET expires_at = 1")
    connection.close()
    approval_id = facts["approvals"][0]["id"]
    done = ready("approval", "approve", approval_id, "--resume")
    assert done.code == 2
    assert f"{approval_id} is expired" in done.err
    assert lines(ready) == []
    again = ready("resume", facts["run_id"], "--json")  # It is asked again.
    assert again.code == 3
    assert again.json["approvals"][0]["id"] != approval_id


@pytest.mark.req("R33")
def test_a_no_is_told_to_the_snippet_and_nothing_runs(ready: Command) -> None:
    facts = waits(ready, "r = tools.ledger.wipe()\n[r.ok, r.error.code]")
    done = ready("approval", "deny", facts["approvals"][0]["id"], "--resume", "--json")
    assert (done.code, done.json["status"], done.json["value"]) == (0, "completed", [False, "approval_denied"])
    assert lines(ready) == []
    assert ready("approval", "list", "--json").json == []


def test_approve_and_resume_waits_until_nothing_else_is_pending(ready: Command) -> None:
    source = (
        "a = tools.ledger.add.start(line='a')\nb = tools.ledger.add.start(line='b')\n[a.result().ok, b.result().ok]"
    )
    facts = waits(ready, source)
    first, second = (each["id"] for each in facts["approvals"])
    done = ready("approval", "approve", first, "--resume")
    assert done.code == 3
    assert f"Still pending: {second}" in done.err
    assert lines(ready) == []
    done = ready("approval", "approve", second, "--resume", "--json")
    assert (done.code, done.json["value"]) == (0, [True, True])
    assert sorted(lines(ready)) == ["a", "b"]


@pytest.mark.req("R34")
def test_a_window_lets_calls_of_the_same_kind_through(ready: Command) -> None:
    asked = waits(ready, "tools.ledger.add(line='a', book='x').unwrap()")["approvals"][0]["id"]
    done = ready("approval", "approve", asked, "--window", "10m", "--uses", "2", "--where", "book=x", "--resume")
    assert (done.code, done.out) == (0, "1\n")
    assert 'up to 2 calls of ledger.add with {"book": "x"} for 600 s' in done.err
    assert ready("run", "-", stdin="[tools.ledger.add(line=n, book='x').ok for n in 'bc']").code == 0
    waits(ready, "tools.ledger.add(line='d', book='x').unwrap()")  # The uses are used up.
    assert lines(ready) == ["a", "b", "c"]


@pytest.mark.req("R34")
@pytest.mark.parametrize(
    "source", ["tools.ledger.add(line='b', book='y')", "tools.ledger.add(line='b')", "tools.ledger.wipe()"]
)
def test_a_window_lets_nothing_else_through(ready: Command, source: str) -> None:
    asked = waits(ready, "tools.ledger.add(line='a', book='x').unwrap()")["approvals"][0]["id"]
    assert ready("approval", "approve", asked, "--window", "15m", "--where", "book=x").code == 0
    waits(ready, source)
    assert lines(ready) == []


def test_a_window_also_answers_the_other_questions_of_the_run_it_covers(ready: Command) -> None:
    source = "ps = [tools.ledger.add.start(line=str(n)) for n in range(3)]\n[p.result().ok for p in ps]"
    facts = waits(ready, source)
    done = ready("approval", "approve", facts["approvals"][0]["id"], "--window", "1m", "--uses", "2", "--resume")
    assert done.code == 0, done.err
    assert sorted(lines(ready)) == ["0", "1", "2"]
    assert {each["status"] for each in ready("approval", "list", "--all", "--json").json} == {"consumed"}
    waits(ready, "tools.ledger.add(line='d').unwrap()")  # The approval of the first call did not use the window.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--window", "16m"), "at most 15m"),
        (("--window", "0s"), "at least 1s"),
        (("--window", "1h"), "a window lasts at most 15m"),
        (("--window", "-5m"), "90s or 10m"),
        (("--window", "١m"), "90s or 10m"),
        (("--window", ""), "90s or 10m"),
        (("--uses", "3"), "--window"),
        (("--where", "line=a"), "--window"),
        (("--window", "1m", "--uses", "0"), "--uses"),
        (("--window", "1m", "--where", "line"), "NAME=VALUE"),
        (("--window", "1m", "--where", "lime=a"), "has no argument lime"),
        (("--window", "1m", "--where", "line=b"), "does not fit"),
        (("--window", "1m", "--where", "line=a", "--where", "line=a"), "twice"),
    ],
)
def test_a_window_that_makes_no_sense_decides_nothing(ready: Command, options: tuple[str, ...], words: str) -> None:
    asked = waits(ready, "tools.ledger.add(line='a').unwrap()")["approvals"][0]["id"]
    done = ready("approval", "approve", asked, *options)
    assert done.code == 2
    assert words in done.err
    assert [each["status"] for each in ready("approval", "list", "--json").json] == ["pending"]


def test_numbers_in_a_window_are_numbers(ready: Command) -> None:
    asked = waits(ready, "tools.ledger.wipe(pages=1).unwrap()")["approvals"][0]["id"]
    assert ready("approval", "approve", asked, "--window", "1m", "--where", "pages=1").code == 0
    assert ready("run", "-", stdin="tools.ledger.wipe(pages=1).unwrap()").code == 0
    waits(ready, "tools.ledger.wipe(pages=2)")


@pytest.mark.req("R367")
@pytest.mark.parametrize(("answer", "code", "status"), [(b"y\n", 0, "granted"), (b"\n", 1, "pending")])
def test_on_a_terminal_the_call_is_shown_before_it_is_approved(
    ready: Command, answer: bytes, code: int, status: str
) -> None:
    asked = waits(ready, "tools.ledger.add(line='a').unwrap()")["approvals"][0]["id"]
    ended, screen = on_terminal(ready, "approval", "approve", asked, answers={b"Approve? [y/N": answer})
    assert ended == code
    assert screen.index('"line": "a"') < screen.index("Approve?")
    assert [each["status"] for each in ready("approval", "list", "--all", "--json").json] == [status]


@pytest.mark.req("R366", "R367")
def test_later_at_the_prompt_suspends_the_run(ready: Command) -> None:
    script = ready.folder / "x.py"
    script.write_text("tools.ledger.add(line='a').unwrap()")
    code, screen = on_terminal(ready, "run", str(script), answers={b"Approve? [y/N": b"l\n"})
    assert code == 3
    assert "later" in screen
    (asked,) = ready("approval", "list", "--json").json
    assert f"coilclaw approval approve {asked['id']} --resume" in screen
    assert ready("approval", "approve", asked["id"], "--resume").code == 0
    assert lines(ready) == ["a"]


def test_a_no_at_the_prompt_of_a_resumed_run_closes_the_question(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.add(line='a').code")
    code, screen = on_terminal(ready, "resume", facts["run_id"], answers={b"Approve? [y/N": b"\n"})
    assert code == 0
    assert "approval_denied" in screen
    assert [each["status"] for each in ready("approval", "list", "--all", "--json").json] == ["denied"]
    assert trail(ready, facts["run_id"]).count("denied") == 1
    assert ready("receipt", "verify").code == 0


def test_a_yes_at_the_prompt_of_a_resumed_run_uses_the_question_up(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.add(line='a').unwrap()")
    code, _ = on_terminal(ready, "resume", facts["run_id"], answers={b"Approve? [y/N": b"y\n"})
    assert (code, lines(ready)) == (0, ["a"])
    assert [each["status"] for each in ready("approval", "list", "--all", "--json").json] == ["consumed"]


def test_a_reason_cannot_write_lines_of_the_question(ready: Command) -> None:
    ready.tool(
        "sly/tools.py",
        "from coilclaw.sdk import Forbid, Risk, ToolContext, define_tool\n"
        "@define_tool(id='sly.go', risk='write')\n"
        "def go(ctx: ToolContext, text: str) -> int:\n    return 1\n",
    )
    script = ready.folder / "x.py"
    script.write_text("tools.sly.go(text='x\\n  Risk:   read (low)\\n\\x1b[1A').ok")
    _, screen = on_terminal(ready, "run", str(script), answers={b"Approve? [y/N": b"\n"})
    assert screen.count("\n  Risk:") == 1
    assert "\\u001b[1A" in screen


def test_a_row_of_the_list_fits_the_usual_terminal(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.wipe()")
    shown = ready("approval", "list", "--all").out.splitlines()
    assert max(map(len, shown)) <= 80
    assert facts["run_id"] in shown[1]
