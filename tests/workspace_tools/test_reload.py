"""Files change, and the tools follow: what changed, what imports it, and nothing else."""

from __future__ import annotations

import gc
import os
import random
import sys
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from coilclaw.workspace_tools import Workspace, load_workspace

Write = Callable[[str, str], Path]

TOOL = """
from coilclaw.sdk import ToolContext, define_tool
{extra}
@define_tool(id="{id}", risk="read")
def tool(ctx: ToolContext) -> {type}:
    {body}
"""


def tool_source(id: str, value: str = "1", *, extra: str = "", type: str = "int", body: str = "") -> str:
    return TOOL.format(id=id, extra=extra, type=type, body=body or f"return {value}")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(path: str, text: str) -> Path:
        file = tmp_path / "tools" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return put


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def values(workspace: Workspace) -> dict[str, object]:
    return {tool.id: tool(None) for tool in workspace.tools}


@pytest.mark.req("R5", "R11", "R65", "R128")
def test_an_edit_is_live_and_what_was_handed_out_stays_as_it_was(workspace: Workspace, write: Write) -> None:
    write("a/tools.py", tool_source("a.b", "1"))
    workspace.refresh()
    (before,) = workspace.tools
    write("a/tools.py", tool_source("a.b", "2"))
    change = workspace.refresh()
    assert [source.name for source in change.loaded] == ["a/tools.py"]
    assert values(workspace) == {"a.b": 2}
    assert before(None) == 1
    assert before.version != workspace.tools[0].version


def test_nothing_is_loaded_when_nothing_changed(workspace: Workspace, write: Write) -> None:
    write("a/tools.py", tool_source("a.b"))
    assert workspace.refresh()
    (first,) = workspace.tools
    (workspace.sources.root / "a/tools.py").touch()
    assert not workspace.refresh()
    assert workspace.tools[0] is first


def test_only_what_changed_and_what_imports_it_runs_again(workspace: Workspace, write: Write, tmp_path: Path) -> None:
    log = tmp_path / "log"
    note = f"with open({str(log)!r}, 'a') as log: log.write(__file__.rsplit('/', 1)[-1] + ' ')\n"
    write("a/client.py", note + "ANSWER = 1\n")
    write("a/uses.py", note + tool_source("a.uses", "ANSWER", extra="from .client import ANSWER"))
    write("a/later.py", note + tool_source("a.later", body="from .client import ANSWER; return ANSWER"))
    write("a/apart.py", note + tool_source("a.apart", "7"))
    write("b/across.py", note + tool_source("b.across", "client.ANSWER", extra="from ..a import client"))
    workspace.refresh()
    assert values(workspace) == {"a.uses": 1, "a.later": 1, "a.apart": 7, "b.across": 1}
    old = {tool.id: tool for tool in workspace.tools}
    log.write_text("")
    write("a/client.py", note + "ANSWER = 2\n")
    workspace.refresh()
    assert sorted(log.read_text().split()) == ["across.py", "client.py", "later.py", "uses.py"]
    assert values(workspace) == {"a.uses": 2, "a.later": 2, "a.apart": 7, "b.across": 2}
    new = {tool.id: tool for tool in workspace.tools}
    assert new["a.apart"] is old["a.apart"]
    assert new["a.uses"].version != old["a.uses"].version, "its behaviour comes from client.py too"


LOADING = {
    "import_module": ("import importlib", "importlib.import_module('.helper', __package__).ANSWER"),
    "from importlib": ("from importlib import import_module as get", "get('.helper', __package__).ANSWER"),
    "__import__": ("", "__import__(__package__ + '.helper', fromlist=['x']).ANSWER"),
    "at the top": ("import importlib\nhelper = importlib.import_module('.helper', __package__)", "helper.ANSWER"),
    "through another file": ("from ._finding import find", "find('.helper', __package__).ANSWER"),
    "exec": ("from pathlib import Path", "exec(Path(__file__).with_name('helper.py').read_text()) or 1"),
    "runpy": ("import runpy, os", "runpy.run_path(os.path.dirname(__file__) + '/helper.py')['ANSWER']"),
    "sys.path": ("import sys, os\nfolder = os.path.dirname(__file__)", "sys.path.count(folder)"),
    "sys.modules": ("import sys", "sys.modules.get(__package__ + '.helper') and 1 or 0"),
}


