"""`tool new`: a tool that works, a test that passes, and nothing that is overwritten."""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from coilclaw.sdk import OperatorError, Risk
from coilclaw.sdk.testing import call_tool, make_context
from coilclaw.workspace_tools import load_workspace
from coilclaw.workspace_tools.checks import check_tools
from coilclaw.workspace_tools.scaffold import plan_tool, write_scaffold

KINDS = {
    "read": dict[str, object](),
    "write": {"risk": Risk.WRITE},
    "destructive": {"risk": Risk.DESTRUCTIVE},
    "service": {"hosts_needed": ["app.posthog.com", "*.posthog.com"], "secrets_needed": ["POSTHOG_KEY", "OTHER_KEY"]},
    "secret": {"secrets_needed": ["POSTHOG_KEY"], "risk": Risk.WRITE},
    "any_host": {"hosts_needed": ["*"]},
}


@pytest.mark.req("R9", "R60", "R62", "R63", "R67")
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_tool_loads_answers_and_has_nothing_to_correct(tmp_path: Path, kind: str) -> None:
    made = plan_tool(tmp_path, "posthog.analytics.get_visitors", **KINDS[kind])  # type: ignore[arg-type]
    write_scaffold(made)
    assert made.file == tmp_path / "tools/posthog/analytics.py"
    loaded = load_workspace(tmp_path)
    (tool,) = loaded.tools
    assert tool.id == "posthog.analytics.get_visitors"
    assert all((tool.examples, tool.description, tool.summary))
    result = call_tool(tool, make_context(tool, secrets=dict.fromkeys(tool.secrets, "x")), name="Ada")
    assert result.unwrap() == {"tool": "posthog.analytics.get_visitors", "name": "Ada"}
    assert check_tools(tmp_path, loaded.tools, loaded.diagnostics, secret_present=lambda name: True) == []


def test_the_tests_it_writes_pass_at_once_under_a_strict_pytest(tmp_path: Path) -> None:
    for number, kind in enumerate(KINDS):
        write_scaffold(plan_tool(tmp_path, f"service{number}.thing.get", **KINDS[kind]))  # type: ignore[arg-type]
    write_scaffold(plan_tool(tmp_path, "weather.tools"))
    code = (
        "import pytest, sys\n"
        "code = pytest.main(['-q', '-W', 'error', '-p', 'no:cacheprovider', 'tools'])\n"
        "runtime = sorted(each for each in sys.modules if each.startswith('coilclaw.') and not each.startswith(('coilclaw.sdk', 'coilclaw.net')))\n"
        "sys.exit(str(runtime) if runtime else int(code))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{2 * (len(KINDS) + 1)} passed" in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_writes_fits_a_page_and_says_where_to_go_on(tmp_path: Path, kind: str) -> None:
    made = plan_tool(tmp_path, "posthog.analytics.get_visitors", **KINDS[kind])  # type: ignore[arg-type]
    for text in (made.text, made.test_text):
        assert ast.get_docstring(ast.parse(text))
        assert max(len(line) for line in text.splitlines()) <= 120
    assert "# Every parameter after ctx" in made.text


@pytest.mark.req("R95")
def test_two_parts_of_an_id_make_a_file_named_after_the_action(tmp_path: Path) -> None:
    assert plan_tool(tmp_path, "weather.forecast").file == tmp_path / "tools/weather/forecast.py"


def test_a_second_tool_of_a_resource_gets_a_file_beside_the_first(tmp_path: Path) -> None:
    write_scaffold(plan_tool(tmp_path, "posthog.analytics.visitors"))
    before = (tmp_path / "tools/posthog/analytics.py").read_bytes()
    write_scaffold(plan_tool(tmp_path, "posthog.analytics.sessions"))
    assert (tmp_path / "tools/posthog/analytics.py").read_bytes() == before
    assert {tool.id for tool in load_workspace(tmp_path).tools} == {
        "posthog.analytics.visitors",
        "posthog.analytics.sessions",
    }
    with pytest.raises(OperatorError, match="nothing is overwritten"):
        plan_tool(tmp_path, "posthog.analytics.sessions")


@pytest.mark.parametrize("tool_id", ["a.test_connection", "a.conftest", "a.test_x.get"])
def test_names_that_files_of_tests_have_still_become_tools(tmp_path: Path, tool_id: str) -> None:
    write_scaffold(plan_tool(tmp_path, tool_id))
    assert [tool.id for tool in load_workspace(tmp_path).tools] == [tool_id]


def test_a_tool_that_is_named_like_a_builtin_does_not_hide_it(tmp_path: Path) -> None:
    scaffold = plan_tool(tmp_path, "ledger.invoices.list")
    assert "def list_(" in scaffold.text
    assert "tools.list_" in scaffold.test_text
    write_scaffold(scaffold)
    assert [tool.id for tool in load_workspace(tmp_path).tools] == ["ledger.invoices.list"]


def test_a_tool_that_hides_a_builtin_is_named_as_the_reason(tmp_path: Path) -> None:
    scaffold = plan_tool(tmp_path, "ledger.invoices.list")
    write_scaffold(scaffold)
    text = scaffold.text.replace("def list_(", "def list(").replace("from __future__ import annotations\n", "")
    scaffold.file.write_text(f"{text}\n\ndef rows() -> list[str]:\n    return []\n")
    (problem,) = load_workspace(tmp_path).diagnostics
    assert "has the name of a builtin" in str(problem.hint)


@pytest.mark.parametrize(
    ("tool_id", "reason"),
    [
        ("nodots", "not of the form"),
        ("a.b.c.d", "not of the form"),
        ("a.import", "keyword"),
        ("class.b", "keyword"),
        ("a.start", "parallel call"),
        ("../evil.x", "not of the form"),
        ("a/b.c", "not of the form"),
        ("a.b\n.c", "not of the form"),
        ("a.b\n", "not of the form"),
        ('a.b"): import os', "not of the form"),
        ("_a.b", "not of the form"),
        ("", "not of the form"),
    ],
)
def test_an_id_that_cannot_be_is_refused_with_the_reason(tmp_path: Path, tool_id: str, reason: str) -> None:
    with pytest.raises(OperatorError, match=reason) as caught:
        plan_tool(tmp_path, tool_id)
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "host", ["https://app.posthog.com", "app.posthog.com/api", "a b", "", '"]; import os #', "x:99999"]
)
def test_a_host_that_cannot_be_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(OperatorError) as caught:
        plan_tool(tmp_path, "a.b", hosts_needed=[host])
    assert "no scheme and no path" in str(caught.value.hint)


