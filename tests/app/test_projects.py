"""Runs of a project work in its folder, and reach nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from coilclaw.app import Caller, CoilClaw, NotResumable
from coilclaw.spaces import NoSuchSpace, SpaceArchived


@pytest.fixture
def claw(tmp_path: Path) -> Iterator[CoilClaw]:
    (tmp_path / "workspace" / "tools").mkdir(parents=True)
    config = {"security.autonomy": "full"}
    with CoilClaw.open(tmp_path / "home", workspace=tmp_path / "workspace", config=config) as opened:
        yield opened


def in_project(claw: CoilClaw) -> tuple[str, Path, Caller]:
    made = claw.spaces.create("demo")
    return made.id, claw.spaces.folder(made.id), Caller(project=made.id)


@pytest.mark.req("R832")
def test_file_tools_of_a_project_work_in_its_folder(claw: CoilClaw, tmp_path: Path) -> None:
    _, folder, caller = in_project(claw)
    report = claw.run("tools.files.write(path='a/n.txt', text='hi').unwrap()", caller=caller)
    assert report.status == "completed"
    assert (folder / "a" / "n.txt").read_text() == "hi"
    assert not (tmp_path / "workspace" / "a").exists()
    shell = claw.call("shell.run", {"command": "cat a/n.txt"}, caller=caller)
    assert shell.value["stdout"] == "hi"


@pytest.mark.parametrize(
    "path",
    [
        "../../../coilclaw.db",
        "../../../config.toml",
        ".live-artifacts/x.json",
        ".LIVE-artifacts/../.live-artifacts/x",
        "/etc/passwd",
    ],
)
@pytest.mark.req("R588", "R832")
def test_a_project_reaches_nothing_outside_and_no_live_artifacts(claw: CoilClaw, path: str) -> None:
    _, folder, caller = in_project(claw)
    (folder / ".live-artifacts").mkdir()
    (folder / ".live-artifacts" / "x.json").write_text("{}")
    for tool, arguments in (
        ("files.read", {"path": path}),
        ("files.write", {"path": path, "text": "x"}),
        ("shell.run", {"command": f"cat {path}"}),
    ):
        report = claw.call(tool, arguments, caller=caller)
        assert [each.status for each in report.report.activity] == ["denied"], (tool, path)
    assert (folder / ".live-artifacts" / "x.json").read_text() == "{}"


def test_another_projects_folder_is_outside(claw: CoilClaw) -> None:
    _, other, _ = in_project(claw)
    (other / "secret.txt").write_text("theirs")
    _, folder, caller = in_project(claw)
    (folder / "link").symlink_to(other)
    for path in (f"../{other.name}/secret.txt", "link/secret.txt"):
        for tool, arguments in (("files.read", {"path": path}), ("shell.run", {"command": f"cat {path}"})):
            report = claw.call(tool, arguments, caller=caller)
            assert report.report.activity[0].status == "denied", (tool, path)


def test_what_a_project_writes_under_tools_is_quarantined_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "workspace" / "tools").mkdir(parents=True)
    with CoilClaw.open(tmp_path / "home", workspace=tmp_path / "workspace") as claw:
        write_tool(claw, tmp_path)


def write_tool(claw: CoilClaw, tmp_path: Path) -> None:
    _, folder, caller = in_project(claw)
    text = "from coilclaw.sdk import define_tool\n@define_tool(id='x.y', risk='read')\ndef y() -> int:\n    return 1\n"
    report = claw.run(
        "tools.files.write(path='tools/x/tools.py', text=text).unwrap()", inputs={"text": text}, caller=caller
    )
    claw.approvals.decide_run(report.run_id, approved=True, by="ada")
    assert claw.resume(report.run_id).status == "completed"
    assert (tmp_path / "workspace" / "tools" / "x" / "tools.py").read_text() == text
    assert not (folder / "tools").exists()
    assert list(claw.quarantine.held()) == ["tools/x/tools.py"]
    read = claw.call("files.read", {"path": "tools/x/tools.py"}, caller=caller)
    assert read.value["text"] == text


def test_programs_of_a_project_do_not_start_in_the_workspaces_tools(claw: CoilClaw, tmp_path: Path) -> None:
    _, folder, caller = in_project(claw)
    (tmp_path / "workspace" / "tools" / "own.py").write_text("x = 1")
    for command, cwd in (("cat own.py", "tools"), ("cat tools/own.py", "."), ("mkdir tools", ".")):
        report = claw.call("shell.run", {"command": command, "cwd": cwd}, caller=caller)
        assert report.report.activity[0].status in ("denied", "failed"), command
    assert not (folder / "tools").exists()


@pytest.mark.req("R831")
def test_an_unknown_or_archived_project_runs_nothing(claw: CoilClaw) -> None:
    space, _, caller = in_project(claw)
    before = claw.feed.end()
    for project in ("space-0", "../x", "nothing", f"{space}/..", "space-" + "0" * 21):
        with pytest.raises(NoSuchSpace):
            claw.run("1", caller=Caller(project=project))
    claw.spaces.change(space, archived=True)
    with pytest.raises(SpaceArchived):
        claw.call("time.now", {}, caller=caller)
    assert claw.feed.end() == before


def test_a_suspended_run_is_resumed_in_its_project(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    source = "tools.files.write(path='n.txt', text='hi').unwrap()"
    with CoilClaw.open(tmp_path / "home", workspace=tmp_path / "workspace") as claw:
        _, folder, caller = in_project(claw)
        report = claw.run(source, caller=caller)
        assert report.status == "suspended"
    with CoilClaw.open(tmp_path / "home", workspace=tmp_path / "workspace") as claw:
        claw.approvals.approve(report.approvals[0].id, by="ada")
        assert claw.resume(report.run_id, caller=Caller(project=claw.spaces.create("other").id)).status == "completed"
    assert (folder / "n.txt").read_text() == "hi"
    assert not (tmp_path / "workspace" / "n.txt").exists()


def test_a_run_whose_row_names_another_project_is_not_resumed(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    with CoilClaw.open(tmp_path / "home", workspace=tmp_path / "workspace") as claw:
        space, _, caller = in_project(claw)
        other = claw.spaces.create("other").id
        report = claw.run("tools.files.write(path='n.txt', text='hi').unwrap()", caller=caller)
        claw.approvals.approve(report.approvals[0].id, by="ada")
    connection = apsw.Connection(str(tmp_path / "home" / "coilclaw.db"))
    connection.execute("UPDATE runs SET header = REPLACE(header, ?, ?)", (space, other))
    connection.close()
    with CoilClaw.open(tmp_path / "home", workspace=tmp_path / "workspace") as claw:
        with pytest.raises(NotResumable):
            claw.resume(report.run_id)
        assert claw.spaces.files(other).list().entries == []


def test_a_window_of_the_workspace_does_not_reach_into_a_project(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    source = "tools.files.write(path='n.txt', text='hi').unwrap()"
    with CoilClaw.open(tmp_path / "home", workspace=tmp_path / "workspace") as claw:
        first = claw.run(source)
        claw.approvals.windows.open(first.approvals[0].id, by="ada", seconds=600)
        assert claw.run(source).status == "completed"
        _, _, caller = in_project(claw)
        assert claw.run(source, caller=caller).status == "suspended"
