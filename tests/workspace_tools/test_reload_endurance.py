"""What a thousand reloads, many threads and any order of events must not change."""

from __future__ import annotations

import gc
import hashlib
import random
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from coilclaw.sdk import ToolContext
from coilclaw.workspace_tools import Workspace
from coilclaw.workspace_tools.sources import Look
from coilclaw.workspace_tools.workspace import Judgement

TOOL = """
from coilclaw.sdk import ToolContext, define_tool
{extra}
@define_tool(id="{id}", risk="read")
def tool(ctx: ToolContext) -> int:
    return {value}
"""

RICH = """
from __future__ import annotations
import enum, functools
from dataclasses import dataclass
from pydantic import BaseModel
from coilclaw.sdk import ToolContext, define_tool
from ..shared import Base, helper
from .part import VALUE

class Colour(enum.Enum):
    RED = {number}

@dataclass
class Point:
    x: int
    colour: Colour = Colour.RED

class Node(BaseModel):
    number: int
    parent: Node | None = None
    children: list[Node] = []

class Special(Base):
    pass

class Trouble(Exception):
    pass

@functools.lru_cache
def remembered(number: int) -> Point:
    return Point(number)

try:
    raise Trouble("kept with its frames")
except Trouble as error:
    KEPT = error

@define_tool(id="rich.tool", risk="read")
def tool(ctx: ToolContext, number: int) -> Node:
    remembered(number)
    return Node(number=number + helper() + VALUE, parent=Node(number={number}))
"""


def put(place: Path, name: str, text: str) -> Path:
    file = place / "tools" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_rich_modules_and_packages_are_released_too(tmp_path: Path) -> None:
    put(tmp_path, "shared/__init__.py", "from ._base import Base\ndef helper(): return 1\n")
    put(tmp_path, "shared/_base.py", "class Base: pass\n")
    put(tmp_path, "rich/__init__.py", "")
    put(tmp_path, "rich/part/__init__.py", "from .deep import VALUE\n")
    put(tmp_path, "rich/part/deep.py", "VALUE = 0\n")
    put(tmp_path, "rich/tools.py", RICH.format(number=0))
    workspace = Workspace(tmp_path)
    workspace.refresh()
    assert not workspace.diagnostics
    gone: list[weakref.ref[object]] = []
    for number in range(1, 201):
        match number % 4:
            case 0:
                put(tmp_path, "rich/tools.py", RICH.format(number=number))
            case 1:
                put(tmp_path, "rich/part/deep.py", f"VALUE = {number}\n")
            case 2:
                put(tmp_path, "shared/_base.py", f"class Base: number = {number}\n")
            case _:
                put(tmp_path, "rich/tools.py", RICH.format(number=number) + "\nraise Trouble(tool)\n")
        (tool,) = [each for each in workspace.tools if each.id == "rich.tool"]
        assert tool(None, 1).number >= 2
        gone += [weakref.ref(tool.handler), weakref.ref(sys.modules[tool.handler.__module__])]
        workspace.refresh()
    put(tmp_path, "rich/tools.py", RICH.format(number=1000))
    workspace.refresh()
    del tool
    gc.collect()
    assert sum(each() is not None for each in gone) <= 4
    assert len([name for name in sys.modules if name.startswith("coilclaw_workspace_")]) < 40


