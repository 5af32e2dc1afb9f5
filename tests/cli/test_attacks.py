"""What snippets, tools and careless hands tried on the command line, kept as tests."""

from __future__ import annotations

import os
import pty
import select
import subprocess

import pytest
from tests.cli.conftest import Command
from tests.sampling import sample

HOSTILE = "\\x1b]0;pwned\\x07\\x1b[2J\\x9b2J"


def on_terminal(coilclaw: Command, line: list[str], *, type_first: bytes = b"") -> bytes:
    """Run a command on a terminal, typing something as soon as 'now' is shown, and return what was shown."""
    master, slave = pty.openpty()
    with subprocess.Popen(line, stdin=slave, stdout=slave, stderr=slave, env=coilclaw.environment) as process:
        os.close(slave)
        screen = b""
        typed = False
        try:
            while True:
                if not select.select([master], [], [], 0.3)[0]:
                    if b"Approve? [y/N" in screen:
                        os.write(master, b"\n")  # What was typed ahead had its time to be taken for an answer.
                    continue
                if not (chunk := os.read(master, 4096)):
                    break
                screen += chunk
                if type_first and b"now" in screen and not typed:
                    os.write(master, type_first)
                    typed = True
                    (coilclaw.workspace / "typed").touch()
        except OSError:
            pass  # Linux reports the end of a terminal this way.
        process.wait(60)
    os.close(master)
    return screen


def test_what_was_typed_before_the_question_is_no_answer(coilclaw: Command) -> None:
    coilclaw("init")
    script = coilclaw.folder / "x.py"
    script.write_text(
        "import time\nprint('type y now')\nwhile not tools.files.read(path='typed').ok: time.sleep(0.05)\n"
        "tools.files.write(path='a.txt', text='x').code"
    )
    screen = on_terminal(coilclaw, [*coilclaw.line, "run", str(script)], type_first=b"y\n")
    assert b"approval_denied" in screen
    assert not (coilclaw.workspace / "a.txt").exists()


SAYING = (
    f"getattr(tools, '{HOSTILE}').y()",
    f"raise ValueError('{HOSTILE}')",
    f"print('{HOSTILE}')",
    f"'{HOSTILE}'",
    f"class E(Exception): pass\nE.__name__ = '{HOSTILE}'\nraise E('{HOSTILE}')",
    f"import sys\nprint('{HOSTILE}', file=sys.stderr)",
)


@pytest.mark.parametrize("source", sample(SAYING, 3))
def test_nothing_a_snippet_says_controls_the_terminal(coilclaw: Command, source: str) -> None:
    script = coilclaw.folder / "x.py"
    script.write_text(source)
    commands = [["run", str(script)], ["receipt", "list"], ["receipt", "show", "2"]]
    for command in commands:
        screen = on_terminal(coilclaw, [*coilclaw.line, *command])
        for control in (b"\x1b]0;", b"\x1b[2J", b"\x07", b"\xc2\x9b"):
            assert control not in screen, command


def test_a_pipe_gets_output_as_it_is(coilclaw: Command) -> None:
    assert coilclaw("run", "-", stdin="print('\\x1b[1mbold')").out == "\x1b[1mbold\n"


TALKATIVE = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="a.talk", risk="read")
def talk(ctx: ToolContext) -> int:
    print("hello from the tool")
    return 1
"""


def test_what_a_tool_prints_does_not_break_the_json(coilclaw: Command) -> None:
    coilclaw.tool("a/x.py", TALKATIVE)
    done = coilclaw("run", "-", "--json", stdin="tools.a.talk().value")
    assert done.json["value"] == 1
    assert "hello from the tool" in done.err
    assert coilclaw("tool", "run", "a.talk").out == "1\n"


@pytest.mark.parametrize(
    "args",
    [
        ("run", "-", "--input", 'x="\\ud800"'),
        ("run", "-", "--input", "x=" + "[" * 5000 + "]" * 5000),
        ("run", "-", "--input", "x=" + "[" * 400 + "]" * 400),
        ("tool", "run", "files.list", "--json", '{"path": ' + "[" * 400 + "]" * 400 + "}"),
        ("run", "-", "--input", "x=NaN"),
        ("run", "-", "--workspace", "~nouser/x"),
        ("run", "-", "--workspace", "a" * 5000),
        ("init", "--workspace", "~nouser/x"),
        ("tool", "run", "files.list", "--json", '{"path": "\\ud800"}'),
        ("receipt", "list", "--limit", "99999999999999999999999"),
        ("receipt", "show", "nothing"),
        (b"receipt", b"show", b"\xff"),
        (b"tool", b"run", b"\xff"),
    ],
)
def test_careless_arguments_get_one_clear_line(coilclaw: Command, args: tuple[str | bytes, ...]) -> None:
    done = coilclaw(*map(os.fsdecode, args), stdin="1")
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    assert "Error" in done.err


@pytest.mark.parametrize("variable", ["COILCLAW_HOME", "COILCLAW_WORKSPACE"])
def test_a_home_of_nobody_gets_one_clear_line(coilclaw: Command, variable: str) -> None:
    done = coilclaw("run", "-", stdin="1", **{variable: "~nouser/x"})
    assert done.code == 2
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "line", ["run x.py | head -1", "run x.py > /dev/full", "run - <&-", "receipt export > /dev/full"]
)
def test_streams_that_fail_do_not_end_in_a_traceback(coilclaw: Command, line: str) -> None:
    (coilclaw.folder / "x.py").write_text("for n in range(20000): print(n)")
    coilclaw("run", "-", stdin="1")
    done = subprocess.run(
        ["bash", "-c", f"{coilclaw.line[0]} {line}"], env=coilclaw.environment, capture_output=True, cwd=coilclaw.folder
    )
    assert b"Traceback" not in done.stderr
    assert coilclaw("receipt", "verify").code == 0


def test_a_workspace_around_our_own_files_is_refused(coilclaw: Command) -> None:
    done = coilclaw("run", "-", "--yes", "--workspace", coilclaw.home.parent, stdin="1")
    assert done.code == 2
    assert "contains CoilClaw's home folder" in done.err


def test_a_missing_key_is_not_replaced(coilclaw: Command) -> None:
    coilclaw("run", "-", stdin="1")
    (coilclaw.home / "keys/receipts.key").unlink()
    done = coilclaw("run", "-", stdin="1")
    assert done.code == 2
    assert "key" in done.err
    assert not (coilclaw.home / "keys/receipts.key").exists()