@pytest.mark.parametrize("name", ["with space", 'x"]', "1ST", "", "A-B", "A\n"])
def test_a_name_no_secret_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OperatorError, match="not the name of a secret"):
        plan_tool(tmp_path, "a.b", secrets_needed=[name])


def test_a_file_that_appears_meanwhile_is_kept_and_nothing_is_left_behind(tmp_path: Path) -> None:
    made = plan_tool(tmp_path, "a.b")
    made.file.parent.mkdir(parents=True)
    made.file.write_text("mine")
    with pytest.raises(OperatorError, match="there already"):
        write_scaffold(made)
    assert made.file.read_text() == "mine"
    assert os.listdir(made.file.parent) == ["b.py"]


def test_a_link_in_the_place_of_the_file_is_not_written_through(tmp_path: Path) -> None:
    made = plan_tool(tmp_path, "a.b")
    made.file.parent.mkdir(parents=True)
    made.file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OperatorError, match="there already"):
        write_scaffold(made)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_leads_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "w/tools").mkdir(parents=True)
    (tmp_path / "w/tools/a").symlink_to(outside)
    with pytest.raises(OperatorError, match="leads out of the workspace"):
        plan_tool(tmp_path / "w", "a.b")


def test_a_file_where_the_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/a").write_text("")
    with pytest.raises(OperatorError, match="is not a folder"):
        plan_tool(tmp_path, "a.b")


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "tools").write_text("")
    with pytest.raises(OperatorError, match="cannot write"):
        write_scaffold(plan_tool(tmp_path, "a.b"))


def test_files_are_ordinary_ones(tmp_path: Path) -> None:
    made = plan_tool(tmp_path, "a.b")
    write_scaffold(made)
    for place in (made.file, made.test_file):
        facts = place.lstat()
        assert stat.S_ISREG(facts.st_mode)
        assert (facts.st_nlink, facts.st_mode & 0o133) == (1, 0)


def test_a_file_system_without_hard_links_is_served_and_still_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(source: object, target: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    made = plan_tool(tmp_path, "a.b")
    write_scaffold(made)
    assert made.file.read_text() == made.text
    made.file.write_text("mine")
    with pytest.raises(OperatorError, match="there already"):
        write_scaffold(made)
    assert sorted(os.listdir(made.file.parent)) == ["b.py", "test_a_b.py"]
    assert made.file.read_text() == "mine"