def test_a_module_that_is_kept_stays_at_home(tmp_path: Path) -> None:
    """A function of an old generation imports a kept module again: its own later imports still work as before."""
    put(tmp_path, "a/_deep.py", "ANSWER = 1\n")
    put(tmp_path, "a/client.py", "def get():\n    from ._deep import ANSWER\n    return ANSWER\n")
    body = "\ndef late():\n    from . import client\n    return client.get()\n"
    put(tmp_path, "a/tools.py", TOOL.format(id="a.b", value="late()", extra="") + body)
    put(tmp_path, "b/tools.py", TOOL.format(id="b.b", value="0", extra=""))
    workspace = Workspace(tmp_path)
    workspace.refresh()
    old = next(tool for tool in workspace.tools if tool.id == "a.b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(5):
            put(tmp_path, "b/tools.py", TOOL.format(id="b.b", value=str(number + 1), extra=""))
            put(tmp_path, "a/_deep.py", f"ANSWER = {number + 2}\n")
            workspace.refresh()
            assert old(None) == 1
            assert {tool.id: tool(None) for tool in workspace.tools} == {"a.b": number + 2, "b.b": number + 1}


def test_annotations_of_a_kept_module_are_still_resolved(tmp_path: Path) -> None:
    body = "import typing\nclass A:\n    b: 'B'\nclass B: pass\n"
    text = TOOL.format(id="a.b", value="len(typing.get_type_hints(A))", extra=body)
    put(tmp_path, "a/tools.py", text)
    of_others = set(sys.modules)
    workspace = Workspace(tmp_path)
    for number in range(4):
        put(tmp_path, "b/tools.py", TOOL.format(id="b.b", value=str(number), extra=""))
        workspace.refresh()
        assert {tool.id: tool(None) for tool in workspace.tools} == {"a.b": 1, "b.b": number}
    (tmp_path / "tools/a/tools.py").unlink()
    workspace.refresh()
    left = set(sys.modules) - of_others
    assert not [name for name in left if name.startswith("coilclaw_workspace_") and name.endswith(".a.tools")]


def test_readers_never_see_a_workspace_that_is_half_loaded(tmp_path: Path) -> None:
    count = 12
    for number in range(count):
        put(tmp_path, f"a/t{number}.py", TOOL.format(id=f"a.t{number}", value="0", extra=""))
    workspace = Workspace(tmp_path)
    workspace.refresh()
    over = threading.Event()
    wrong: list[object] = []

    def read() -> None:
        while not over.is_set():
            try:
                tools = workspace.tools
                if len(tools) != count or workspace.diagnostics or workspace.quarantined:
                    wrong.append([tool.id for tool in tools])
            except RuntimeError as error:
                wrong.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for each in readers:
        each.start()
    loaders = [threading.Thread(target=lambda: [workspace.refresh(force=True) for _ in range(5)]) for _ in range(2)]
    for each in loaders:
        each.start()
    for each in loaders:
        each.join()
    over.set()
    for each in readers:
        each.join()
    assert not wrong


def test_an_interrupt_while_loading_leaves_everything_as_it_was(tmp_path: Path) -> None:
    put(tmp_path, "a/one.py", TOOL.format(id="a.one", value="1", extra=""))
    put(tmp_path, "a/two.py", TOOL.format(id="a.two", value="1", extra=""))
    workspace = Workspace(tmp_path)
    workspace.refresh()
    put(tmp_path, "a/one.py", TOOL.format(id="a.one", value="2", extra=""))
    # As if somebody pressed Ctrl-C while it is loaded.
    interrupt = "import signal, threading, time\nsignal.pthread_kill(threading.main_thread().ident, signal.SIGINT)\n"
    put(tmp_path, "a/two.py", interrupt + "time.sleep(60)\n")
    with pytest.raises(KeyboardInterrupt):
        workspace.refresh()
    assert {tool.id: tool(None) for tool in workspace.tools} == {"a.one": 1, "a.two": 1}
    put(tmp_path, "a/two.py", TOOL.format(id="a.two", value="2", extra=""))
    workspace.refresh()
    assert {tool.id: tool(None) for tool in workspace.tools} == {"a.one": 2, "a.two": 2}


class Judge:
    """Holds back some contents, as a ledger would."""

    def __init__(self) -> None:
        self.held: set[str] = set()

    def __call__(self, look: Callable[[], Look]) -> tuple[Look, Judgement]:
        return look(), self.judge

    def judge(self, contents: Mapping[str, str]) -> dict[str, str]:
        return {name: "held" for name, digest in contents.items() if digest in self.held}


def state(workspace: Workspace) -> tuple[object, ...]:
    context: ToolContext | None = None
    return (
        {tool.id: (tool.version, tool(context)) for tool in workspace.tools},
        [str(each) for each in workspace.diagnostics],
        [str(each) for each in workspace.quarantined],
    )


@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_events_ends_where_a_cold_load_ends(tmp_path: Path, seed: int) -> None:
    """With packages, imports across integrations, links, files in wrong places, quarantine and trust."""
    chance = random.Random(seed)
    judge = Judge()
    workspace = Workspace(tmp_path, examine=judge)
    root = tmp_path / "tools"
    names = ["client.py", "one.py", "two.py", "sub/__init__.py", "sub/deep.py", "__init__.py"]
    files = [f"{folder}/{name}" for folder in "abc" for name in names]

    def text(name: str) -> str:
        folder, _, rest = name.partition("/")
        value = chance.randrange(10**6)
        following = {"a": "b", "b": "c", "c": "a"}[folder]
        match rest:
            case "client.py" | "sub/deep.py":
                return f"ANSWER = {value}\n"
            case "sub/__init__.py":
                return f"from .deep import ANSWER\nEXTRA = {value}\n"
            case "__init__.py":
                return chance.choice(["", f"X = {value}\n", f"from .client import ANSWER  # {value}\n"])
            case "one.py":
                extra = "from .client import ANSWER\nfrom .sub import EXTRA\n"
                return TOOL.format(id=f"{folder}.one", value=f"ANSWER + EXTRA + {value}", extra=extra)
        return TOOL.format(
            id=f"{folder}.two", value=f"client.ANSWER + {value}", extra=f"from ..{following} import client\n"
        )

    def event() -> None:
        name = chance.choice(files)
        file = root / name
        match chance.randrange(10):
            case 0:
                file.unlink(missing_ok=True)
            case 1:
                put(tmp_path, name, chance.choice(["x = = 1\n", "raise ValueError\n", "from .none import x\n"]))
            case 2 | 3:
                file.unlink(missing_ok=True)
                put(tmp_path, name, text(name))
                judge.held.add(hashlib.sha256(file.read_bytes()).hexdigest())
            case 4:
                judge.held.clear()
            case 5:
                target = put(tmp_path, f"../elsewhere/{name.replace('/', '-')}", text(name))
                file.unlink(missing_ok=True)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.symlink_to(target)
            case 6:
                put(tmp_path, chance.choice(["loose.py", "a/one/__init__.py", "b/x.y.py", "bad-name/x.py"]), "x = 1\n")
            case _:
                file.unlink(missing_ok=True)
                put(tmp_path, name, text(name))

    for _ in range(8):
        for _ in range(chance.randrange(4, 16)):
            event()
            if chance.random() < 0.5:
                workspace.refresh()
                cold = Workspace(tmp_path, examine=judge)
                cold.refresh()
                assert state(workspace)[2] == state(cold)[2]
        judge.held.clear()
        for name in files:
            (root / name).unlink(missing_ok=True)
            put(tmp_path, name, text(name))
        workspace.refresh()
        cold = Workspace(tmp_path, examine=judge)
        cold.refresh()
        assert state(workspace) == state(cold)
        assert len(workspace.tools) == 6
