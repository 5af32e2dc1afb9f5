"""The other commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import apsw
import pytest
from tests.cli.conftest import Command

TOOL = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="math.numbers.add", risk="read", examples=[{"a": 1, "b": 2}])
def add(ctx: ToolContext, a: int, b: int = 0) -> int:
    \"\"\"Add two numbers.\"\"\"
    return a + b

@define_tool(id="math.store", risk="write")
def store(ctx: ToolContext, a: int) -> int:
    return a
"""


@pytest.mark.req("R241", "R292")
def test_init_makes_home_configuration_and_workspace(coilclaw: Command) -> None:
    coilclaw.home.rmdir()
    assert not coilclaw.workspace.exists()
    done = coilclaw("init")
    assert done.code == 0
    assert coilclaw.workspace.is_dir()
    assert (coilclaw.home / "config.toml").exists()
    assert (coilclaw.home / "coilclaw.db").exists()
    assert (coilclaw.home / "coilclaw.db").stat().st_mode & 0o777 == 0o600
    assert (coilclaw.home / "keys/receipts.key").stat().st_mode & 0o777 == 0o600
    assert coilclaw.home.stat().st_mode & 0o777 == 0o700
    shown = re.search(r"coilclaw run (\S+)", done.out)
    assert shown is not None
    ran = coilclaw("run", shown[1])
    assert "Hello, world!" in ran.out
    assert "already" not in done.out
    again = coilclaw("init")
    assert again.code == 0
    assert again.out.startswith("Everything is there already; nothing was changed.\n")


def test_init_takes_a_workspace(coilclaw: Command, tmp_path: Path) -> None:
    assert coilclaw("init", "--workspace", tmp_path / "mine").code == 0
    assert (tmp_path / "mine/tools/hello/greetings.py").exists()
    assert coilclaw("config", "show", "--json").json["workspace_dir"]["value"] == str(tmp_path / "mine")


@pytest.mark.req("R242", "R243", "R482", "R295")
def test_config_is_validated_and_shown(coilclaw: Command) -> None:
    coilclaw("init")
    assert coilclaw("config", "validate").code == 0
    (coilclaw.home / "config.toml").write_text('[security]\nautonomy = "godmode"\n[limits]\ncalls = 0\n')
    done = coilclaw("config", "validate")
    assert done.code == 2
    assert "'readonly', 'supervised' or 'full'" in done.err
    assert "limits.calls" in done.err
    (coilclaw.home / "config.toml").write_text('[security]\nautonomy = "full"\n')
    shown = coilclaw("config", "show").out
    assert re.search(r'security.autonomy +"full" +# config.toml', shown)
    assert "# default" in shown


@pytest.mark.req("R246", "R420")
def test_tools_are_listed_and_shown(coilclaw: Command) -> None:
    coilclaw.tool("math/x.py", TOOL)
    listed = coilclaw("tool", "list").out
    assert re.search(r"math.numbers.add +read +allow +Add two numbers.", listed)
    assert re.search(r"math.store +write +ask", listed)
    facts = {each["id"]: each for each in coilclaw("tool", "list", "--json").json}
    assert facts["math.store"]["policy"] == "ask"
    shown = coilclaw("tool", "show", "math.add").out
    assert "def add(a: int, b: int = 0) -> Result[int]:" in shown
    assert "policy:     allow" in shown
    assert coilclaw("tool", "show", "math.add", "--json").json["input_schema"]["required"] == ["a"]
    assert "def add" in coilclaw("tool", "stubs").out


@pytest.mark.req("R247", "R420")
def test_a_tool_is_run_directly(coilclaw: Command) -> None:
    coilclaw.tool("math/x.py", TOOL)
    assert coilclaw("tool", "run", "math.add", "--json", '{"a": 2, "b": 3}').out == "5\n"
    assert coilclaw("tool", "run", "time.now").code == 0


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("math.ad", "--json", "{}"), 2, "did you mean tools.math.add"),
        (("math.add", "--json", "{}"), 2, "a: Field required"),
        (("math.add", "--json", "nonsense"), 2, "not JSON"),
        (("math.add", "--json", "[1]"), 2, "object"),
        (("math.store", "--json", '{"a": 1}'), 3, "coilclaw approval approve approval-"),
    ],
)
def test_a_direct_call_that_cannot_work_says_why(
    coilclaw: Command, args: tuple[str, ...], code: int, words: str
) -> None:
    coilclaw.tool("math/x.py", TOOL)
    done = coilclaw("tool", "run", *args)
    assert done.code == code
    assert words in done.err
    assert done.out == ""


def test_showing_an_unknown_tool_suggests_one(coilclaw: Command) -> None:
    done = coilclaw("tool", "show", "files.reed")
    assert done.code == 2
    assert "files.read" in done.err


