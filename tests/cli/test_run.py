"""`coilclaw run`."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import Command

KEYS = {
    "run_id", "status", "engine", "value", "stdout", "error", "activity", "approvals", "duration_ms", "stderr", "warnings",
    "outputs", "retry_of",
}  # fmt: skip


@pytest.mark.req("R12", "R4", "R46")
def test_run_prints_output_value_and_activity(coilclaw: Command) -> None:
    done = coilclaw("run", "-", stdin="print('hi')\ntools.time.now().unwrap()['timezone'] and 5")
    assert (done.code, done.out) == (0, "hi\n5\n")
    assert "succeeded" in done.err
    assert "time.now" in done.err
    assert "receipt-" in done.err


def test_json_is_one_object_with_everything(coilclaw: Command) -> None:
    done = coilclaw("run", "-", "--json", stdin="print('hi')\ntools.time.now()\n[1, {'a': None}]")
    assert done.code == 0
    assert set(done.json) == KEYS
    assert (done.json["status"], done.json["engine"], done.json["error"]) == ("completed", "wasm", None)
    assert (done.json["stdout"], done.json["value"]) == ("hi\n", [1, {"a": None}])
    (item,) = done.json["activity"]
    assert set(item) == {
        "tool_id", "status", "approval", "when", "receipt_ref", "code", "message", "summary", "reused_from",
        "decided_by", "scope", "risk", "call_id",
    }  # fmt: skip
    assert coilclaw("receipt", "show", item["receipt_ref"], "--json").json["run_id"] == done.json["run_id"]


@pytest.mark.parametrize(
    ("source", "options", "status"),
    [
        ("1 / 0", [], "failed"),
        ("x = = 1", [], "rejected"),
        ("tools.tiem.now()", [], "rejected"),
        ("while True: pass", ["--timeout", "0.3"], "timed_out"),
        ("x = []\nwhile True: x.append('a' * 10**6)", ["--memory", "64"], "out_of_memory"),
        ("print('x' * 2 * 10**6)", [], "output_exceeded"),
        ("import os; os._exit(0)", [], "crashed"),
    ],
)
def test_every_other_end_exits_with_1_and_its_name(
    coilclaw: Command, source: str, options: list[str], status: str
) -> None:
    done = coilclaw("run", "-", "--json", *options, stdin=source)
    assert done.code == 1
    assert done.json["status"] == status
    assert set(done.json["error"]) == {"type", "message", "line", "traceback", "hint"}
    assert done.json["error"]["message"]
    assert coilclaw("receipt", "verify").code == 0


def test_a_failure_shows_the_snippets_own_lines(coilclaw: Command) -> None:
    (coilclaw.folder / "report.py").write_text("def f():\n    return 1 / 0\n\nf()\n")
    done = coilclaw("run", "report.py")
    assert done.code == 1
    assert 'File "report.py", line 2, in f' in done.err
    assert "guest" not in done.err
    assert done.out == ""


def test_an_unwrapped_error_is_shown_by_its_plain_name(coilclaw: Command) -> None:
    done = coilclaw("run", "-", stdin="tools.files.read(path='nope.txt').unwrap()")
    assert "\nToolCallError: no_workspace: the workspace does not exist" in done.err
    assert "coilclaw init" in done.err


def test_inputs_are_variables(coilclaw: Command) -> None:
    done = coilclaw("run", "-", "--input", 'who="Ada"', "--input", "n=[1,2]", stdin="f'{who} {sum(n)}'")
    assert done.out == '"Ada 3"\n'


@pytest.mark.parametrize("text", ["nonsense", "a b=1", "n=1,", "n=text", "=3", "tools=1"])
def test_a_bad_input_is_one_clear_line(coilclaw: Command, text: str) -> None:
    done = coilclaw("run", "-", "--input", text, stdin="1")
    assert done.code == 2
    assert "--input" in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("name", "content"), [("missing.py", None), ("binary.py", b"\x00\x01\x02"), ("latin.py", b"x = '\xe9\xff'")]
)
def test_a_file_that_cannot_be_source_is_one_clear_line(coilclaw: Command, name: str, content: bytes | None) -> None:
    if content is not None:
        (coilclaw.folder / name).write_bytes(content)
    done = coilclaw("run", name)
    assert done.code == 2
    assert name in done.err
    assert len(done.err.strip().splitlines()) <= 4


def test_a_folder_is_not_a_snippet(coilclaw: Command) -> None:
    assert coilclaw("run", ".").code == 2


def test_a_syntax_error_names_its_line(coilclaw: Command) -> None:
    done = coilclaw("run", "-", stdin="x = 1\ny = = 2\n")
    assert done.code == 1
    assert "SyntaxError: invalid syntax (line 2)" in done.err


def test_a_write_without_a_person_waits_and_exits_with_3(coilclaw: Command) -> None:
    coilclaw("init")
    done = coilclaw("run", "-", "--json", stdin="tools.files.write(path='a.txt', text='x').unwrap()")
    assert (done.code, done.json["status"], done.json["error"]) == (3, "suspended", None)
    assert done.json["activity"][0]["status"] == "pending"
    assert [each["tool"] for each in done.json["approvals"]] == ["files.write"]
    assert not (coilclaw.workspace / "a.txt").exists()


def test_yes_approves_but_does_not_lift_a_denial(coilclaw: Command) -> None:
    coilclaw("init")
    source = "[tools.files.write(path=p, text='x').ok for p in ('a.txt', '../b.txt', '/tmp/c.txt')]"
    done = coilclaw("run", "-", "--json", "--yes", stdin=source)
    assert done.json["value"] == [True, False, False]
    assert (coilclaw.workspace / "a.txt").read_text() == "x"
    item = done.json["activity"][0]
    assert (item["approval"], item["scope"]) == ("granted", "once")
    assert "--yes" in item["decided_by"]


def test_a_missing_secret_exits_with_4(coilclaw: Command) -> None:
    coilclaw.tool(
        "web/x.py",
        "from coilclaw.sdk import ToolContext, define_tool\n"
        "@define_tool(id='web.get', risk='read', secrets=['WEB_KEY'])\n"
        "def get(ctx: ToolContext) -> int:\n    return len(ctx.secrets['WEB_KEY'])\n",
    )
    done = coilclaw("run", "-", stdin="tools.web.get().unwrap()")
    assert done.code == 4
    assert "WEB_KEY" in done.err
    assert coilclaw("run", "-", stdin="tools.web.get().unwrap()", WEB_KEY="12345").out == "5\n"


@pytest.mark.req("R366", "R367", "R486")
@pytest.mark.parametrize(("answer", "written"), [(b"y\n", True), (b"yes\n", True), (b"\n", False), (b"n\n", False)])
def test_on_a_terminal_a_person_is_asked(coilclaw: Command, answer: bytes, written: bool) -> None:
    coilclaw("init")
    script = coilclaw.folder / "write.py"
    script.write_text("tools.files.write(path='a.txt', text='\\x1b[2J').ok")
    screen = on_terminal(coilclaw, [*coilclaw.line, "run", str(script)], b"Approve? [y/N", answer)
    assert (coilclaw.workspace / "a.txt").exists() is written
    for words in (b"files.write", b"write (medium)", b"supervised", b'"path": "a.txt"'):
        assert words in screen
    assert b"\x1b[2J" not in screen  # Arguments cannot redraw the question.
    assert (b"true" in screen) is written


def on_terminal(coilclaw: Command, line: list[str], until: bytes, answer: bytes) -> bytes:
    """Run a command on a terminal, wait for a prompt, answer it, and return what was shown."""
    master, slave = pty.openpty()
    with subprocess.Popen(line, stdin=slave, stdout=slave, stderr=slave, env=coilclaw.environment) as process:
        os.close(slave)
        screen = b""
        answered = False
        try:
            while chunk := os.read(master, 4096):
                screen += chunk
                if until in screen and not answered:
                    os.write(master, answer)
                    answered = True
        except OSError:
            pass  # Linux reports the end of a terminal this way.
        process.wait(60)
    os.close(master)
    assert answered, screen
    return screen


@pytest.mark.parametrize("source", ["print('go')\nwhile True: pass", "import time\nprint('go')\ntime.sleep(1000)"])
def test_an_interrupt_ends_the_run_with_130_and_receipts(coilclaw: Command, source: str) -> None:
    script = coilclaw.folder / "endless.py"
    script.write_text(source)
    with subprocess.Popen(
        [*coilclaw.line, "run", str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=coilclaw.environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"go\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    last = coilclaw("receipt", "list", "--limit", "1", "--json").json[0]
    assert (last["type"], last["status"]) == ("run.finished", "cancelled")


def test_a_tool_that_hangs_is_given_up(coilclaw: Command) -> None:
    coilclaw.tool(
        "slow/x.py",
        "import time\nfrom coilclaw.sdk import ToolContext, define_tool\n"
        "@define_tool(id='slow.hang', risk='read', timeout=0.2)\n"
        "def hang(ctx: ToolContext) -> None:\n    time.sleep(1000)\n",
    )
    done = coilclaw("run", "-", "--json", stdin="r = tools.slow.hang()\n(r.code, 'went on')")
    assert done.json["value"] == ["timeout", "went on"]


def test_broken_tool_files_are_warned_about_and_the_run_goes_on(coilclaw: Command) -> None:
    file = coilclaw.tool("bad/x.py", "x = = 1\n")
    done = coilclaw("run", "-", stdin="1 + 1")
    assert (done.code, done.out) == (0, "2\n")
    assert f"{file}:1: not valid Python" in done.err


@pytest.mark.req("R11")
def test_an_edited_tool_is_used_by_the_next_run(coilclaw: Command) -> None:
    source = "from coilclaw.sdk import ToolContext, define_tool\n@define_tool(id='a.b', risk='read')\ndef b(ctx: ToolContext) -> int:\n    return {}\n"
    for number in (1, 2):
        coilclaw.tool("a/x.py", source.format(number))
        assert coilclaw("run", "-", stdin="tools.a.b().value").out == f"{number}\n"


@pytest.mark.parametrize("kind", ["file", "missing"])
def test_a_workspace_that_is_none_is_one_clear_line(coilclaw: Command, kind: str) -> None:
    place = coilclaw.folder / "place"
    if kind == "file":
        place.write_text("")
    done = coilclaw("run", "-", "--workspace", place, stdin="1")
    assert done.code == 2
    assert str(place) in done.err
    assert "Error:" in done.err


def test_a_home_that_cannot_be_made_is_one_clear_line(coilclaw: Command) -> None:
    done = coilclaw("run", "-", stdin="1", COILCLAW_HOME="/proc/nowhere/.coilclaw")
    assert done.code == 2
    assert "COILCLAW_HOME" in done.err


def test_a_database_that_is_none_is_one_clear_line(coilclaw: Command) -> None:
    (coilclaw.home / "coilclaw.db").write_text("this is not a database, it is only text" * 100)
    done = coilclaw("run", "-", stdin="1")
    assert done.code == 2
    assert "coilclaw.db" in done.err


def test_output_is_shown_as_it_comes(coilclaw: Command) -> None:
    script = coilclaw.folder / "steps.py"
    script.write_text("print('first')\nwhile True: pass")
    done = coilclaw("run", str(script), "--timeout", "0.3")
    assert done.out == "first\n"


def test_odd_characters_do_not_break_the_output(coilclaw: Command) -> None:
    done = coilclaw("run", "-", stdin="print('\\ud800 é \\x00')\n'\\ud800'")
    assert done.code == 0
    assert "\\ud800 é" in done.out
    assert coilclaw("run", "-", "--json", stdin="'\\ud800'").code == 0


def test_a_run_from_another_folder_uses_the_workspace_named(coilclaw: Command, tmp_path: Path) -> None:
    place = tmp_path / "mine"
    (place / "tools/a").mkdir(parents=True)
    (place / "tools/a/x.py").write_text(
        "from coilclaw.sdk import ToolContext, define_tool\n"
        "@define_tool(id='a.b.c', risk='read')\ndef c(ctx: ToolContext, n: int) -> int:\n    return n + 1\n"
    )
    assert coilclaw("run", "-", "--workspace", place, stdin="tools.a.c(n=1).value").out == "2\n"
