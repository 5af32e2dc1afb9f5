"""`coilclaw tool reload`: everything again, here and wherever the workspace is watched."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from coilclaw.workspace_tools import Watch

TOOL = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="mine.tool", risk="read")
def tool(ctx: ToolContext) -> int:
    return 1
"""


@pytest.mark.req("R66")
def test_it_says_what_came_of_it(coilclaw: Command) -> None:
    coilclaw.tool("mine/tools.py", TOOL)
    done = coilclaw("tool", "reload")
    assert done.code == 0, done.err
    assert "Loaded 1 tool of" in done.out
    facts = coilclaw("tool", "reload", "--json").json
    assert facts["tools"] == ["mine.tool"]
    assert facts["failed"] == facts["quarantined"] == []


def test_a_broken_file_fails_it_and_the_others_are_loaded(coilclaw: Command) -> None:
    coilclaw.tool("mine/tools.py", TOOL)
    coilclaw.tool("mine/broken.py", "x = = 1\n")
    done = coilclaw("tool", "reload", "--json")
    assert done.code == 1
    assert done.json["tools"] == ["mine.tool"]
    assert done.json["failed"] == ["tools/mine/broken.py"]


def test_without_a_folder_it_says_how_to_begin(coilclaw: Command) -> None:
    done = coilclaw("tool", "reload")
    assert done.code != 0
    assert "coilclaw tool new" in done.err


@pytest.mark.req("R66")
def test_a_process_that_watches_loads_everything_again(coilclaw: Command) -> None:
    coilclaw.tool("mine/tools.py", TOOL)
    began, forced = threading.Event(), threading.Event()

    def look(force: bool) -> bool:
        began.set()
        if force:
            forced.set()
        return True

    with Watch(coilclaw.workspace / "tools", look):
        assert began.wait(60)
        assert coilclaw("tool", "reload").code == 0
        assert forced.wait(60)


def as_a_link(request: Path, target: Path) -> None:
    request.symlink_to(target)


def as_a_folder(request: Path, target: Path) -> None:
    request.mkdir()


def as_a_pipe(request: Path, target: Path) -> None:
    os.mkfifo(request)


@pytest.mark.parametrize("make", [as_a_link, as_a_folder, as_a_pipe], ids=lambda make: make.__name__)
def test_whatever_stands_in_the_place_of_the_request_is_not_followed(coilclaw: Command, make: object) -> None:
    coilclaw.tool("mine/tools.py", TOOL)
    target = coilclaw.folder / "made-through-a-link"
    assert callable(make)
    make(coilclaw.workspace / "tools/.reload", target)
    done = coilclaw("tool", "reload")
    assert done.code == 0, done.err
    assert not target.exists()
