"""The tools of a process that lives on: new runs see new tools, running ones keep theirs."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import cache_folder
from tests.processes import gone
from tests.workspace_tools.test_plugins import PATH, failure, plugin

from coilclaw.app import Caller, CoilClaw, Toolbox
from coilclaw.config import load_settings
from coilclaw.policy import ApproveAll, Autonomy, Policy
from coilclaw.sdk import ToolFailure

TOOL = """
import os
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="mine.answer", risk="read")
def answer(ctx: ToolContext) -> int:
    return {value}

@define_tool(id="mine.pause", risk="read")
def pause(ctx: ToolContext) -> bool:
    (ctx.workspace / "reached").touch()
    while not (ctx.workspace / "go-on").exists():
        ctx.raise_if_cancelled()
        os.sched_yield()
    return True
"""


@pytest.fixture
def claw(tmp_path: Path) -> Iterator[CoilClaw]:
    workspace = tmp_path / "workspace"
    (workspace / "tools/mine").mkdir(parents=True)
    (workspace / "tools/mine/tools.py").write_text(TOOL.format(value=1))
    with CoilClaw.open(tmp_path / "home", workspace=workspace, cache=cache_folder()) as opened:
        yield opened


def run(claw: CoilClaw, source: str) -> object:
    report = claw.run(source, caller=Caller(approver=ApproveAll("the test")))
    assert report.status == "completed", report
    return report.value


def toolbox_of(claw: CoilClaw) -> Toolbox:
    return claw._parts.toolbox()


class Reloads:
    """Waits for registries."""

    def __init__(self) -> None:
        self._came = threading.Condition()
        self._generations: list[int] = []

    def __call__(self, change: object, registry: object) -> None:
        with self._came:
            self._generations.append(getattr(registry, "generation", 0))
            self._came.notify_all()

    def wait_for(self, number: int) -> None:
        with self._came:
            assert self._came.wait_for(lambda: len(self._generations) >= number, timeout=60)


@pytest.mark.req("R5", "R11", "R100", "R128")
def test_a_run_in_progress_keeps_its_tools_and_the_next_one_sees_the_new(claw: CoilClaw) -> None:
    workspace = claw.settings.config.workspace_dir
    values: list[object] = []
    source = "tools.mine.pause().unwrap()\ntools.mine.answer().unwrap()"
    running = threading.Thread(target=lambda: values.append(run(claw, source)))
    reloads = Reloads()
    with claw.tools.watch(reloads):
        running.start()
        while not (workspace / "reached").exists():
            running.join(0.01)
        (workspace / "tools/mine/tools.py").write_text(TOOL.format(value=2))
        reloads.wait_for(1)
        assert run(claw, "tools.mine.answer().unwrap()") == 2
        (workspace / "go-on").touch()
        running.join(60)
    assert values == [1]


@pytest.mark.req("R65")
def test_a_run_of_a_watched_app_uses_a_file_that_was_saved_just_before(tmp_path: Path) -> None:
    file = tmp_path / "workspace/tools/mine/tools.py"
    file.parent.mkdir(parents=True)
    file.write_text(TOOL.format(value=0))
    with CoilClaw.open(
        tmp_path / "home", workspace=tmp_path / "workspace", cache=cache_folder(), watch=True
    ) as watched:
        for number in range(1, 6):
            file.write_text(TOOL.format(value=number))
            assert watched.call("mine.answer").result.unwrap() == number


def test_each_new_content_leaves_one_receipt_with_its_hash(claw: CoilClaw) -> None:
    file = claw.settings.config.workspace_dir / "tools/mine/tools.py"
    reloads = Reloads()
    with claw.tools.watch(reloads):
        for number in (2, 3):
            file.write_text(TOOL.format(value=number))
            reloads.wait_for(number - 1)
    loaded = [receipt for receipt in claw.receipts.latest(100) if receipt.type == "tool.module.loaded"]
    assert len({receipt.payload["content_hash"] for receipt in loaded}) == 3
    assert {receipt.payload["path"] for receipt in loaded} == {"tools/mine/tools.py"}
    assert claw.verify().ok


@pytest.mark.req("R61", "R99")
def test_a_tool_written_by_a_run_is_called_only_after_it_was_trusted(claw: CoilClaw) -> None:
    text = TOOL.format(value=7).replace("mine.", "theirs.")
    assert run(claw, f"tools.files.write(path='tools/theirs/tools.py', text={text!r}).ok") is True
    claw.tools.reload(force=False)
    error = run(claw, "call = getattr(tools.theirs, 'answer')\nrepr(call())")
    assert "unknown_tool" in str(error)
    assert "coilclaw tool trust tools/theirs/tools.py" in str(error)
    claw.quarantine.trust(claw.quarantine.held()["tools/theirs/tools.py"], by="the test")
    claw.tools.reload(force=False)
    assert run(claw, "tools.theirs.answer().unwrap()") == 7


def test_a_file_in_the_wrong_place_is_told_even_if_a_call_saw_it_first(claw: CoilClaw) -> None:
    (claw.settings.config.workspace_dir / "tools/loose.py").write_text("x = 1\n")
    sources = toolbox_of(claw).workspace.sources
    sources.digests()
    sources.read()
    claw.tools.reload(force=False)
    assert any("loose.py" in each.file for each in claw.tools.registry.diagnostics)


def test_what_could_not_be_written_down_is_made_up_for(claw: CoilClaw, monkeypatch: pytest.MonkeyPatch) -> None:
    file = claw.settings.config.workspace_dir / "tools/mine/tools.py"
    file.write_text(TOOL.format(value=2))
    generation = claw.tools.registry.generation

    def fail(files: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(toolbox_of(claw).ledger, "record_loaded", fail)
        with pytest.raises(OSError, match="disk is full"):
            claw.tools.reload(force=False)
    assert claw.tools.registry.generation == generation
    claw.tools.reload(force=False)
    assert claw.tools.registry.generation == generation + 1
    assert claw.tools.registry.tools["mine.answer"](None) == 2
    loaded = [receipt for receipt in claw.receipts.latest(100) if receipt.type == "tool.module.loaded"]
    assert len(loaded) == 2


def test_refreshing_on_many_threads_makes_one_registry_for_each_change(claw: CoilClaw) -> None:
    file = claw.settings.config.workspace_dir / "tools/mine/tools.py"
    for value in range(2, 6):
        generation = claw.tools.registry.generation
        file.write_text(TOOL.format(value=value))
        threads = [threading.Thread(target=claw.tools.reload, kwargs={"force": False}) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert claw.tools.registry.generation == generation + 1
        assert claw.tools.registry.tools["mine.answer"](None) == value


def test_a_plugins_program_is_ended_also_when_its_plugin_is_gone(tmp_path: Path) -> None:
    settings = load_settings({"COILCLAW_HOME": str(tmp_path / "home")}, {"workspace_dir": str(tmp_path / "work")})
    plugin(
        tmp_path / "home/plugins",
        "#!/usr/bin/env python3\nimport os, time\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(300)\n",
    )
    box = Toolbox(settings, None, Policy(Autonomy.FULL), environment={"PATH": PATH})
    box.refresh()
    (tool,) = [each for each in box.live.current.tools.values() if each.id == "weather.forecast"]
    ended: list[ToolFailure] = []
    caller = threading.Thread(target=lambda: ended.append(failure(tool, tmp_path)))
    caller.start()
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.01)
    shutil.rmtree(tmp_path / "home/plugins")
    box.close()
    assert gone(int((tmp_path / "pid").read_text()))
    caller.join(60)
    assert len(ended) == 1
