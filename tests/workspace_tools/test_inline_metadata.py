"""PEP 723 blocks: read as the specification says, and compared with what is installed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from coilclaw.workspace_tools import load_workspace
from coilclaw.workspace_tools.inline_metadata import (
    BadMetadata,
    InlineMetadata,
    install_command,
    missing_requirements,
    read_metadata,
    unmet_python,
)

BLOCK = """\
# A tool.

# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "pydantic>=2",
#   "not-there-at-all>=2",
# ]
#
# [tool.other]
# x = 1
# ///
import pydantic
"""


def test_a_block_is_read_with_the_line_it_stands_on() -> None:
    assert read_metadata(BLOCK) == InlineMetadata(
        dependencies=("pydantic>=2", "not-there-at-all>=2"), requires_python=">=3.11", line=3
    )
    assert read_metadata(BLOCK.replace("\n", "\r\n")) == read_metadata(BLOCK)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import os\n",
        "# /// script\n# dependencies = []\n",  # Never closed.
        "# /// pyproject\n# dependencies = ['x']\n# ///\n",
        "#/// script\n# dependencies = ['x']\n# ///\n",
        "# /// script\ndependencies = ['x']\n# ///\n",
        " # /// script\n # dependencies = ['x']\n # ///\n",
    ],
)
def test_what_is_no_block_is_left_alone(text: str) -> None:
    assert read_metadata(text) is None


def test_a_closing_mark_inside_the_comment_belongs_to_the_content() -> None:
    """The specification takes the last mark of one run of comment lines."""
    text = '# /// script\n# embedded = """\n# # ///\n# """\n# dependencies = ["x"]\n# ///\n'
    found = read_metadata(text)
    assert found is not None
    assert found.dependencies == ("x",)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("# dependencies = [", "not valid TOML"),
        ("# dependencies = 'x'", "not a list of strings"),
        ("# dependencies = [1]", "not a list of strings"),
        ("# dependencies = ['not a requirement!']", "not a requirement"),
        ("# dependencies = ['--index-url=http://evil']", "not a requirement"),
        ("# dependencies = ['x; $(rm -rf ~)']", "not a requirement"),
        ("# requires-python = 'new'", "not a version specifier"),
        ("# requires-python = 3.11", "not a version specifier"),
        ("# dependencies = []\n# ///\n\n# /// script\n# dependencies = []", "more than one"),
    ],
)
def test_a_block_nobody_can_use_is_told_with_its_line(content: str, words: str) -> None:
    with pytest.raises(BadMetadata, match=words) as caught:
        read_metadata(f"\n# /// script\n{content}\n# ///\n")
    assert caught.value.line >= 2
    assert caught.value.hint


def needs(*dependencies: str, python: str | None = None) -> InlineMetadata:
    return InlineMetadata(dependencies=dependencies, requires_python=python)


def test_only_what_is_missing_or_has_another_version_is_missing() -> None:
    needed = needs(
        "pydantic",
        "Pydantic>=2",
        "pydantic<1",
        "not-there-at-all",
        "not-there-either; python_version < '3'",
        "pydantic[email]>=2",
    )
    assert missing_requirements(needed) == ("pydantic<1", "not-there-at-all")


def test_the_running_python_is_compared() -> None:
    assert unmet_python(needs()) is None
    assert unmet_python(needs(python=">=3.11")) is None
    assert unmet_python(needs(python=">=99")) == ">=99"


def test_the_command_names_the_interpreter_and_survives_a_shell() -> None:
    command = install_command(["requests>=2", "x; python_version < '4'"])
    assert shlex.split(command) == [sys.executable, "-m", "pip", "install", "requests>=2", "x; python_version < '4'"]


def test_an_environment_of_uv_is_served_by_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.9.1\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert shlex.split(install_command(["x"])) == ["uv", "pip", "install", "--python", sys.executable, "x"]


def write(tmp_path: Path, text: str) -> str:
    file = tmp_path / "tools/a/x.py"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    (diagnostic,) = load_workspace(tmp_path).diagnostics
    return diagnostic.hint or ""


def test_a_missing_import_is_explained_with_what_the_file_says(tmp_path: Path) -> None:
    hint = write(tmp_path, BLOCK + "import not_there\n")
    assert hint == f"the file says it needs this; install it with: {install_command(['not-there-at-all>=2'])}"


def test_a_missing_import_without_a_block_is_explained_honestly(tmp_path: Path) -> None:
    hint = write(tmp_path, "import not_there.deep\n")
    assert (
        hint
        == f"install it with: {install_command(['not_there'])} (if the distribution has another name than 'not_there', use that)"
    )


def test_a_made_up_import_error_does_not_put_a_command_into_the_hint(tmp_path: Path) -> None:
    hint = write(tmp_path, "raise ModuleNotFoundError('x', name='x; touch owned')\n")
    assert install_command(["x; touch owned"]) in hint
    assert "'x; touch owned'" in hint


def test_a_block_that_cannot_be_read_is_what_the_hint_is_about(tmp_path: Path) -> None:
    hint = write(tmp_path, "# /// script\n# dependencies = [\n# ///\nimport not_there\n")
    assert "not valid TOML" in hint


def test_a_missing_neighbour_is_not_looked_for_on_an_index(tmp_path: Path) -> None:
    hint = write(tmp_path, "from .client import x\n")
    assert hint == "there is no client.py beside this file; make it, or correct the name"
