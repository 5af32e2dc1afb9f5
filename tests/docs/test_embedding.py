"""The examples of docs/embedding.md, executed as they stand."""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.conftest import cache_folder

from coilclaw import app
from coilclaw.sdk import CoilClawError, RunStatus, ToolContext, define_tool

TEXT = (Path(__file__).resolve().parents[2] / "docs/embedding.md").read_text()
FIRST, SCRIPT, SERVICE, *CELLS, PLAN, APPROVER = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


pytestmark = pytest.mark.usefixtures("engine")  # The examples do not wait for the sandbox to be compiled.


def printed_by(source: str, tmp_path: Path, python: Path = Path(sys.executable)) -> str:
    (tmp_path / "home/.cache").mkdir(parents=True)
    (tmp_path / "home/.cache/coilclaw").symlink_to(cache_folder())
    environment = {**os.environ, "HOME": str(tmp_path / "home"), "PYTHONWARNINGS": "error"}
    file = tmp_path / "example.py"
    file.write_text(source)
    done = subprocess.run([python, file], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_first_result_takes_four_lines(tmp_path: Path) -> None:
    assert len([line for line in FIRST.splitlines() if line]) <= 4
    assert printed_by(FIRST, tmp_path) == "45\n"


def test_a_script_approves_and_resumes_its_own_run(tmp_path: Path) -> None:
    lines = printed_by(SCRIPT, tmp_path).splitlines()
    assert lines[0] == "crm.note {'text': 'called Ada'} write"
    assert [line.split()[:2] for line in lines[1:]] == [["crm.lookup", "succeeded"], ["crm.note", "succeeded"]]
    assert "granted grace" in lines[2]


def test_another_request_answers_what_a_run_asked() -> None:
    from starlette.testclient import TestClient

    names: dict[str, Any] = {"__name__": "service"}
    exec(compile(SERVICE, "service.py", "exec", dont_inherit=True), names)
    with TestClient(names["app"]) as client:
        report = client.post("/runs", json={"source": "tools.mail.send(to='ada').unwrap()"}).json()
        assert report["status"] == "suspended"
        (asked,) = report["approvals"]
        assert (asked["tool"], asked["arguments"], names["sent"]) == ("mail.send", {"to": "ada"}, [])
        again = client.post(f"/approvals/{asked['id']}").json()
        assert (again["status"], again["value"], names["sent"]) == ("completed", True, ["ada"])
        twice = client.post(f"/approvals/{asked['id']}")
        assert (twice.status_code, twice.json()["code"], names["sent"]) == (409, "not_resumable", ["ada"])
        wrong = client.post("/runs", json={"source": 5})
        nothing = client.post("/runs", json={})
        assert [(each.status_code, each.json()["code"]) for each in (wrong, nothing)] == [(400, "bad_argument")] * 2
        unknown = client.post("/approvals/approval-1")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "no_such_approval")


@define_tool(id="crm.note", risk="write")
def note(ctx: ToolContext, text: str) -> str:
    """Write a note."""
    return text


@define_tool(id="crm.remove", risk="write")
def remove(ctx: ToolContext, text: str) -> str:
    """Remove a note."""
    return text


def test_an_approver_says_yes_to_what_it_knows_and_leaves_the_rest_to_a_person() -> None:
    names: dict[str, Any] = {"__name__": "notes"}
    exec(compile(APPROVER, "notes.py", "exec", dont_inherit=True), names)
    with app.CoilClaw.temporary(tools=[note, remove], cache=cache_folder()) as claw:
        assert claw.run("tools.crm.note(text='x').unwrap()", caller=names["caller"]).value == "x"
        assert claw.run("tools.crm.remove(text='x').unwrap()", caller=names["caller"]).status == "suspended"


def test_a_plan_that_a_person_looked_at_is_carried_out(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "planned"}
    exec(compile(PLAN, "planned.py", "exec", dont_inherit=True), names)
    with app.CoilClaw.temporary(tools=[note], cache=cache_folder()) as claw:
        assert names["run_as_planned"](claw, "tools.crm.note(text='x').unwrap()").value == "x"
    assert capsys.readouterr().out == '1 crm.note {"text":"x"} ask\n'


def first_column(heading: str) -> set[str]:
    table = TEXT.partition(f"## {heading}\n")[2].partition("|---|")[2].partition("\n\n")[0]
    return {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.partition(" | ")[0])}


def test_the_page_names_every_field_of_a_caller() -> None:
    assert first_column("For whom a run is") == {each.name for each in fields(app.Caller)}


def test_the_page_names_every_field_of_a_report() -> None:
    with app.CoilClaw.temporary(cache=cache_folder()) as claw:
        facts = claw.run("1").facts()
    assert first_column("What a report has") == facts.keys()
    rest = TEXT.partition("The report itself has four fields more")[2].partition("\n\n")[0]
    assert {each.name for each in fields(app.Report)} - facts.keys() <= set(re.findall(r"`(\w+)`", rest))


def test_the_page_names_every_way_in_which_a_run_ends() -> None:
    (row,) = re.findall(r"^\| `status` \|(.*)$", TEXT, re.MULTILINE)
    assert set(get_args(RunStatus)) <= set(re.findall(r"`(\w+)`", row))


def test_the_page_names_every_error_of_the_library() -> None:
    exported = [getattr(app, name) for name in app.__all__]
    errors = {each.__name__ for each in exported if isinstance(each, type) and issubclass(each, CoilClawError)}
    assert first_column("Errors") == errors


def test_cells_of_a_notebook_await_and_follow_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    """As a notebook does it: each cell is compiled with `await` allowed, and run on one loop."""

    async def notebook() -> dict[str, Any]:
        names: dict[str, Any] = {}
        for cell in CELLS:
            code = compile(cell, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            result = eval(code, names)
            if inspect.iscoroutine(result):
                await result
        return names

    assert len(CELLS) == 3
    names = asyncio.run(notebook())
    assert names["report"].value == "20"
    kinds = capsys.readouterr().out.split()
    assert (kinds[0], kinds[-1]) == ("run.started", "run.finished")
    assert "run.output" in kinds
    assert "call.succeeded" in kinds
