"""`coilclaw tool`: finding, reading about and calling tools."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest
from tests.cli.conftest import Command
from tests.cli.terminal import on_terminal

TOOLS = '''
from typing import Annotated, Literal
from pydantic import BaseModel, Field
from coilclaw.sdk import ToolContext, define_tool

class Entry(BaseModel):
    subject: str
    size: int

@define_tool(id="mail.messages.search", risk="read", aliases=["mail_search"], hosts=["mail.example.org"],
             secrets=["MAIL_KEY", "MAIL_OTHER"], optional_secrets=["MAIL_EXTRA"], idempotent=True, timeout=7,
             examples=[{"text": "invoice", "limit": 2}])
def search(ctx: ToolContext, text: str, limit: Annotated[int, Field(ge=1, le=9)] = 3, folder: Literal["in", "out"] = "in") -> list[Entry]:
    """Letters that contain a text. Newest first."""
    return []

@define_tool(id="demo.echo", risk="read", aliases=["echo"])
def echo(ctx: ToolContext, text: str = "", number: int = 0, on: bool = False, many: list[int] = [], either: int | str = 0,
         maybe: str | None = None) -> dict[str, object]:
    """Give back what was given."""
    return {"text": text, "number": number, "on": on, "many": many, "either": either, "maybe": maybe}
'''


@pytest.fixture
def tooled(coilclaw: Command) -> Command:
    coilclaw.tool("demo/x.py", TOOLS)
    return coilclaw


@pytest.mark.req("R246", "R420")
def test_a_query_lists_what_fits_best_first(tooled: Command) -> None:
    listed = tooled("tool", "list", "find", "letter").out.splitlines()
    assert listed[0].startswith("mail.messages.search")
    assert tooled("tool", "list", "mial search", "--json").json[0]["id"] == "mail.messages.search"
    nothing = tooled("tool", "list", "zzzzz")
    assert (nothing.code, nothing.out) == (0, "")
    assert "No tool fits 'zzzzz'" in nothing.err
    assert tooled("tool", "list", "zzzzz", "--json").json == []


@pytest.mark.parametrize("name", ["mail.messages.search", "mail.search", "mail_search", "tools.mail_search"])
def test_a_tool_is_shown_by_any_of_its_names(tooled: Command, name: str) -> None:
    shown = tooled("tool", "show", name, MAIL_KEY="s3cret-value")
    assert shown.code == 0
    stub, _, rest = shown.out.partition("\ninput:")
    ast.parse(stub)
    assert "class Entry(TypedDict):" in stub
    assert "limit: int = 3,  # >= 1, <= 9" in stub
    assert "  text    str\n" in rest
    assert re.search(r'  folder  Literal\["in", "out"\]  optional\n', rest)
    for line in (
        "id:         mail.messages.search",
        "aliases:    mail_search, mail.search",
        "policy:     allow (autonomy 'supervised' and risk 'read')",
        "timeout:    7 s",
        "secrets:    MAIL_KEY present",
        "secrets:    MAIL_OTHER missing; set it: coilclaw secret set MAIL_OTHER",
        "secrets:    MAIL_EXTRA missing (optional)",
        "hosts:      mail.example.org",
        'example:    tools.mail.messages.search(text="invoice", limit=2)',
    ):
        assert line in rest, line
    assert re.search(r"defined: +.*demo/x\.py:\d+\n", rest)
    assert "s3cret-value" not in shown.out + shown.err


def test_the_facts_of_a_tool_are_json(tooled: Command) -> None:
    shown = tooled("tool", "show", "mail_search", "--json", MAIL_KEY="s3cret-value")
    facts = shown.json
    assert facts["aliases"] == ["mail_search", "mail.search"]
    assert facts["missing_secrets"] == ["MAIL_OTHER"]
    assert facts["calls"] == ['tools.mail.messages.search(text="invoice", limit=2)']
    assert facts["input_schema"]["properties"]["limit"]["maximum"] == 9
    assert facts["output_schema"]["items"]["$ref"].endswith("Entry")
    assert facts["idempotent"] is True
    assert "s3cret-value" not in shown.out


@pytest.mark.req("R247", "R420")
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["echo", "text=hello world"], {"text": "hello world"}),
        (["demo.echo", "text=3"], {"text": "3"}),
        (["tools.demo.echo", "text=a=b"], {"text": "a=b"}),
        (["echo", "number=3", "on=true", "many=[1, 2]"], {"number": 3, "on": True, "many": [1, 2]}),
        (["echo", "either=3"], {"either": "3"}),
        (["echo", "maybe=null"], {"maybe": "null"}),
        (["echo", "text="], {"text": ""}),
        (["echo", "number=3", "--json", '{"text": "x"}'], {"number": 3, "text": "x"}),
    ],
    ids=range(8),
)
def test_arguments_are_given_as_pairs(tooled: Command, args: list[str], expected: dict[str, object]) -> None:
    done = tooled("tool", "run", *args)
    assert done.code == 0, done.err
    assert {key: done.json[key] for key in expected} == expected


def test_arguments_are_read_from_a_file_or_from_stdin(tooled: Command) -> None:
    (tooled.folder / "args.json").write_text('{"text": "from a file"}')
    assert tooled("tool", "run", "echo", "--json", "@args.json").json["text"] == "from a file"
    assert tooled("tool", "run", "echo", "--json", "-", stdin='{"text": "from stdin"}').json["text"] == "from stdin"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["echo", "hello"], "KEY=VALUE"),
        (["echo", "=x"], "KEY=VALUE"),
        (["echo", "text=a", "text=b"], "given twice"),
        (["echo", "text=a", "--json", '{"text": "b"}'], "given twice"),
        (["echo", "number=three"], "number: Input should be a valid integer"),
        (["echo", "number=NaN"], "number: Input should be a valid integer"),
        (["echo", "nope=1"], "nope"),
        (["ehco", "text=a"], "did you mean tools.echo"),
        (["echo", "--json", "@no/such/file"], "No such file"),
        (["echo", "--json", "@."], "directory"),
        (["echo", "--json", "@/dev/zero"], "bytes"),
        (["echo", "--json", "@a\tb"], "No such file"),
        (["echo", "--json", "-"], "not JSON"),
        (["echo", "\x1b[2J"], "KEY=VALUE"),
    ],
    ids=range(14),
)
def test_arguments_that_cannot_be_used_get_one_clear_line(tooled: Command, args: list[str], words: str) -> None:
    done = tooled("tool", "run", *args)
    assert done.code == 2
    assert words in done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    assert "\x1b" not in done.err


def test_a_terminal_shows_each_tool_on_one_line(tooled: Command) -> None:
    rows = [row for row in on_terminal(tooled, "tool", "list", answers=[]).rows if row]
    assert len(rows) == len(tooled("tool", "list", "--json").json)
    assert max(map(len, rows)) <= 80
    assert any(row.endswith("…") for row in rows)


def test_the_stubs_say_what_they_cost(tooled: Command) -> None:
    done = tooled("tool", "stubs")
    ast.parse(done.out)
    assert "Also: tools.mail_search" in done.out
    tokens = int(re.search(r"About (\d+) tokens; level: full", done.err)[1])  # type: ignore[index]
    assert tooled("tool", "stubs", "--tokens").out == f"{tokens}\n"
    made = tooled("tool", "stubs", "--json").json
    assert made == {"text": done.out, "tokens": tokens, "level": "full"}
    small = tooled("tool", "stubs", "--budget", "200", "--json").json
    assert small["tokens"] <= 200
    assert small["level"] == "summary"
    assert "tools.registry.search" in small["text"]


@pytest.mark.parametrize(("args", "level"), [((), "summary"), (("--full",), "full"), (("--budget", "100000"), "full")])
def test_the_budget_is_configured(tooled: Command, args: tuple[str, ...], level: str) -> None:
    (tooled.home / "config.toml").write_text("[prompt]\ntool_tokens = 150\n")
    assert tooled("tool", "stubs", "--json", *args).json["level"] == level


def test_a_budget_that_is_none_is_refused(tooled: Command) -> None:
    assert tooled("tool", "stubs", "--budget", "-1").code == 2
    assert "exclude each other" in tooled("tool", "stubs", "--budget", "1", "--full").err
    (tooled.home / "config.toml").write_text("[prompt]\ntool_tokens = -1\n")
    assert "prompt.tool_tokens" in tooled("tool", "stubs").err


HOSTILE = r"""
from coilclaw.sdk import ToolContext, define_tool

