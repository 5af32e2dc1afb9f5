"""`coilclaw policy explain`: what has a say about a call, and what decides."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Command
from tests.cli.terminal import on_terminal

from coilclaw.sdk.legible import cells

RULES = """
[security]
autonomy = "full"

[[policy.rules]]
tool = "files.write"
decision = "ask"
reason = "drafts are looked at"
arguments.path = { starts_with = "drafts/" }

[[policy.rules]]
tool = "files.*"
decision = "deny"
channel = "slack"

[[policy.rules]]
tool = "demo.*"
decision = "allow"
"""

TOOLS = '''
from coilclaw.sdk import ToolContext, define_tool

def judge(input, ctx):
    print("thinking")
    return "destructive" if input.force and not ctx.secrets else None

@define_tool(id="demo.reset", risk="write", secrets=["DEMO_KEY"], classify=judge)
def reset(ctx: ToolContext, force: bool = True) -> None:
    """Start again."""
    raise AssertionError("nobody called this")
'''


@pytest.fixture
def ruled(coilclaw: Command) -> Command:
    (coilclaw.home / "config.toml").write_text(RULES)
    coilclaw.tool("demo/x.py", TOOLS)
    return coilclaw


def write(path: str) -> str:
    return json.dumps({"path": path, "text": "x"})


def test_a_table_says_who_has_a_say_and_the_last_line_what_follows(ruled: Command) -> None:
    done = ruled("policy", "explain", "files.write", "--json", write("drafts/a"))
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[1].split() == ["source", "opinion", "applied", "why"]
    rows = {" ".join(line[2:].split()[:2]) if "rule" in line[:6] else line[2:].split()[0]: line for line in lines[2:-1]}
    assert list(rows) == ["autonomy", "contract", "classification", "rule 1", "rule 2", "rule 3"]
    assert rows["rule 1"].startswith("* ")
    assert rows["rule 1"].split()[3:5] == ["ask", "yes"]
    assert "channel 'slack', not 'cli'" in rows["rule 2"]
    assert lines[-1] == "Decision: ask, because of rule 1"


def test_facts_for_programs(ruled: Command) -> None:
    facts = ruled("policy", "explain", "files.write", "--json", write("notes/a"), "--format", "json").json
    assert (facts["tool"], facts["risk"], facts["decision"]) == ("files.write", "write", "allow")
    by_source = {each["source"]: each for each in facts["opinions"]}
    assert by_source["rule 1"]["applied"] == "no"
    assert by_source["rule 1"]["why"] == '\'files.write\': path is "notes/a"; demanded: starts_with "drafts/"'
    assert [each["source"] for each in facts["opinions"] if each["decides"]] == ["autonomy"]


def test_without_arguments_it_is_about_the_tool(ruled: Command) -> None:
    done = ruled("policy", "explain", "tools.files.write")
    assert done.out.splitlines()[-1] == "Decision: allow (asks for some arguments), because of autonomy"
    assert ruled("policy", "explain", "files.write", "--format", "json").json["conditional"] == [1]


def test_a_channel_is_asked_about(ruled: Command) -> None:
    facts = ruled("policy", "explain", "files.read", "--channel", "slack", "--format", "json").json
    assert (facts["channel"], facts["decision"]) == ("slack", "deny")


@pytest.mark.req("R352")
def test_the_classification_is_really_run(ruled: Command) -> None:
    done = ruled("policy", "explain", "files.write", "--json", write("../outside"))
    assert done.out.splitlines()[-1] == "Decision: deny, because of classification"
    reset = ruled("policy", "explain", "demo.reset", "--json", "{}", "--format", "json", DEMO_KEY="s3cret")
    assert "thinking" in reset.err
    assert reset.json["risk"] == "destructive"
    assert "from 'write' to 'destructive'" in reset.json["opinions"][2]["why"]


def test_an_allow_is_said_to_loosen_nothing(ruled: Command) -> None:
    assert "loosens nothing" in ruled("policy", "explain", "demo.reset").out


def test_arguments_come_from_a_file_or_stdin(ruled: Command) -> None:
    (ruled.folder / "a.json").write_text(write("drafts/a"))
    for given in (ruled("policy", "explain", "files.write", "--json", "@a.json"),
                  ruled("policy", "explain", "files.write", "--json", "-", stdin=write("drafts/a"))):  # fmt: skip
        assert given.out.splitlines()[-1].startswith("Decision: ask")


def test_arguments_are_given_like_those_of_a_call(ruled: Command) -> None:
    asked = ruled("policy", "explain", "files.write", "path=drafts/a", "text=5")
    assert asked.out.splitlines()[-1].startswith("Decision: ask")
    reset = ruled("policy", "explain", "demo.reset", "force=false", "--format", "json")
    assert reset.json["risk"] == "write"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["files.write", "path"], "is not KEY=VALUE"),
        (["files.write", "path=a", "--json", '{"path": "b"}'], "is given twice"),
        (["files.wrte"], "did you mean tools.files.write"),
        (["files.write", "--json", "{"], "not JSON"),
        (["files.write", "--json", "[]"], "JSON object"),
        (["files.write", "--json", "@missing.json"], "missing.json"),
        (["files.write", "--json", '{"path": 5, "text": "x"}'], "path: Input should be a valid string"),
        (["files.write", "--json", '{"text": "x"}'], "path: Field required"),
        (["files.write", "--json", '{"path": "x", "text": "", "more": 1}'], "more: "),
    ],
)
def test_a_mistake_is_told_in_words(ruled: Command, line: list[str], words: str) -> None:
    done = ruled("policy", "explain", *line)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_nothing_is_recorded_or_created(ruled: Command) -> None:
    before = sorted(ruled.home.iterdir())
    assert ruled("policy", "explain", "demo.reset", "--json", "{}").code == 0
    assert sorted(ruled.home.iterdir()) == before
    assert not (ruled.workspace / "drafts").exists()


def test_an_argument_cannot_control_the_terminal_or_forge_a_row(ruled: Command) -> None:
    done = ruled("policy", "explain", "files.write", "--json", write("\x1b[2J\n* rule 9  allow  yes  forged"))
    assert "\x1b" not in done.out
    assert not any(line.startswith("* rule 9") for line in done.out.splitlines())


def test_a_reason_is_told_once_and_fits_a_narrow_terminal(coilclaw: Command) -> None:
    coilclaw("init")
    line = ("policy", "explain", "shell.run", "--json", '{"command": "bash -c ls"}')
    assert coilclaw(*line).out.count("is a shell, and what it runs would not be checked") == 1
    session = on_terminal(coilclaw, *line, answers=[])
    assert all(cells(row) <= 80 for row in session.rows)
    assert "… " in session.screen
    assert session.screen.count("Decision: deny, because of classification") == 1