@pytest.mark.req("R251", "R381", "R382", "R423", "R488")
def test_receipts_are_verified_and_the_edited_one_is_named(coilclaw: Command) -> None:
    coilclaw("run", "-", stdin="tools.time.now()")
    assert "Valid: 5 receipts" in coilclaw("receipt", "verify").out
    connection = apsw.Connection(str(coilclaw.home / "coilclaw.db"))
    connection.execute("UPDATE receipts SET body = replace(body, 'time.now', 'time.not') WHERE seq = 2")
    connection.close()
    done = coilclaw("receipt", "verify")
    assert done.code == 1
    assert "receipt 2" in done.out
    assert coilclaw("receipt", "verify", "--json").json["first_bad"] == 2


def test_an_export_is_verified_anywhere(coilclaw: Command) -> None:
    coilclaw("run", "-", stdin="tools.time.now()")
    exported = coilclaw("receipt", "export").out
    lines = exported.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == [1, 2, 3, 4, 5]
    file = coilclaw.folder / "receipts.jsonl"
    assert coilclaw("receipt", "export", "-o", file).code == 0
    assert file.read_text() == exported
    assert coilclaw("receipt", "verify", file).code == 0
    lines[1] = lines[1].replace("time.now", "time.not")
    file.write_text("\n".join(lines))
    done = coilclaw("receipt", "verify", file)
    assert done.code == 1
    assert "receipt 2" in done.out


def test_an_export_that_cannot_be_written_is_one_clear_line(coilclaw: Command) -> None:
    done = coilclaw("receipt", "export", "-o", coilclaw.folder / "no/such/folder.jsonl")
    assert done.code == 2
    assert "cannot write" in done.err


@pytest.mark.req("R423")
def test_receipts_are_listed_and_shown(coilclaw: Command) -> None:
    run_id = coilclaw("run", "-", "--json", stdin="tools.time.now(zone='Asia/Tokyo')").json["run_id"]
    listed = coilclaw("receipt", "list", "--run", run_id).out
    assert "tool.call.succeeded" in listed
    listed_as_json = coilclaw("receipt", "list", "--run", run_id, "--json").json
    assert [each["type"] for each in listed_as_json] == [
        "run.started",
        *(f"tool.call.{kind}" for kind in ("requested", "started", "succeeded")),
        "run.finished",
    ]
    assert {each["run_id"] for each in listed_as_json} == {run_id}
    shown = coilclaw("receipt", "show", "4", "--json").json
    assert shown["arguments"] == {"zone": "Asia/Tokyo"}
    assert shown["result"]["timezone"] == "Asia/Tokyo"
    done = coilclaw("receipt", "show", "99")
    assert done.code == 2
    assert "receipt list" in done.err


def test_doctor_says_what_is_wrong(coilclaw: Command) -> None:
    done = coilclaw("doctor", "--json")
    assert done.code == 0
    states = {each["check"]: each["state"] for each in done.json}
    assert states["sandbox"] == states["receipts"] == "ok"
    assert states["workspace"] == "warning"
    coilclaw.tool("bad/x.py", "x = = 1")
    assert "not valid Python" in coilclaw("doctor").out
    (coilclaw.home / "config.toml").write_text("[")
    assert coilclaw("doctor").code == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(coilclaw: Command, shell: str) -> None:
    assert "_COILCLAW_COMPLETE" in coilclaw("completion", shell).out


def test_version_and_help(coilclaw: Command) -> None:
    assert re.fullmatch(r"coilclaw \d+\.\d+\.\d+\n", coilclaw("--version").out)
    assert coilclaw("--help").code == 0
    assert "call, check, test and trust tools; start a new one" in coilclaw("tool", "--help").out


@pytest.mark.parametrize(
    "command",
    ["init", "setup", "run", "tool list", "tool show", "tool run", "tool stubs", "receipt list", "receipt show",
     "receipt verify", "receipt export", "config validate", "config show", "doctor", "completion", "provider list", "provider test",
     "auth list", "auth add", "auth remove", "auth order", "auth test", "auth anthropic setup-token"],
)  # fmt: skip
def test_every_command_has_help_with_an_example(coilclaw: Command, command: str) -> None:
    done = coilclaw(*command.split(), "--help")
    assert done.code == 0
    assert "Example: coilclaw" in done.out


def test_a_misspelt_command_gets_a_suggestion(coilclaw: Command) -> None:
    done = coilclaw("recept", "list")
    assert done.code == 2
    assert "receipt" in done.err


def test_setup_prepares_the_sandbox(coilclaw: Command) -> None:
    assert "Ready: wasm guest" in coilclaw("setup").out


def test_help_does_not_load_the_runtime(coilclaw: Command) -> None:
    import subprocess
    import sys

    code = (
        "import sys; sys.argv = ['coilclaw', '--help']\n"
        "from coilclaw.cli.main import cli\n"
        "cli.main(standalone_mode=False)\n"
        "heavy = {'pydantic', 'wasmtime', 'apsw', 'httpx', 'rich'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=coilclaw.environment)
    assert done.returncode == 0, done.stderr
