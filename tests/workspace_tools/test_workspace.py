"""Tool files of a workspace: found, loaded, or explained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coilclaw.bridge import build_registry
from coilclaw.workspace_tools import load_installed, load_workspace

GOOD = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="{id}", risk="read")
def tool(ctx: ToolContext) -> str:
    return "{id}"
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(path: str, text: str) -> Path:
        file = tmp_path / "tools" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return put


@pytest.mark.req("R9", "R60", "R62", "R64", "R67", "R95")
def test_tools_and_their_clients_are_loaded(tmp_path: Path, write: Write) -> None:
    write("posthog/client.py", "ANSWER = 42\n")
    write(
        "posthog/tools.py",
        "from coilclaw.sdk import ToolContext, define_tool\n"
        "from .client import ANSWER\n"
        "@define_tool(id='posthog.analytics.visitors', risk='read')\n"
        "def visitors(ctx: ToolContext) -> int:\n"
        "    return ANSWER\n",
    )
    loaded = load_workspace(tmp_path)
    assert not loaded.diagnostics
    (tool,) = loaded.tools
    assert tool(None) == 42
    assert tool.source_digest
    assert tool.line == 3 or tool.line == 4


def test_a_workspace_without_tools_is_fine(tmp_path: Path) -> None:
    assert load_workspace(tmp_path).tools == []
    assert load_workspace(tmp_path / "nowhere").tools == []


def test_a_tool_that_another_module_imports_counts_once(tmp_path: Path, write: Write) -> None:
    write("a/base.py", GOOD.format(id="a.b"))
    write("a/more.py", "from .base import tool\n")
    assert [tool.id for tool in load_workspace(tmp_path).tools] == ["a.b"]


def test_packages_tests_and_hidden_files(tmp_path: Path, write: Write) -> None:
    write("a/__init__.py", GOOD.format(id="a.init"))
    write("a/sub.py", "from . import tool as other\n" + GOOD.format(id="a.sub"))
    for ignored in ("a/test_sub.py", "a/conftest.py", "a/_draft.py", "a/.hidden.py", ".b/x.py", "_c/x.py"):
        write(ignored, "raise SystemError('must not be loaded')\n")
    loaded = load_workspace(tmp_path)
    assert sorted(tool.id for tool in loaded.tools) == ["a.init", "a.sub"]
    assert not loaded.diagnostics


BROKEN = {
    "syntax": ("x = = 1\n", 1, "not valid Python"),
    "import": ("\nimport not_there_at_all\n", 2, "not_there_at_all"),
    "raises": ("\n\nraise RuntimeError('oh')\n", 3, "RuntimeError: oh"),
    "exits": ("import sys\nsys.exit(3)\n", 2, "SystemExit"),
    "contract": (GOOD.format(id="nodot"), 4, "id: "),
    "nested": ("def f():\n    return 1 / 0\nf()\n", 2, "ZeroDivisionError"),
    "null": ("x = 1\0\n", None, "null"),
    "relative": ("from .nothing import x\n", 1, "nothing"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_a_diagnostic_and_the_others_load(tmp_path: Path, write: Write, kind: str) -> None:
    text, line, words = BROKEN[kind]
    broken = write("a/broken.py", text)
    write("b/fine.py", GOOD.format(id="b.fine"))
    loaded = load_workspace(tmp_path)
    assert [tool.id for tool in loaded.tools] == ["b.fine"]
    (diagnostic,) = loaded.diagnostics
    assert diagnostic.file == str(broken)
    assert words in diagnostic.message
    assert diagnostic.line is None or line is None or abs(diagnostic.line - line) <= 1


def test_misplaced_files_and_folders_are_explained(tmp_path: Path, write: Write) -> None:
    write("loose.py", GOOD.format(id="a.b"))
    write("has-dash/x.py", GOOD.format(id="a.b"))
    loaded = load_workspace(tmp_path)
    assert not loaded.tools
    assert len(loaded.diagnostics) == 2


def test_two_files_with_one_id_are_named(tmp_path: Path, write: Write) -> None:
    write("a/one.py", GOOD.format(id="a.same"))
    write("a/two.py", GOOD.format(id="a.same"))
    loaded = load_workspace(tmp_path)
    registry = build_registry([(loaded.tools, loaded.diagnostics)])
    assert not registry.tools
    (diagnostic,) = registry.diagnostics
    assert Path(diagnostic.file).name == "one.py"
    assert "two.py" in diagnostic.message


def test_what_a_module_prints_is_told_on_one_line_and_does_not_reach_stdout(
    tmp_path: Path, write: Write, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    write("a/chatty.py", "import sys\nprint('hello from\\x1b[2J import')\nsys.stdout.buffer.write(b'x' * 9_000_000)\n")
    load_workspace(tmp_path)
    assert capsys.readouterr() == ("", "")
    (told,) = caplog.messages
    assert "tools/a/chatty.py printed while it was loaded: hello from\\u001b[2J import" in told
    assert len(told) < 3_000


def test_an_edit_within_the_same_second_is_seen(tmp_path: Path, write: Write) -> None:
    for number in range(5):
        write("a/x.py", GOOD.format(id="a.b").replace('return "a.b"', f'return "{number}"'))
        (tool,) = load_workspace(tmp_path).tools
        assert tool(None) == str(number)
    assert not list((tmp_path / "tools").rglob("__pycache__"))


@pytest.mark.req("R136")
def test_installed_integrations_come_through_the_same_hook() -> None:
    loaded = load_installed()
    assert not loaded.diagnostics
    assert {"time.now", "files.list", "files.read", "files.write"} <= {tool.id for tool in loaded.tools}
