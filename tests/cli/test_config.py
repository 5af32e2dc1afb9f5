"""`coilclaw config` and `coilclaw init`: what they refuse, and what they never print."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Command

SECRET = "COILCLAW-PLANTED-Zx9"

WITH_CREDENTIALS = f"""
[integrations.mcp.near]
command = ["no-such-program-of-anybody", "--token={SECRET}", "-H", "Authorization: Bearer {SECRET}"]
env = {{ PLAIN_NAME = "{SECRET}" }}
[integrations.mcp.far]
url = "http://user:{SECRET}@127.0.0.1:1/{SECRET}?key={SECRET}"
[integrations.github]
url = "https://user:{SECRET}@github.example"
key = "{SECRET}"
"""


@pytest.mark.req("R295")
@pytest.mark.parametrize(
    "line", ["config show", "config show --json", "config validate", "doctor", "doctor --json", "mcp list", "tool list"]
)
def test_no_command_prints_a_credential_of_the_configuration(coilclaw: Command, line: str) -> None:
    coilclaw("init")
    (coilclaw.home / "config.toml").write_text(WITH_CREDENTIALS)
    done = coilclaw(*line.split())
    assert done.out
    assert SECRET not in done.out + done.err


@pytest.mark.req("R287")
def test_another_file_for_conversations_is_accepted_and_said_to_have_no_effect(coilclaw: Command) -> None:
    coilclaw("init")
    assert "memory.path" not in coilclaw("config", "validate").err
    (coilclaw.home / "config.toml").write_text('[memory]\nbackend = "sqlite"\npath = "~/.coilclaw/memory.sqlite"\n')
    done = coilclaw("config", "validate")
    assert done.code == 0
    assert f"memory.path: has no effect, because conversations are kept in {coilclaw.home}/coilclaw.db" in done.err
    assert coilclaw("memory", "list").code == 0
    assert not (coilclaw.home / "memory.sqlite").exists()


@pytest.mark.req("R295")
def test_no_run_shows_or_records_a_credential_of_the_configuration(coilclaw: Command) -> None:
    coilclaw("init")
    (coilclaw.home / "config.toml").write_text(WITH_CREDENTIALS)
    done = coilclaw("run", "-", "--json", "--yes", stdin='tools.github.issues.list(repo="a/b")')
    assert SECRET not in done.out + done.err
    assert SECRET not in coilclaw("receipt", "export").out


@pytest.mark.req("R295")
@pytest.mark.parametrize(
    "text",
    [
        f'[limits]\nseconds = "{SECRET}"',
        f'[integrations.mcp.x]\ncommand = "run --token={SECRET}"',
        f'[integrations.mcp.x]\ncommand = ["a"]\nheaders = {{ Authorization = "{SECRET}" }}',
        f'api_key = "{SECRET}"',
    ],
)
def test_validation_does_not_repeat_a_value(coilclaw: Command, text: str) -> None:
    (coilclaw.home / "config.toml").write_text(text)
    for line in (("config", "validate"), ("config", "show"), ("doctor",), ("run", "-"), ("init",)):
        done = coilclaw(*line)
        assert done.code != 0
        assert SECRET not in done.out + done.err


@pytest.mark.req("R292")
def test_a_missing_workspace_is_not_valid(coilclaw: Command) -> None:
    done = coilclaw("config", "validate")
    assert done.code == 2
    assert f"workspace_dir: {coilclaw.workspace} does not exist; `coilclaw init` makes it" in done.err
    assert coilclaw("init").code == 0
    assert coilclaw("config", "validate").code == 0


@pytest.mark.req("R296")
def test_everything_that_is_wrong_is_reported_in_one_pass(coilclaw: Command) -> None:
    (coilclaw.home / "config.toml").write_text(
        '[security]\nforbidden_paths = ["secret", "*.key", "${NOT_SET}/x"]\nhttp_private = ["10.0.0.0/0"]\n'
        '[limits]\ncalls = 0\n[integrations.mcp.x]\ncommand = ["a", "${ALSO_NOT_SET}"]'
    )
    done = coilclaw("config", "validate")
    assert done.code == 2
    for expected in ("workspace_dir", "forbidden_paths.0", "forbidden_paths.1", "NOT_SET", "ALSO_NOT_SET",
                     "http_private.0", "limits.calls"):  # fmt: skip
        assert expected in done.err


@pytest.mark.parametrize(
    ("workspace", "reason"),
    [("home", "contains CoilClaw's home folder"), ("home/.coilclaw/work", "lies inside CoilClaw's home")],
)
def test_init_refuses_a_workspace_around_or_inside_the_home(coilclaw: Command, workspace: str, reason: str) -> None:
    place = coilclaw.folder / workspace
    for done in (coilclaw("init", "--workspace", place), coilclaw("init", COILCLAW_WORKSPACE=str(place))):
        assert done.code == 2
        assert reason in done.err
    assert not (coilclaw.home / "config.toml").exists()
    assert not (place / "tools").exists()


def test_init_writes_a_workspace_that_means_the_same_everywhere(coilclaw: Command, tmp_path: Path) -> None:
    assert coilclaw("init", COILCLAW_WORKSPACE="mine").code == 0
    assert (tmp_path / "mine/tools").is_dir()
    (tmp_path / "elsewhere").mkdir()
    coilclaw.folder = tmp_path / "elsewhere"
    assert coilclaw("config", "show", "--json").json["workspace_dir"]["value"] == str(tmp_path / "mine")


def test_what_init_says_to_try_works(coilclaw: Command, tmp_path: Path) -> None:
    coilclaw("init")
    out = coilclaw("init", "--workspace", tmp_path / "other").out
    (line,) = [each for each in out.splitlines() if each.startswith("Try it:")]
    (tmp_path / "other/tools/hello/greetings.py").write_text(
        (tmp_path / "other/tools/hello/greetings.py").read_text().replace("Hello, ", "Welcome, ")
    )
    done = coilclaw(*line.split()[3:])
    assert (done.code, done.out.splitlines()[0]) == (0, "Welcome, world!")


def test_what_has_no_effect_is_a_warning_and_still_valid(coilclaw: Command) -> None:
    coilclaw("init")
    (coilclaw.home / "config.toml").write_text(
        '[security]\nshell_allow = ["ls", "bash"]\n'
        '[[policy.rules]]\ntool = "files.wrte"\ndecision = "deny"\n'
        '[[policy.rules]]\ntool = "files.*"\ndecision = "ask"\n'
        '[[policy.rules]]\ntool = "elsewhere.thing"\ndecision = "deny"\n'
    )
    done = coilclaw("config", "validate")
    assert done.code == 0
    assert done.out.startswith("Valid: ")
    assert "Warning: policy.rules.0.tool: files.wrte matches no tool; did you mean files.write?" in done.err
    assert "security.shell_allow.1: has no effect, because `bash` is a shell" in done.err
    assert "rules.1" not in done.err
    assert "rules.2" not in done.err  # It may be meant for a tool of some workspace.
    found = coilclaw("doctor").out
    assert "files.wrte matches no tool; did you mean files.write?" in found
    assert "elsewhere.thing matches no tool" in found