@pytest.mark.parametrize("how", LOADING)
def test_a_tool_that_finds_modules_by_itself_is_made_of_every_file(
    workspace: Workspace, write: Write, tmp_path: Path, how: str
) -> None:
    extra, value = LOADING[how]
    write("a/_finding.py", "from importlib import import_module as find\n")
    write("a/helper.py", "ANSWER = 1\n")
    write("a/tools.py", tool_source("a.b", value, extra=extra))
    write("b/apart.py", tool_source("b.apart", "7"))
    workspace.refresh()
    before = {tool.id: tool for tool in workspace.tools}
    old = before["a.b"](None)
    write("a/helper.py", "ANSWER = 2\n")
    workspace.refresh()
    after = {tool.id: tool for tool in workspace.tools}
    assert after["a.b"].version != before["a.b"].version
    assert after["b.apart"] is before["b.apart"], "nothing that it does depends on the other file"
    if "ANSWER" in value:
        assert (old, before["a.b"](None) if "runpy" not in how else 1, after["a.b"](None)) == (1, 1, 2)
    assert after["a.b"].version == {tool.id: tool for tool in cold(tmp_path).tools}["a.b"].version
    write("c/new.py", tool_source("c.new", "8"))
    workspace.refresh()
    assert facts_of(workspace, "a.b") == facts_of(cold(tmp_path), "a.b") != after["a.b"].version


def facts_of(workspace: Workspace, id: str) -> str:
    return next(tool.version for tool in workspace.tools if tool.id == id)


def test_an_import_inside_a_function_finds_the_generation_of_its_run(workspace: Workspace, write: Write) -> None:
    write("a/client.py", "ANSWER = 1\n")
    write("a/tools.py", tool_source("a.b", body="from .client import ANSWER; return ANSWER"))
    workspace.refresh()
    (old,) = workspace.tools
    write("a/client.py", "ANSWER = 2\n")
    workspace.refresh()
    assert values(workspace) == {"a.b": 2}
    assert old(None) == 1
    assert old(None) == 1


def test_a_lazily_imported_private_module_can_still_be_loaded_by_an_older_run(
    workspace: Workspace, write: Write
) -> None:
    write("a/_part.py", "ANSWER = 1\n")
    write("a/tools.py", tool_source("a.b", body="from ._part import ANSWER; return ANSWER"))
    workspace.refresh()
    (old,) = workspace.tools
    write("a/_part.py", "ANSWER = 2\n")
    workspace.refresh()
    assert old(None) == 1
    assert values(workspace) == {"a.b": 2}


def test_a_broken_file_keeps_its_last_good_version_until_it_is_fixed(workspace: Workspace, write: Write) -> None:
    write("a/tools.py", tool_source("a.b", "1"))
    workspace.refresh()
    write("a/tools.py", "def broken(:\n")
    change = workspace.refresh()
    assert change.failed == ("a/tools.py",)
    assert values(workspace) == {"a.b": 1}
    (problem,) = workspace.diagnostics
    assert problem.line == 1
    assert not workspace.refresh()
    assert workspace.diagnostics == [problem], "it shows until it is fixed"
    write("a/tools.py", tool_source("a.b", "3"))
    workspace.refresh()
    assert values(workspace) == {"a.b": 3}
    assert not workspace.diagnostics


def test_a_broken_client_keeps_the_tools_that_use_it(workspace: Workspace, write: Write) -> None:
    write("a/client.py", "ANSWER = 1\n")
    write("a/tools.py", tool_source("a.b", "ANSWER", extra="from .client import ANSWER"))
    workspace.refresh()
    write("a/client.py", "ANSWER = = 2\n")
    change = workspace.refresh()
    assert values(workspace) == {"a.b": 1}
    assert "a/client.py" in change.failed
    write("a/client.py", "ANSWER = 5\n")
    workspace.refresh()
    assert values(workspace) == {"a.b": 5}
    assert not workspace.diagnostics


def test_a_name_that_vanished_from_a_client_is_told_where_it_is_imported(workspace: Workspace, write: Write) -> None:
    write("a/client.py", "ANSWER = 1\n")
    tools = write("a/tools.py", tool_source("a.b", "ANSWER", extra="from .client import ANSWER"))
    workspace.refresh()
    write("a/client.py", "QUESTION = 1\n")
    workspace.refresh()
    (problem,) = workspace.diagnostics
    assert problem.file == str(tools)
    assert "ANSWER" in problem.message
    assert values(workspace) == {"a.b": 1}


