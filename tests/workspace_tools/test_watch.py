"""Noticing changes: with events, without them, and in bursts."""

from __future__ import annotations

import errno
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coilclaw.workspace_tools import RELOAD_REQUEST, Watch, Workspace, ask_to_look

TOOL = """
from coilclaw.sdk import ToolContext, define_tool
@define_tool(id="{id}", risk="read")
def tool(ctx: ToolContext) -> int:
    return {value}
"""


class Watched:
    """A workspace that is being watched, and a way to wait for what it comes to."""

    def __init__(self, place: Path) -> None:
        self.root = place / "tools"
        self.workspace = Workspace(place)
        self.looks = 0
        self.forced = 0
        self._looked = threading.Condition()
        self.watch = Watch(self.root, self._look)

    def _look(self, force: bool) -> bool:
        change = self.workspace.refresh(force=force)
        with self._looked:
            self.looks += 1
            self.forced += force
            self._looked.notify_all()
        return change.settled

    def until(self, condition: Callable[[], bool]) -> None:
        with self._looked:
            assert self._looked.wait_for(condition, timeout=60), self.values()

    def values(self) -> dict[str, object]:
        return {tool.id: tool(None) for tool in self.workspace.tools}

    def versions(self) -> dict[str, str]:
        return {tool.id: tool.version for tool in self.workspace.tools}

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    (tmp_path / "tools").mkdir()
    watched = Watched(tmp_path)
    with watched.watch:
        watched.until(lambda: watched.looks > 0)
        yield watched


@pytest.mark.req("R5", "R65")
def test_a_saved_file_is_loaded(watched: Watched) -> None:
    watched.write("a/tools.py", TOOL.format(id="a.b", value=1))
    watched.until(lambda: watched.values() == {"a.b": 1})
    watched.write("a/tools.py", TOOL.format(id="a.b", value=2))
    watched.until(lambda: watched.values() == {"a.b": 2})
    (watched.root / "a/tools.py").unlink()
    watched.until(lambda: watched.values() == {})


def test_an_atomic_save_is_loaded(watched: Watched) -> None:
    watched.write("a/tools.py", TOOL.format(id="a.b", value=1))
    watched.until(lambda: watched.values() == {"a.b": 1})
    for value in range(2, 6):
        fresh = watched.root / "a/.tools.py.swp"
        fresh.write_text(TOOL.format(id="a.b", value=value))
        fresh.replace(watched.root / "a/tools.py")
        watched.until(lambda expected=value: watched.values() == {"a.b": expected})  # type: ignore[misc]


