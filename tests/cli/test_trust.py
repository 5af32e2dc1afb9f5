"""`coilclaw tool trust`: what a person is shown, what they say yes to, and nothing else."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli import terminal
from tests.cli.conftest import Command, Done

from coilclaw.app import CoilClaw, Stores, open_stores
from coilclaw.config import load_settings

TOOL = """
from pathlib import Path
from coilclaw.sdk import ToolContext, define_tool
(Path(__file__).resolve().parents[2] / "it-ran").touch()

@define_tool(id="theirs.tool", risk="read")
def tool(ctx: ToolContext) -> int:
    return {value}
"""
NAME = "tools/theirs/tools.py"


@contextmanager
def stores(coilclaw: Command) -> Iterator[Stores]:
    settings = load_settings({"COILCLAW_HOME": str(coilclaw.home)}, {"workspace_dir": str(coilclaw.workspace)})
    with open_stores(settings) as opened:
        yield opened


def written(coilclaw: Command, data: bytes | str, name: str = NAME) -> Path:
    """A file as a call leaves it."""
    content = data.encode() if isinstance(data, str) else data
    with stores(coilclaw) as opened:
        opened.trust(coilclaw.workspace).note_written("call-1", content)
    file = coilclaw.workspace / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def on_a_terminal(coilclaw: Command, *args: str, answer: str, meanwhile: object = None) -> Done:
    """With somebody at the keyboard, who answers once the question was put."""
    keyboard, terminal = pty.openpty()
    process = subprocess.Popen(
        [*coilclaw.line, *args],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=coilclaw.environment,
        cwd=coilclaw.folder,
    )
    os.close(terminal)
    assert process.stderr is not None
    shown = b""
    while b"[y/N]" not in shown and (piece := os.read(process.stderr.fileno(), 4096)):
        shown += piece
    if callable(meanwhile):
        meanwhile()
    os.write(keyboard, f"{answer}\n".encode())
    out, err = process.communicate(timeout=60)
    os.close(keyboard)
    return Done(process.returncode, out.decode(), (shown + err).decode())


@pytest.mark.req("R61", "R99")
def test_what_a_run_wrote_is_listed_shown_trusted_and_then_runs(coilclaw: Command) -> None:
    text = TOOL.format(value=7)
    snippet = f"tools.files.write(path={NAME!r}, text={text!r}).unwrap()"
    coilclaw.workspace.mkdir(parents=True)
    done = coilclaw("run", "-", "--yes", stdin=snippet)
    assert done.code == 0, done.err
    listed = coilclaw("tool", "list")
    assert "theirs.tool" not in listed.out
    assert f"coilclaw tool trust {NAME}" in listed.err
    assert [each["path"] for each in coilclaw("tool", "trust", "--json").json] == [NAME]
    assert NAME in coilclaw("tool", "trust").out
    assert not (coilclaw.workspace / "it-ran").exists()
    shown = coilclaw("tool", "trust", NAME, "--yes")
    assert shown.code == 0, shown.err
    assert "+    return 7" in shown.out
    assert "--- nothing" in shown.out
    assert coilclaw("tool", "run", "theirs.tool").out.strip() == "7"
    assert coilclaw("tool", "trust", "--json").json == []
    (trusted,) = [each for each in coilclaw("receipt", "list", "--json").json if each["type"] == "tool.module.trusted"]
    assert trusted["payload"]["path"] == NAME


def test_a_change_is_shown_against_what_was_in_force(coilclaw: Command) -> None:
    coilclaw.tool("theirs/tools.py", TOOL.format(value=1))
    assert coilclaw("tool", "run", "theirs.tool").out.strip() == "1"
    written(coilclaw, TOOL.format(value=2))
    done = coilclaw("tool", "trust", NAME, "--yes")
    assert "-    return 1" in done.out
    assert "+    return 2" in done.out
    assert "import define_tool" not in done.out.replace(" from coilclaw.sdk import ToolContext, define_tool", "")


@pytest.mark.parametrize("answer", ["n", ""])
def test_without_a_yes_it_stays_in_quarantine(coilclaw: Command, answer: str) -> None:
    written(coilclaw, TOOL.format(value=1))
    done = on_a_terminal(coilclaw, "tool", "trust", NAME, answer=answer)
    assert done.code == 1
    assert "left in quarantine" in done.err
    assert len(coilclaw("tool", "trust", "--json").json) == 1


def test_a_yes_is_about_what_was_shown_and_not_about_what_came_meanwhile(coilclaw: Command) -> None:
    file = written(coilclaw, TOOL.format(value=1))
    swapped = TOOL.format(value=666)

    def swap() -> None:
        written(coilclaw, swapped)

    done = on_a_terminal(coilclaw, "tool", "trust", NAME, answer="y", meanwhile=swap)
    assert done.code == 0, done.err
    assert "return 1" in done.out
    assert "666" not in done.out
    assert "changed since it was shown" in done.err
    assert len(coilclaw("tool", "trust", "--json").json) == 1
    assert "theirs.tool" not in coilclaw("tool", "list").out
    assert not (coilclaw.workspace / "it-ran").exists()
    file.write_text(TOOL.format(value=1))
    assert "theirs.tool" in coilclaw("tool", "list").out


def test_nobody_at_the_terminal_trusts_nothing(coilclaw: Command) -> None:
    written(coilclaw, TOOL.format(value=1))
    done = coilclaw("tool", "trust", NAME, stdin="y\n")
    assert done.code != 0
    assert "nobody is there" in done.err
    assert len(coilclaw("tool", "trust", "--json").json) == 1


def test_with_json_a_person_still_sees_what_they_are_asked_about(coilclaw: Command) -> None:
    written(coilclaw, TOOL.format(value=1))
    done = on_a_terminal(coilclaw, "tool", "trust", NAME, "--json", answer="y")
    assert "return 1" in done.err
    assert done.json[0]["path"] == NAME
    assert done.json[0]["receipt"].startswith("receipt-")


HOSTILE = {
    "escape sequences": (b"x = 1  # \x1b[2J\x1b[H\x1b]0;title\x07\n", "\\u001b[2J"),
    "text that runs backwards": ("x = 1  # \u202e } trusted\n".encode(), "\\u202e"),
    "nothing visible": ("x\u200b\u2060 = 1\n".encode(), "\\u200b"),
    "carriage return": (b"# harmless\rimport os\n", "+import os"),
    "a form feed that is no new line": (b"# \x0cif not allowed: raise PermissionError\n", "# \\fif not allowed"),
    "a line separator that is no new line": ("# \u2028raise PermissionError\n".encode(), "# \\u2028raise"),
    "a tag of another encoding": (b"# -*- coding: utf-7 -*-\n# fine +AAo-import os\n", "+import os"),
    "escapes that Python undoes": (b"# coding: unicode_escape\n# fine \\x0aimport os\n", "+import os"),
    "no text at all": (b"x = '\xff\xfe'\n", "\\xff\\xfe"),
    "an encoding that is none": (b"# coding: nonsense\nx = 1\n", "coding: nonsense"),
    "names that look empty": ("x = '\u3164'\n".encode(), "'\\u3164'"),
    "a text in variation selectors": ("x = 'a\ufe01\U000e0141'\n".encode(), "'a\\ufe01\\udb40\\udd41'"),
    "blanks up to the next screen": (b"x = 1" + b" " * 300 + b"; import os\n", "x = 1⟦300 blanks⟧; import os"),
    "null bytes": (b"x = 1\0import os\n", "\\u0000import os"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_shown_is_what_python_reads_and_cannot_control_the_terminal(coilclaw: Command, kind: str) -> None:
    data, expected = HOSTILE[kind]
    written(coilclaw, data)
    done = coilclaw("tool", "trust", NAME, "--yes")
    assert done.code == 0, done.err
    assert expected in done.out
    assert all(char.isprintable() or char in "\n\t" for char in done.out + done.err)
    if b"coding" in data:
        assert "Warning: the file says it is written in" in done.err


def test_what_was_not_shown_on_the_terminal_is_not_trusted(coilclaw: Command) -> None:
    written(coilclaw, "x = 1\n" * 100 + "import os\n")
    answers = [(b"[m]ore", b"y\n"), (b"[m]ore", b"n\n")]
    session = terminal.on_terminal(coilclaw, "tool", "trust", NAME, answers=answers)
    assert session.code == 1
    assert "import os" not in session.screen
    answers = [(b"[m]ore", b"a\n"), (b"[y/N]", b"y\n")]
    session = terminal.on_terminal(coilclaw, "tool", "trust", NAME, answers=answers)
    assert (session.code, "+import os" in session.screen) == (0, True)


def test_a_huge_change_is_shown_whole(coilclaw: Command) -> None:
    written(coilclaw, "".join(f"x = {number % 7}\n" for number in range(100_000)) + "import os\n")
    done = coilclaw("tool", "trust", NAME, "--yes")
    assert done.code == 0, done.err
    assert done.out.count("\n+x = ") == 100_000
    assert "\n+import os" in done.out


@pytest.mark.parametrize(
    "path",
    [
        "../outside.py",
        "/etc/passwd",
        "tools/../outside.py",
        "tools/theirs",
        "tools/nothing/x.py",
        "tools/theirs/\x1b[2J",
    ],
)
def test_a_path_that_is_no_tool_file_is_refused(coilclaw: Command, path: str) -> None:
    written(coilclaw, TOOL.format(value=1))
    (coilclaw.workspace / "outside.py").write_text("x = 1\n")
    done = coilclaw("tool", "trust", path, "--yes")
    assert done.code != 0
    assert "Traceback" not in done.err
    assert "\x1b" not in done.err
    with stores(coilclaw) as opened:
        assert not [each for each in opened.log.latest(100) if each.type == "tool.module.trusted"]


def test_trusting_a_link_is_about_the_content_behind_it(coilclaw: Command) -> None:
    written(coilclaw, TOOL.format(value=1), "notes/draft.txt")
    (coilclaw.workspace / "tools/theirs").mkdir(parents=True)
    (coilclaw.workspace / NAME).symlink_to(coilclaw.workspace / "notes/draft.txt")
    assert coilclaw("tool", "trust", NAME, "--yes").code == 0
    assert "theirs.tool" in coilclaw("tool", "list").out
    written(coilclaw, TOOL.format(value=2), "notes/draft.txt")
    assert "theirs.tool" not in coilclaw("tool", "list").out


def test_a_file_that_is_not_held_needs_nothing(coilclaw: Command) -> None:
    coilclaw.tool("mine/tools.py", TOOL.format(value=1).replace("theirs", "mine"))
    done = coilclaw("tool", "trust", "tools/mine/tools.py", "--yes", "--json")
    assert done.code == 0
    assert done.json == []
    assert "not quarantined" in done.err
    assert not (coilclaw.workspace / "it-ran").exists(), "it was only looked at"


def test_a_process_that_watches_has_the_tool_at_once_and_runs_nothing_else_again(coilclaw: Command) -> None:
    import threading

    coilclaw.tool("mine/tools.py", TOOL.format(value=1).replace("theirs", "mine"))
    written(coilclaw, TOOL.format(value=5))
    came = threading.Event()
    with CoilClaw.open(coilclaw.home, workspace=coilclaw.workspace) as claw:
        mine = claw.tools.get("mine.tool")
        assert claw.tools.get("theirs.tool") is None

        def changed(change: object, registry: object) -> None:
            if claw.tools.get("theirs.tool") is not None:
                came.set()

        with claw.tools.watch(changed):
            assert coilclaw("tool", "trust", NAME, "--yes").code == 0
            assert came.wait(60)
        assert claw.tools.registry.tools["theirs.tool"](None) == 5
        assert claw.tools.get("mine.tool") is mine
    assert not (coilclaw.workspace / "tools/.reload").exists()


def test_several_files_are_asked_about_one_after_the_other(coilclaw: Command) -> None:
    written(coilclaw, TOOL.format(value=1))
    written(coilclaw, "X = 1\n", "tools/theirs/client.py")
    done = coilclaw("tool", "trust", NAME, "tools/theirs/client.py", NAME, "--yes", "--json")
    assert [each["path"] for each in done.json] == [NAME, "tools/theirs/client.py"]
    assert coilclaw("tool", "trust", "--json").json == []
