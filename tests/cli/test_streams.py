"""Standard streams that are closed, or cannot take what is printed, do not end a run."""

from __future__ import annotations

import subprocess

import pytest
from tests.cli.conftest import Command

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


def test_what_a_tool_prints_cannot_control_the_terminal(coilclaw: Command) -> None:
    coilclaw.tool("noisy/tools.py", NOISY)
    done = coilclaw("run", "-", stdin="tools.noisy.talk(text='\\x1b[2J\\u202eé').ok")
    assert done.err.count("\\u001b[2J\\u202eé") == 2
    assert not {"\x1b", "\u202e"} & set(done.out + done.err)
