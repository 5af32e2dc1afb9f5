"""The library: opened in one line, nothing ambient, several apps in one process."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.app.conftest import Open
from tests.conftest import cache_folder
from tests.workspace_tools.test_plugins import PATH, plugin

from coilclaw.app import Caller, CoilClaw
from coilclaw.receipts import digest
from coilclaw.sdk import OperatorError, ToolContext, ToolDefinitionError, define_tool

TOOL = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="mine.answer", risk="read")
def answer(ctx: ToolContext) -> int:
    return {value}

@define_tool(id="mine.mark", risk="write")
def mark(ctx: ToolContext) -> str:
    (ctx.workspace / "marked").touch()
    return str(ctx.workspace)
"""


@define_tool(id="crm.lookup", risk="read")
def lookup(ctx: ToolContext, email: str) -> dict[str, str]:
    """Find a customer."""
    return {"email": email}


@define_tool(id="crm.note", risk="write")
def note(ctx: ToolContext, text: str) -> str:
    """Write a note."""
    return text


def workspace(place: Path, value: int = 1) -> Path:
    (place / "tools/mine").mkdir(parents=True)
    (place / "tools/mine/tools.py").write_text(TOOL.format(value=value))
    return place


def test_a_snippet_calls_a_tool_of_the_hosts_own_code(temporary: Open) -> None:
    report = temporary(lookup).run("tools.crm.lookup(email=who).unwrap()", inputs={"who": "a@b.c"})
    assert (report.status, report.value) == ("completed", {"email": "a@b.c"})
    (item,) = report.activity
    assert (item.tool_id, item.status) == ("crm.lookup", "succeeded")


def test_a_home_that_does_not_exist_is_made_private(tmp_path: Path) -> None:
    home = tmp_path / "some/home"
    with CoilClaw.open(home, workspace=workspace(tmp_path / "work"), cache=cache_folder()) as claw:
        assert claw.run("tools.mine.answer().value").value == 1
        assert home.stat().st_mode & 0o777 == 0o700
    with CoilClaw.open(home, workspace=tmp_path / "work", cache=cache_folder()) as again:
        assert again.verify().ok
        assert "run.finished" in [each.type for each in again.receipts.latest(10)]


def test_a_workspace_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="does not exist"):
        CoilClaw.open(tmp_path / "home", workspace=tmp_path / "none")


def test_the_environment_of_the_process_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("COILCLAW_HOME", str(elsewhere))
    monkeypatch.setenv("COILCLAW_AUTONOMY", "full")
    monkeypatch.setenv("COILCLAW_WORKSPACE", str(elsewhere))
    with CoilClaw.temporary(tools=[note], cache=cache_folder()) as claw:
        assert claw.run("tools.crm.note(text='x')").status == "suspended"
    assert not elsewhere.exists()


def test_an_environment_that_is_passed_counts(temporary: Open) -> None:
    claw = temporary(note, environment={"COILCLAW_AUTONOMY": "full"})
    assert claw.run("tools.crm.note(text='x').value").value == "x"


