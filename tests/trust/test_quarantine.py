"""Content that came through the bridge never runs as a tool before a person trusts it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.conftest import World

from coilclaw.sdk import Tool, ToolContext, define_tool
from coilclaw.store import Database
from coilclaw.trust import TrustLedger, WriteGuard
from coilclaw.workspace_tools import Workspace

EVIL = """
from coilclaw.sdk import ToolContext, define_tool
from pathlib import Path
(Path(__file__).resolve().parents[2] / "it-ran").touch()

@define_tool(id="evil.tool", risk="read")
def tool(ctx: ToolContext) -> int:
    return {value}
"""

MINE = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="mine.tool", risk="read")
def tool(ctx: ToolContext) -> int:
    return 1
"""


@dataclass
class Place:
    """A workspace whose tool files are guarded, as a process of its own would see it."""

    world: World
    ledger: TrustLedger
    workspace: Workspace
    guard: WriteGuard

    @property
    def root(self) -> Path:
        return self.world.workspace

    def call(self, tool: Tool, **arguments: object) -> bytes:
        import json

        return self.world.bridge(tool).call(tool.id, json.dumps(arguments).encode(), 1)

    def names(self) -> list[str]:
        """What a process that starts now would load."""
        cold = Workspace(self.root, examine=self.ledger.examine)
        cold.refresh()
        return [tool.id for tool in cold.tools]

    def held(self) -> list[str]:
        self.workspace.refresh()
        return [each.name for each in self.workspace.quarantined]

    @property
    def ran(self) -> bool:
        return (self.root / "it-ran").exists()

    def write(self, name: str, text: str) -> Path:
        """By a person, with an editor."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


@pytest.fixture
def place(world: World, database: Database) -> Place:
    return place_of(world, database)


def place_of(world: World, database: Database) -> Place:
    root = world.workspace.resolve() / "tools"
    ledger = TrustLedger(database, world.log, root)
    workspace = Workspace(world.workspace, examine=ledger.examine)
    guard = WriteGuard(ledger, world.log, workspace.sources.digests)
    world.options["guard"] = guard
    return Place(world, ledger, workspace, guard)


def acting(action: Callable[[Path, str], None], *, announce: bool = False) -> Tool:
    """A tool with which something may write anything anywhere, as a shell can."""

    @define_tool(id="hand.act", risk="write")
    def act(ctx: ToolContext, text: str) -> str:
        if announce:
            ctx.will_write(text.encode())
        action(ctx.workspace, text)
        return "done"

    return act


def put(name: str) -> Callable[[Path, str], None]:
    def action(workspace: Path, text: str) -> None:
        file = workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return action


def hard_linked(workspace: Path, text: str) -> None:
    put("notes/draft.txt")(workspace, text)
    (workspace / "tools/evil").mkdir(parents=True)
    (workspace / "tools/evil/tools.py").hardlink_to(workspace / "notes/draft.txt")


def symbolically_linked(workspace: Path, text: str) -> None:
    put("notes/draft.txt")(workspace, text)
    (workspace / "tools/evil").mkdir(parents=True)
    (workspace / "tools/evil/tools.py").symlink_to(workspace / "notes/draft.txt")


def folder_linked(workspace: Path, text: str) -> None:
    put("notes/evil/tools.py")(workspace, text)
    (workspace / "tools").mkdir(exist_ok=True)
    (workspace / "tools/evil").symlink_to(workspace / "notes/evil")


def tools_replaced_by_a_link(workspace: Path, text: str) -> None:
    put("elsewhere/evil/tools.py")(workspace, text)
    if (workspace / "tools").exists():
        (workspace / "tools").rename(workspace / "tools-before")
    (workspace / "tools").symlink_to(workspace / "elsewhere")


def renamed(workspace: Path, text: str) -> None:
    put("notes/draft.txt")(workspace, text)
    (workspace / "tools/evil").mkdir(parents=True)
    (workspace / "notes/draft.txt").rename(workspace / "tools/evil/tools.py")


def folder_renamed(workspace: Path, text: str) -> None:
    put("draft/tools.py")(workspace, text)
    (workspace / "tools").mkdir(exist_ok=True)
    (workspace / "draft").rename(workspace / "tools/evil")


def written_in_parts(workspace: Path, text: str) -> None:
    file = workspace / "tools/evil/tools.py"
    file.parent.mkdir(parents=True)
    for line in text.splitlines(keepends=True):
        with file.open("a") as handle:
            handle.write(line)


def with_an_old_time(workspace: Path, text: str) -> None:
    put("tools/evil/tools.py")(workspace, text)
    os.utime(workspace / "tools/evil/tools.py", ns=(1, 1))


def as_a_package(workspace: Path, text: str) -> None:
    put("tools/evil/__init__.py")(workspace, text)


def in_a_subfolder_behind_an_import(workspace: Path, text: str) -> None:
    put("tools/evil/part/code.py")(workspace, text)
    put("tools/evil/tools.py")(workspace, "from .part.code import tool\n")


def copied(workspace: Path, text: str) -> None:
    put("notes/draft.txt")(workspace, text)
    (workspace / "tools/evil").mkdir(parents=True)
    shutil.copy2(workspace / "notes/draft.txt", workspace / "tools/evil/tools.py")


TRICKS = [
    put("tools/evil/tools.py"),
    hard_linked,
    symbolically_linked,
    folder_linked,
    tools_replaced_by_a_link,
    renamed,
    folder_renamed,
    written_in_parts,
    with_an_old_time,
    as_a_package,
    in_a_subfolder_behind_an_import,
    copied,
]


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_whatever_way_it_is_written_it_does_not_run(place: Place, trick: Callable[[Path, str], None]) -> None:
    place.call(acting(trick), text=EVIL.format(value=1))
    assert place.names() == []
    assert place.held()
    assert not place.ran
    assert "tool.module.written" in place.world.types()


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_touching_moving_and_linking_it_later_changes_nothing(place: Place, trick: Callable[[Path, str], None]) -> None:
    place.call(acting(trick), text=EVIL.format(value=1))
    for file in list((place.root / "tools").rglob("*.py")):
        file.touch()
        shutil.copy(file, file.with_name("copy.py"))
        (place.root / "tools/other").mkdir(exist_ok=True)
        shutil.copy(file, place.root / f"tools/other/{file.stem}_moved.py")
    assert place.names() == []
    assert not place.ran


def test_content_that_was_announced_is_held_wherever_a_person_moves_it(place: Place) -> None:
    place.call(acting(put("notes/draft.txt"), announce=True), text=EVIL.format(value=1))
    place.write("tools/evil/tools.py", (place.root / "notes/draft.txt").read_text())
    assert place.names() == []
    assert place.held() == ["tools/evil/tools.py"]
    assert not place.ran


def test_a_persons_own_edit_loads_at_once(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE)
    assert place.names() == ["mine.tool"]
    place.call(acting(put("notes/other.txt")), text="nothing to do with tools")
    place.write("tools/mine/tools.py", MINE.replace("return 1", "return 2"))
    assert place.names() == ["mine.tool"]
    assert place.held() == []


def test_a_persons_tool_that_was_overwritten_keeps_its_last_good_version(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE)
    place.workspace.refresh()
    place.call(acting(put("tools/mine/tools.py")), text=EVIL.format(value=1))
    assert place.held() == ["tools/mine/tools.py"]
    assert [tool.id for tool in place.workspace.tools] == ["mine.tool"]
    assert place.names() == []
    assert not place.ran


def test_a_file_that_imports_a_quarantined_one_says_so(place: Place) -> None:
    place.write("tools/mine/tools.py", "from .client import tool\n")
    place.call(acting(put("tools/mine/client.py")), text=EVIL.format(value=1))
    place.workspace.refresh()
    (problem,) = place.workspace.diagnostics
    assert "waits for trust" in problem.message
    assert not place.ran


def test_trust_holds_for_exactly_that_content(place: Place) -> None:
    place.call(acting(put("tools/evil/tools.py")), text=EVIL.format(value=1))
    place.ledger.trust("evil/tools.py", EVIL.format(value=1).encode(), "me")
    assert place.names() == ["evil.tool"]
    place.call(acting(put("tools/evil/tools.py")), text=EVIL.format(value=2))
    assert place.names() == []
    trusted = [each for each in place.world.log.latest(100) if each.type == "tool.module.trusted"]
    assert [each.payload["decided_by"] for each in trusted] == ["me"]


def test_a_copy_of_a_persons_own_content_is_not_held_against_the_original(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE)
    place.ledger.record_loaded([("mine/tools.py", MINE.encode())])
    place.call(acting(put("tools/copy/tools.py"), announce=True), text=MINE)
    (place.root / "tools/copy/tools.py").unlink()
    assert place.names() == ["mine.tool"]


def test_what_changes_while_a_call_is_under_way_is_held_until_it_ended(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE)
    wrote, go_on = threading.Event(), threading.Event()

    def slowly(workspace: Path, text: str) -> None:
        put("tools/evil/tools.py")(workspace, text)
        wrote.set()
        assert go_on.wait(60)

    caller = threading.Thread(target=lambda: place.call(acting(slowly), text=EVIL.format(value=1)))
    caller.start()
    assert wrote.wait(60)
    assert place.names() == ["mine.tool"], "what was there before is not concerned"
    assert place.held() == ["tools/evil/tools.py"]
    go_on.set()
    caller.join()
    assert place.names() == ["mine.tool"]
    assert place.held() == ["tools/evil/tools.py"]
    assert not place.ran


def test_a_handler_that_outlives_its_call_is_still_watched(place: Place) -> None:
    place.world.options["tool_seconds"] = 0.05
    go_on, wrote = threading.Event(), threading.Event()

    def late(workspace: Path, text: str) -> None:
        assert go_on.wait(60)
        put("tools/evil/tools.py")(workspace, text)
        wrote.set()

    answer = place.call(acting(late), text=EVIL.format(value=1))
    assert b"timeout" in answer
    go_on.set()
    assert wrote.wait(60)
    assert place.names() == []
    assert not place.ran
    for _ in range(1000):
        if "tool.module.written" in place.world.types():
            break
        threading.Event().wait(0.01)
    assert "tool.module.written" in place.world.types()
    assert place.held() == ["tools/evil/tools.py"]


async def _write_and_return(workspace: Path, text: str) -> None:
    put("tools/evil/tools.py")(workspace, text)


def test_an_async_handler_is_watched_too(place: Place) -> None:
    @define_tool(id="hand.act", risk="write")
    async def act(ctx: ToolContext, text: str) -> str:
        await _write_and_return(ctx.workspace, text)
        return "done"

    place.call(act, text=EVIL.format(value=1))
    assert place.names() == []
    assert place.held() == ["tools/evil/tools.py"]


def test_a_process_killed_in_the_middle_of_a_call_leaves_nothing_trusted(place: Place, tmp_path: Path) -> None:
    place.write("tools/mine/tools.py", MINE)
    program = textwrap.dedent(
        f"""
        import os, signal, sys
        sys.path.insert(0, {str(Path(__file__).parents[2])!r})
        from pathlib import Path
        from coilclaw.bridge import Handlers
        from coilclaw.receipts import ReceiptLog
        from coilclaw.store import Database
        from tests.conftest import KEY, World
        from tests.trust.test_quarantine import acting, place_of, put
        database = Database(Path({str(place.world.log._database.path)!r}))
        world = World(ReceiptLog(database, KEY), Path({str(place.root)!r}), None, Handlers())
        def die(workspace, text):
            put("tools/evil/tools.py")(workspace, text)
            os.kill(os.getpid(), signal.SIGKILL)
        place_of(world, database).call(acting(die), text={EVIL.format(value=1)!r})
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert place.names() == ["mine.tool"], "held as long as nobody has looked"
    place.ledger.recover(place.workspace.sources.digests)
    assert place.names() == ["mine.tool"]
    assert place.held() == ["tools/evil/tools.py"]
    assert not place.ran
    place.write("tools/mine/tools.py", MINE.replace("return 1", "return 2"))
    assert place.names() == ["mine.tool"], "a person's edits load at once again"


