"""Standard streams that are closed, or cannot take what is printed, do not end a run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess

import pytest
from tests.cli.conftest import Command
from tests.cli.terminal import on_terminal

NOISY = '''
import sys
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="noisy.talk", risk="read")
def talk(ctx: ToolContext, text: str) -> int:
    """Print the text on both streams."""
    print(text)
    print(text, file=sys.stderr)
    return 1
'''


def shell(coilclaw: Command, line: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", f"{coilclaw.line[0]} {line}"],
        env=coilclaw.environment,
        capture_output=True,
        cwd=coilclaw.folder,
        timeout=120,
    )


@pytest.mark.parametrize("closed", ["<&-", "2>&-", ">&-", "<&- >&- 2>&-"])
def test_a_run_with_closed_streams_runs(coilclaw: Command, closed: str) -> None:
    (coilclaw.folder / "x.py").write_text(
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\ntools.time.now().unwrap()\nNone"
    )
    done = shell(coilclaw, f"run x.py {closed}")
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert (b"out" in done.stdout) is (" >&-" not in f" {closed}")
    assert coilclaw("receipt", "verify").code == 0


def test_a_closed_input_is_no_empty_snippet(coilclaw: Command) -> None:
    done = shell(coilclaw, "run - <&-")
    assert done.returncode == 2
    assert b"cannot read standard input" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_characters_a_stream_cannot_take_are_written_out(coilclaw: Command, encoding: str) -> None:
    source = "import sys\nprint('→ 名')\nprint('→', file=sys.stderr)\n'→'"
    done = coilclaw("run", "-", stdin=source, PYTHONIOENCODING=f"{encoding}:strict")
    assert done.code == 0, done.err
    assert "\\u2192 \\u540d" in done.out
    assert "\\u2192" in done.err
    assert "bug" not in done.err


def test_a_value_is_json_whatever_the_stream_can_take(coilclaw: Command) -> None:
    done = coilclaw("run", "-", stdin="'Zoë 名 😀'", PYTHONIOENCODING="ascii:strict")
    assert done.out.isascii()
    assert json.loads(done.out) == "Zoë 名 😀"


def test_what_a_tool_prints_cannot_control_the_terminal(coilclaw: Command) -> None:
    coilclaw.tool("noisy/tools.py", NOISY)
    done = coilclaw("run", "-", stdin="tools.noisy.talk(text='\\x1b[2J\\u202eé').ok")
    assert done.err.count("\\u001b[2J\\u202eé") == 2
    assert not {"\x1b", "\u202e"} & set(done.out + done.err)


STRAY = '''
import os, subprocess, sys
from coilclaw.sdk import ToolContext, define_tool
{at_import}

@define_tool(id="stray.talk", risk="read")
def talk(ctx: ToolContext) -> int:
    """Write past Python's streams."""
    {in_handler}
    return 1
'''
FORGED = r"b'\x1b]0;t\x07forged\n'"
WRITES = [
    f"os.write(1, {FORGED})",
    f"os.write(2, {FORGED})",
    f"subprocess.run(['printf', '%b', {FORGED}], check=True)",
    f"subprocess.run(['printf', '%b', {FORGED}], stdout=2, check=True)",
    f"subprocess.run(['printf', '%b', {FORGED}], stdout=sys.stderr.fileno(), check=True)",
    f"sys.__stdout__.buffer.write({FORGED}); sys.__stdout__.flush()",
    f"sys.stderr.buffer.write({FORGED}); sys.stderr.flush()",
]


@pytest.mark.parametrize("write", WRITES)
def test_what_is_written_past_pythons_streams_is_no_output_of_the_command(coilclaw: Command, write: str) -> None:
    coilclaw.tool("stray/tools.py", STRAY.format(at_import="", in_handler=write))
    done = coilclaw("run", "-", "--json", stdin="tools.stray.talk().unwrap()")
    assert done.code == 0, done.err
    assert done.json["value"] == 1
    assert "\\u001b]0;t\\u0007forged\n" in done.err
    assert "\x1b" not in done.err


@pytest.mark.parametrize("write", [*WRITES[:3], "os.close(1)", "os.close(1); os.close(2)"])
def test_what_a_tool_file_does_to_descriptors_while_it_is_loaded_leaves_the_output_as_it_is(
    coilclaw: Command, write: str
) -> None:
    coilclaw.tool("stray/tools.py", STRAY.format(at_import=write, in_handler="pass"))
    done = coilclaw("run", "-", "--json", stdin="tools.stray.talk().unwrap()")
    assert done.code == 0, done.err
    assert done.json["value"] == 1
    assert "\x1b" not in done.err


def test_a_child_process_may_write_more_than_a_pipe_holds(coilclaw: Command) -> None:
    many = "subprocess.run([sys.executable, '-c', 'print(\"x\" * 1_000_000)'], check=True)"
    coilclaw.tool("stray/tools.py", STRAY.format(at_import="", in_handler=many))
    done = coilclaw("run", "-", "--json", stdin="tools.stray.talk().unwrap()")
    assert done.json["value"] == 1
    assert "x" * 1_000_000 in done.err


def test_a_process_that_is_left_behind_does_not_keep_the_output_open(coilclaw: Command) -> None:
    left = "print(subprocess.Popen(['sleep', '100']).pid, file=open('left', 'w'))"
    coilclaw.tool("stray/tools.py", STRAY.format(at_import="", in_handler=left))
    try:
        # Reads to the end of both streams, which must not wait for that process.
        assert coilclaw("run", "-", "--json", stdin="tools.stray.talk().unwrap()").json["value"] == 1
    finally:
        os.kill(int((coilclaw.folder / "left").read_text()), signal.SIGKILL)


LATE = """threading.Thread(target=lambda: [print('late', end='') for _ in range(300_000)], daemon=True).start()"""


@pytest.mark.parametrize("line", [("run", "-", "--json"), ("tool", "run", "stray.talk", "--json", "{}")])
def test_a_thread_that_is_left_behind_prints_nothing_into_the_output(coilclaw: Command, line: tuple[str, ...]) -> None:
    coilclaw.tool("stray/tools.py", STRAY.format(at_import="import threading", in_handler=LATE))
    done = coilclaw(*line, stdin="print('own')\ntools.stray.talk().unwrap()")
    assert done.code == 0, done.err
    assert "late" not in done.out
    assert "late" in done.err
    assert done.json["value"] == 1 if line[0] == "run" else done.json == 1


HANGS = "import time\ntime.sleep(1000)\n"


def test_a_warning_keeps_its_colour_after_a_file_was_given_up(coilclaw: Command) -> None:
    coilclaw.tool("slow/tools.py", HANGS)
    shown = on_terminal(coilclaw, "tool", "list", answers=[]).raw
    words = re.sub(r"\x1b\[\d+m|…", " ", shown).split()  # Wrapped wherever the path in front of it ends.
    assert "did not finish loading" in " ".join(words)
    assert "\x1b[33mWarning: " in shown
    assert "u001b" not in shown