def test_deleted_renamed_and_new_files_and_folders(workspace: Workspace, write: Write) -> None:
    first = write("a/one.py", tool_source("a.one", "1"))
    write("a/two.py", tool_source("a.two", "2"))
    workspace.refresh()
    first.rename(first.with_name("renamed.py"))
    write("new/deep.py", tool_source("new.deep", "3"))
    change = workspace.refresh()
    assert change.removed == ("a/one.py",)
    assert values(workspace) == {"a.one": 1, "a.two": 2, "new.deep": 3}
    first.with_name("renamed.py").unlink()
    workspace.refresh()
    assert values(workspace) == {"a.two": 2, "new.deep": 3}
    (workspace.sources.root / "a").rename(workspace.sources.root / "b")
    workspace.refresh()
    assert [Path(tool.file).parent.name for tool in workspace.tools] == ["b", "new"]


def test_a_file_that_was_missing_brings_back_what_imports_it(workspace: Workspace, write: Write) -> None:
    write("a/tools.py", tool_source("a.b", "ANSWER", extra="from .client import ANSWER"))
    workspace.refresh()
    assert len(workspace.diagnostics) == 1
    write("a/client.py", "ANSWER = 9\n")
    workspace.refresh()
    assert values(workspace) == {"a.b": 9}
    assert not workspace.diagnostics


def test_a_package_is_loaded_again_with_its_parts(workspace: Workspace, write: Write) -> None:
    write("a/__init__.py", "from .part import VALUE\n" + tool_source("a.init", "VALUE"))
    write("a/part.py", "VALUE = 1\n")
    write("a/sub/__init__.py", "")
    write("a/sub/deep.py", "X = 1\n")
    write("a/tools.py", tool_source("a.deep", "X", extra="from .sub.deep import X"))
    workspace.refresh()
    assert values(workspace) == {"a.init": 1, "a.deep": 1}
    write("a/part.py", "VALUE = 2\n")
    write("a/sub/deep.py", "X = 2\n")
    workspace.refresh()
    assert values(workspace) == {"a.init": 2, "a.deep": 2}


def test_links_to_files_and_folders_are_followed_and_circles_are_not(
    workspace: Workspace, write: Write, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "tools.py").write_text(tool_source("linked.folder", "1"))
    write("a/real.py", tool_source("a.real", "2"))
    (workspace.sources.root / "linked").symlink_to(elsewhere)
    (workspace.sources.root / "a/circle").symlink_to(workspace.sources.root)
    (workspace.sources.root / "a/dangling.py").symlink_to(tmp_path / "nothing.py")
    workspace.refresh()
    assert values(workspace) == {"linked.folder": 1, "a.real": 2}
    assert [Path(each.file).name for each in workspace.diagnostics] == ["dangling.py"]
    (elsewhere / "tools.py").write_text(tool_source("linked.folder", "3"))
    workspace.refresh()
    assert values(workspace)["linked.folder"] == 3


def test_swap_files_pipes_and_huge_files_are_left_alone(workspace: Workspace, write: Write) -> None:
    write("a/tools.py", tool_source("a.b"))
    for name in (".tools.py.swp", "tools.py~", "#tools.py#", ".#tools.py", "4913", "tools.py.tmp"):
        write(f"a/{name}", "raise SystemError\n")
    os.mkfifo(workspace.sources.root / "a/pipe.py")
    write("a/huge.py", "#" * 5_000_000)
    workspace.refresh()
    assert values(workspace) == {"a.b": 1}
    assert sorted(Path(each.file).name for each in workspace.diagnostics) == ["huge.py", "pipe.py"]


def test_two_edits_in_one_tick_of_the_clock_are_two_edits(workspace: Workspace, write: Write) -> None:
    file = write("a/tools.py", tool_source("a.b", "1"))
    facts = file.stat()
    for number in range(2, 9):
        with file.open("r+") as handle:  # In place: the same inode and the same size.
            handle.write(tool_source("a.b", str(number)))
        os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        workspace.refresh()
        assert values(workspace) == {"a.b": number}