def test_for_a_read_no_tool_file_is_looked_at_and_no_mark_is_left(place: Place) -> None:
    """Looking at all tool files twice is what a guarded call costs; a read pays nothing of it."""
    looks: list[int] = []

    def read() -> Mapping[str, str]:
        looks.append(1)
        return place.guard.read()

    place.world.options["guard"] = WriteGuard(place.ledger, place.world.log, read)

    @define_tool(id="quick.look", risk="read")
    def look(ctx: ToolContext) -> int:
        return 1

    @define_tool(id="quick.write", risk="write")
    def write(ctx: ToolContext) -> int:
        return 1

    place.call(look)
    assert not looks
    place.call(write)
    assert len(looks) == 2
    assert place.world.log._database.read("SELECT count(*) FROM guarded_calls") == [(0,)]
    assert place.world.log._database.read("SELECT count(*) FROM tool_contents") == [(0,)]


def test_marks_of_finished_calls_are_removed(place: Place) -> None:
    for number in range(3):
        place.call(acting(put(f"notes/{number}.txt")), text="hello")
    assert place.world.log._database.read("SELECT count(*) FROM guarded_calls") == [(0,)]


def test_a_denied_or_refused_call_leaves_no_mark(place: Place) -> None:
    from coilclaw.policy import Autonomy

    place.world.autonomy = Autonomy.SUPERVISED
    place.call(acting(put("tools/evil/tools.py")), text=EVIL.format(value=1))
    assert not (place.root / "tools").exists()
    assert place.world.log._database.read("SELECT count(*) FROM guarded_calls") == [(0,)]


@pytest.mark.req("R6")
def test_what_is_loaded_leaves_one_receipt_for_each_content(place: Place) -> None:
    for _ in range(3):
        place.ledger.record_loaded([("mine/tools.py", MINE.encode())])
    place.ledger.record_loaded([("mine/tools.py", b"# another")])
    loaded = [each for each in place.world.log.latest(100) if each.type == "tool.module.loaded"]
    assert [each.payload["path"] for each in loaded] == ["tools/mine/tools.py"] * 2
    assert loaded[0].payload["content_hash"] != loaded[1].payload["content_hash"]
    assert place.ledger.in_force("mine/tools.py") == b"# another"
    assert place.world.log.verify().ok