def test_a_secret_comes_from_the_environment_that_is_passed(temporary: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    @define_tool(id="crm.key", risk="read", secrets=["CRM_KEY"])
    def key(ctx: ToolContext) -> int:
        """Tell how long the key is."""
        return len(ctx.secrets["CRM_KEY"])

    monkeypatch.setenv("CRM_KEY", "of the process")
    assert temporary(key, environment={"CRM_KEY": "12345"}).call("crm.key").value == 5
    error = temporary(key).call("crm.key").error
    assert error is not None
    assert (error.code, str(error.hint).partition(", or ")[2]) == ("missing_secret", "CRM_KEY in the environment")


def test_keys_of_the_configuration_can_be_given(temporary: Open) -> None:
    claw = temporary(note, config={"security.autonomy": "readonly"})
    assert claw.run("tools.crm.note(text='x')").status == "rejected"


def test_nothing_is_printed(temporary: Open, capfd: pytest.CaptureFixture[str]) -> None:
    claw = temporary(note)
    report = claw.run("print('hello')\nimport sys\nprint('there', file=sys.stderr)\ntools.crm.note(text='x')")
    claw.approvals.approve(report.approvals[0].id, by="ada")
    assert claw.resume(report.run_id).stdout == "hello\n"
    assert capfd.readouterr() == ("", "")


def test_importing_the_library_imports_no_command_line() -> None:
    code = (
        "import sys; from coilclaw.app import CoilClaw\n"
        "with CoilClaw.temporary() as claw: claw.run('1')\n"
        "assert not [name for name in sys.modules if name == 'click' or name.startswith('coilclaw.cli')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_two_apps_have_their_own_tools_and_receipts(temporary: Open) -> None:
    one, other = temporary(lookup, note), temporary(lookup)
    assert one.run("tools.crm.note(text='x')").status == "suspended"
    assert other.run("tools.crm.note(text='x')").status == "rejected"
    assert len(one.approvals.pending()) == 1
    assert other.approvals.pending() == ()


def test_closing_one_app_leaves_the_programs_of_another_running(tmp_path: Path) -> None:
    waits = (
        "#!/usr/bin/env python3\nimport json, pathlib, time\n"
        "pathlib.Path('{0}/started').touch()\n"
        "while not pathlib.Path('{0}/go').exists(): time.sleep(0.01)\n"
        'print(json.dumps({{"ok": True, "value": 1}}))\n'
    )
    apps = []
    for name in ("one", "other"):
        (tmp_path / name / "work").mkdir(parents=True)
        plugin(tmp_path / name / "home/plugins", waits.format(tmp_path / name))
        apps.append(
            CoilClaw.open(
                tmp_path / name / "home",
                workspace=tmp_path / name / "work",
                environment={"PATH": PATH, "COILCLAW_AUTONOMY": "full"},
                cache=cache_folder(),
            )
        )
    one, other = apps
    with other:
        with one:
            running = other.start("tools.weather.forecast(city='Oslo').unwrap()")
            while not (tmp_path / "other/started").exists():
                assert not running.done
        (tmp_path / "other/go").touch()
        assert running.result(60).value == 1


def test_a_tool_whose_id_is_taken_is_refused_when_the_app_is_opened() -> None:
    @define_tool(id="files.read", risk="read")
    def read(ctx: ToolContext) -> int:
        return 1

    with pytest.raises(ToolDefinitionError, match=r"files\.read"):
        CoilClaw.temporary(tools=[read])
    with pytest.raises(ToolDefinitionError, match=r"crm\.lookup"):
        CoilClaw.temporary(tools=[lookup, lookup])


@pytest.mark.req("R64", "R65", "R66")
def test_the_next_run_of_a_watched_workspace_uses_a_saved_file(tmp_path: Path) -> None:
    place = workspace(tmp_path / "work")
    with CoilClaw.open(tmp_path / "home", workspace=place, watch=True, cache=cache_folder()) as claw:
        reloaded = threading.Event()
        with claw.tools.watch(lambda change, registry: reloaded.set()):
            assert claw.run("tools.mine.answer().value").value == 1
            (place / "tools/mine/tools.py").write_text(TOOL.format(value=2))
            before = claw.tools.registry
            while claw.tools.registry is before:
                assert not reloaded.wait(0.001) or claw.tools.registry is not before
            assert claw.run("tools.mine.answer().value").value == 2


def test_an_app_that_does_not_watch_keeps_the_tools_it_was_opened_with(tmp_path: Path) -> None:
    place = workspace(tmp_path / "work")
    with CoilClaw.open(tmp_path / "home", workspace=place, cache=cache_folder()) as claw:
        (place / "tools/mine/tools.py").write_text(TOOL.format(value=2))
        assert claw.run("tools.mine.answer().value").value == 1
        assert claw.run("tools.mine.answer().value").value == 1


def test_a_run_is_resumed_in_the_workspace_where_it_began(tmp_path: Path) -> None:
    first, second = workspace(tmp_path / "first"), workspace(tmp_path / "second")
    with CoilClaw.open(tmp_path / "home", workspace=first, cache=cache_folder()) as claw:
        report = claw.run("tools.mine.mark().unwrap()")
        assert report.status == "suspended"
    with CoilClaw.open(tmp_path / "home", workspace=second, cache=cache_folder()) as claw:
        claw.approvals.decide_run(report.run_id, approved=True, by="ada")
        assert claw.resume(report.run_id).value == str(first)
        assert claw.replay(report.run_id).identical
    assert (first / "marked").exists()
    assert not (second / "marked").exists()


@pytest.mark.parametrize("with_receipt", [False, True])
def test_a_table_that_somebody_edited_does_not_choose_the_workspace(tmp_path: Path, with_receipt: bool) -> None:
    first, second = workspace(tmp_path / "first"), workspace(tmp_path / "second")
    (second / "tools/mine/tools.py").write_text(f"open({str(tmp_path / 'it-ran')!r}, 'w')\n")
    with CoilClaw.open(tmp_path / "home", workspace=first, cache=cache_folder()) as claw:
        report = claw.run("tools.mine.mark().unwrap()")
        header = claw.runs.find(report.run_id).header
        forged = replace(header, workspace=str(second))
        (started,) = [each for each in claw._parts.stores.log.of_run(report.run_id) if each.type == "run.started"]
        with claw._parts.stores.database.transaction() as connection:
            connection.execute("UPDATE runs SET header = ?", (forged.text(),))
            if with_receipt:
                ((body,),) = connection.execute("SELECT body FROM receipts WHERE seq = ?", (started.seq,))
                fitting = body.replace(*(digest(each.text().encode()).encode() for each in (header, forged)))
                sql = "UPDATE receipts SET body = ?, receipt_hash = ? WHERE seq = ?"
                connection.execute(sql, (fitting, digest(fitting), started.seq))
        with pytest.raises(OperatorError, match="not the one it began"):
            claw.resume(report.run_id)
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.req("R331")
def test_a_direct_call_names_its_receipt(temporary: Open) -> None:
    claw = temporary(lookup)
    done = claw.call("crm.lookup", {"email": "a@b.c"})
    assert done.ok
    assert done.value == {"email": "a@b.c"}
    receipt = claw.receipts.find(str(done.receipt_id))
    assert (receipt.type, receipt.run_id) == ("tool.call.succeeded", done.run_id)
    assert claw.receipts.contents(receipt)["arguments"] == {"email": "a@b.c"}
    assert done.metadata["tool_id"] == "crm.lookup"
    assert done.facts() == {
        "success": True,
        "output": '{"email": "a@b.c"}',
        "error": None,
        "metadata": {"run_id": done.run_id, **done.metadata},
        "receipt_id": receipt.id,
    }
    failed = claw.call("crm.lookup", {})
    assert failed.error is not None
    assert failed.error.code == "invalid_input"
    facts = failed.facts()
    assert (facts["success"], facts["output"], facts["metadata"]["status"]) == (False, "", "failed")
    assert facts["error"].startswith("invalid_input: ")
    assert claw.receipts.find(facts["receipt_id"]).type == "tool.call.failed"


def test_hints_speak_of_no_options_of_a_command(temporary: Open) -> None:
    report = temporary().run("while True: pass", timeout=0.2)
    assert report.status == "timed_out"
    assert report.error is not None
    assert "--" not in str(report.error.hint)


def test_a_rehearsal_that_was_approved_is_carried_out(temporary: Open) -> None:
    from coilclaw.app import ApprovedPlan

    claw = temporary(note)
    source = "tools.crm.note(text='x').unwrap()"
    rehearsal = claw.rehearse(source)
    assert [(call.tool, call.verdict) for call in rehearsal.plan.calls] == [("crm.note", "ask")]
    report = claw.run(source, plan=ApprovedPlan(rehearsal.plan, "ada"))
    assert (report.status, report.value) == ("completed", "x")


def test_a_stop_refuses_calls_until_it_is_cleared(temporary: Open) -> None:
    claw = temporary(lookup)
    source = "tools.crm.lookup(email='x').ok"
    assert claw.estop.set(by="ada", reason="enough").receipt
    assert claw.estop.state is not None
    assert claw.run(source).value is not True
    assert claw.estop.clear(by="ada").changed
    assert claw.run(source).value is True


def test_a_caller_is_seen_by_rules_about_channels(temporary: Open) -> None:
    rules = [{"tool": "crm.lookup", "decision": "deny", "channel": "web"}]
    claw = temporary(lookup, config={"policy.rules": rules})
    source = "tools.crm.lookup(email='x').ok"
    assert claw.run(source, caller=Caller(channel="web")).status == "rejected"
    assert claw.run(source, caller=Caller(channel="mail")).value is True