def test_a_branch_switch_of_hundreds_of_files_is_one_change(workspace: Workspace, write: Write) -> None:
    for number in range(300):
        write(f"i{number % 10}/t{number}.py", tool_source(f"i{number % 10}.t{number}", "1"))
    workspace.refresh()
    for number in range(300):
        write(f"i{number % 10}/t{number}.py", tool_source(f"i{number % 10}.t{number}", "2"))
    change = workspace.refresh()
    assert len(change.loaded) == 300
    assert set(values(workspace).values()) == {2}


def test_force_runs_everything_again(workspace: Workspace, write: Write) -> None:
    write("a/tools.py", tool_source("a.b"))
    workspace.refresh()
    (before,) = workspace.tools
    assert workspace.refresh(force=True).loaded
    assert workspace.tools[0] is not before


def test_old_modules_are_released_over_a_thousand_reloads(workspace: Workspace, write: Write) -> None:
    write("a/client.py", "ANSWER = 0\n")
    write("a/other.py", tool_source("a.other", "0"))
    write("a/tools.py", tool_source("a.b", "ANSWER", extra="from .client import ANSWER"))
    workspace.refresh()
    gone: list[weakref.ref[object]] = []
    for number in range(1, 1001):
        name = ("a/client.py", "a/other.py", "a/tools.py")[number % 3]
        text = {
            "a/client.py": f"ANSWER = {number}\n",
            "a/other.py": tool_source("a.other", str(number)),
            "a/tools.py": tool_source("a.b", f"ANSWER + {number}", extra="from .client import ANSWER"),
        }[name]
        write(name, text)
        gone += [weakref.ref(tool.handler) for tool in workspace.tools]
        assert workspace.refresh().loaded
    present = [tool.handler for tool in workspace.tools]
    gc.collect()
    alive = [each() for each in gone if each() is not None and each() not in present]
    assert len(alive) <= 4, "caches of the standard library may hold the last few"
    assert len([name for name in sys.modules if name.startswith("coilclaw_workspace_")]) < 30


def test_random_bursts_of_edits_end_where_a_cold_load_ends(workspace: Workspace, write: Write, tmp_path: Path) -> None:
    chance = random.Random(7)
    root = workspace.sources.root
    names = [f"{folder}/{stem}.py" for folder in "abc" for stem in ("client", "one", "two", "three")]

    def good(name: str) -> str:
        folder, stem = name.removesuffix(".py").split("/")
        value = str(chance.randrange(10**6))
        if stem == "client":
            return f"ANSWER = {value}\n"
        extra = "from .client import ANSWER" if stem == "one" else ""
        return tool_source(f"{folder}.{stem}", f"({value}, ANSWER)[0]" if extra else value, extra=extra)

    def burst() -> None:
        for _ in range(chance.randrange(1, 8)):
            name = chance.choice(names)
            match chance.randrange(6):
                case 0:
                    (root / name).unlink(missing_ok=True)
                case 1:
                    write(name, "this is = = not Python\n")
                case 2:
                    write(name, "raise ValueError('no')\n")
                case 3 if (root / name).exists():
                    (root / name).rename(root / name.replace(".py", "_moved.py"))
                case _:
                    write(name, good(name))

    for _ in range(1000):
        burst()
        if chance.random() < 0.7:
            workspace.refresh()
        if chance.random() < 0.02:
            for moved in root.rglob("*_moved.py"):
                moved.unlink()
            for name in names:
                write(name, good(name))
            workspace.refresh()
            assert facts(workspace) == facts(cold(tmp_path))
    for moved in root.rglob("*_moved.py"):
        moved.unlink()
    for name in names:
        write(name, good(name))
    workspace.refresh()
    assert not workspace.diagnostics
    assert len(workspace.tools) == 9
    assert facts(workspace) == facts(cold(tmp_path))


def cold(place: Path) -> Workspace:
    workspace = Workspace(place)
    workspace.refresh()
    return workspace


def facts(workspace: Workspace) -> dict[str, tuple[str, object]]:
    return {tool.id: (tool.version, tool(None)) for tool in workspace.tools}


def test_a_cold_load_gives_the_same_as_before(tmp_path: Path, write: Write) -> None:
    write("a/tools.py", tool_source("a.b", "4"))
    assert [tool(None) for tool in load_workspace(tmp_path).tools] == [4]