def evil(ctx: ToolContext, x: str = "\x1b[2J") -> int:
    return 1

define_tool(id="evil.tool", risk="read", handler=evil, description="\x1b]0;pwned\x07\x9b2J \"\"\" \u202e text",
            hosts=["\x1b[2J"], examples=[{"x": "\x1b[2J"}])
tool = define_tool(id="evil.other", risk="read", handler=evil, description="\x1b]0;pwned\x07")
"""


@pytest.mark.parametrize("command", [["list"], ["list", "evil"], ["show", "evil.other"], ["stubs"]], ids=" ".join)
def test_nothing_a_tool_says_controls_the_terminal(coilclaw: Command, command: list[str]) -> None:
    coilclaw.tool("evil/x.py", HOSTILE)
    done = coilclaw("tool", *command)
    assert done.code == 0
    assert "evil" in done.out or "other" in done.out
    assert all(char.isprintable() or char in "\n\t" for char in done.out)


def test_the_group_names_its_commands_without_loading_them(coilclaw: Command) -> None:
    code = (
        "import sys; sys.argv = ['coilclaw', 'tool', '--help']\n"
        "from coilclaw.cli.main import cli\n"
        "cli.main(standalone_mode=False)\n"
        "heavy = {'pydantic', 'wasmtime', 'apsw', 'coilclaw.bridge'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=coilclaw.environment)
    assert done.returncode == 0, done.stderr
    for name in ("list", "show", "run", "stubs", "new", "check", "test", "trust", "reload"):
        assert re.search(rf"^  {name} +\S", done.stdout, re.MULTILINE), name


def test_a_misspelt_tool_command_gets_a_suggestion(coilclaw: Command) -> None:
    done = coilclaw("tool", "lst")
    assert done.code == 2
    assert "Did you mean 'list'?" in done.err


def test_commands_are_completed_even_if_some_are_not_installed(coilclaw: Command) -> None:
    environment = {"_COILCLAW_COMPLETE": "bash_complete", "COMP_WORDS": "coilclaw tool s", "COMP_CWORD": "2"}
    done = coilclaw(**environment)
    assert {"plain,show", "plain,stubs"} <= set(done.out.split())


def test_the_name_of_an_integration_is_answered_with_its_tools(tooled: Command) -> None:
    done = tooled("tool", "show", "files")
    assert done.code == 2
    assert "files is an integration; its tools: files." in done.err
    assert "did you mean" not in done.err