def test_the_tools_folder_may_come_later_go_and_come_back(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    with watched.watch:
        watched.until(lambda: watched.looks > 0)
        for value in (1, 2):
            watched.write("a/tools.py", TOOL.format(id="a.b", value=value))
            watched.until(lambda expected=value: watched.values() == {"a.b": expected})  # type: ignore[misc]
            watched.write("a/tools.py", TOOL.format(id="a.b", value=value + 10))
            watched.until(lambda expected=value + 10: watched.values() == {"a.b": expected})  # type: ignore[misc]
            shutil.rmtree(watched.root)
            watched.until(lambda: watched.values() == {})


def test_a_folder_behind_a_link_is_watched(watched: Watched, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "tools.py").write_text(TOOL.format(id="far.away", value=1))
    (watched.root / "far").symlink_to(elsewhere)
    watched.until(lambda: watched.values() == {"far.away": 1})
    (elsewhere / "tools.py").write_text(TOOL.format(id="far.away", value=2))
    watched.until(lambda: watched.values() == {"far.away": 2})


@pytest.mark.req("R66")
def test_a_request_to_reload_runs_everything_again(watched: Watched) -> None:
    watched.write("a/tools.py", TOOL.format(id="a.b", value=1))
    watched.until(lambda: watched.values() == {"a.b": 1})
    before = watched.workspace.tools[0]
    (watched.root / RELOAD_REQUEST).touch()
    watched.until(lambda: watched.forced > 0)
    assert watched.workspace.tools[0] is not before


def test_looking_does_not_cause_looking(watched: Watched) -> None:
    watched.write("a/tools.py", TOOL.format(id="a.b", value=1))
    watched.until(lambda: watched.values() == {"a.b": 1})
    seen = watched.looks
    ends = time.monotonic() + 1.0
    while time.monotonic() < ends:
        (watched.root / "a/tools.py").read_text()
    assert watched.looks - seen <= 3


def test_something_unsettled_is_looked_at_again_without_an_event(tmp_path: Path) -> None:
    looks: list[bool] = []
    enough = threading.Event()

    def look(force: bool) -> bool:
        looks.append(force)
        if len(looks) == 4:
            enough.set()
        return False

    with Watch(tmp_path / "tools", look):
        assert enough.wait(60)


def test_a_look_that_fails_is_not_the_last(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    again = threading.Event()
    looks: list[bool] = []

    def look(force: bool) -> bool:
        looks.append(force)
        if len(looks) == 1:
            raise OSError("gone for a moment")
        again.set()
        return True

    with Watch(tmp_path / "tools", look):
        assert again.wait(60)
    assert "gone for a moment" in caplog.text


def test_no_edit_is_lost_in_a_thousand_bursts(watched: Watched, tmp_path: Path) -> None:
    """Writers do not wait for the watch; whenever they stop, it comes to where a cold load comes to."""
    chance = random.Random(3)
    names = [f"{folder}/{stem}.py" for folder in "ab" for stem in ("one", "two", "three")]

    def source(name: str) -> str:
        return TOOL.format(id=name[:-3].replace("/", "."), value=chance.randrange(10**6))

    for number in range(1, 1001):
        for _ in range(chance.randrange(1, 6)):
            name = chance.choice(names)
            match chance.randrange(5):
                case 0:
                    (watched.root / name).unlink(missing_ok=True)
                case 1:
                    watched.write(name, "broken = = 1\n")
                case 2 if (watched.root / name).exists():
                    (watched.root / name).replace(watched.root / name.replace(".py", ".bak"))
                case _:
                    watched.write(name, source(name))
        if number % 50 == 0:
            for name in names:
                watched.write(name, source(name))
            cold = Workspace(tmp_path)
            cold.refresh()
            expected = {tool.id: tool.version for tool in cold.tools}
            assert len(expected) == len(names)
            watched.until(lambda expected=expected: watched.versions() == expected)  # type: ignore[misc]
            assert not watched.workspace.diagnostics


def test_a_file_that_interrupts_does_not_end_the_watch(watched: Watched) -> None:
    watched.write("a/tools.py", "raise KeyboardInterrupt\n")
    watched.write("a/tools.py", TOOL.format(id="a.b", value=1))
    watched.until(lambda: watched.values() == {"a.b": 1})
    watched.write("a/tools.py", "raise KeyboardInterrupt\n")
    (watched.root / RELOAD_REQUEST).touch()
    seen = watched.looks
    watched.write("a/tools.py", TOOL.format(id="a.b", value=2))
    watched.until(lambda: watched.looks > seen and watched.values() == {"a.b": 2})


def test_without_watches_files_are_still_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from watchdog.observers.api import BaseObserver

    def refuse(*args: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(BaseObserver, "schedule", refuse)
    monkeypatch.setattr("coilclaw.workspace_tools.watch._UNASKED_SECONDS", 0.05)
    (tmp_path / "tools").mkdir()
    watched = Watched(tmp_path)
    with watched.watch:
        watched.write("a/tools.py", TOOL.format(id="a.b", value=1))
        watched.until(lambda: watched.values() == {"a.b": 1} and watched.looks > 5)
    assert caplog.text.count("cannot be watched") == 2, "once for each folder"


def test_nothing_is_left_after_closing(tmp_path: Path) -> None:
    (tmp_path / "tools/a").mkdir(parents=True)
    before = set(threading.enumerate())
    for _ in range(5):
        watched = Watched(tmp_path)
        with watched.watch:
            watched.until(lambda each=watched: each.looks > 0)  # type: ignore[misc]
    assert set(threading.enumerate()) <= before


def test_a_request_that_is_moved_into_place_counts(watched: Watched) -> None:
    fresh = watched.root / ".request"
    fresh.touch()
    fresh.rename(watched.root / RELOAD_REQUEST)
    watched.until(lambda: watched.forced > 0)


def test_asking_to_look_runs_nothing_again(watched: Watched) -> None:
    watched.write("a/tools.py", TOOL.format(id="a.b", value=1))
    watched.until(lambda: watched.values() == {"a.b": 1})
    seen = watched.looks
    (before,) = watched.workspace.tools
    ask_to_look(watched.root)
    watched.until(lambda: watched.looks > seen)
    assert watched.workspace.tools[0] is before
    assert not watched.forced


def test_a_link_that_is_gone_is_watched_no_longer(watched: Watched, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = watched.root / "far"
    link.symlink_to(elsewhere)
    watched.until(lambda: elsewhere in watched.watch._watched)
    link.unlink()
    watched.until(lambda: elsewhere not in watched.watch._watched)


def test_a_folder_that_is_replaced_is_watched_again(watched: Watched, tmp_path: Path) -> None:
    for value in range(1, 4):
        fresh = tmp_path / f"fresh{value}"
        (fresh / "a").mkdir(parents=True)
        (fresh / "a/tools.py").write_text(TOOL.format(id="a.b", value=value))
        watched.root.rename(tmp_path / f"old{value}")
        fresh.rename(watched.root)
        watched.until(lambda expected=value: watched.values() == {"a.b": expected})  # type: ignore[misc]
        watched.write("a/tools.py", TOOL.format(id="a.b", value=value + 100))
        watched.until(lambda expected=value + 100: watched.values() == {"a.b": expected})  # type: ignore[misc]
