"""`coilclaw onboard`: from nothing to a first answer, with a person and without one."""

from __future__ import annotations

import stat
import tomllib

import pytest
from tests.cli.conftest import Command
from tests.cli.terminal import on_terminal

KEY = "sk-ant-COILCLAW-PLANTED-a1b2c3"


@pytest.mark.req("R417", "R418")
def test_without_questions_everything_is_set_up_and_the_first_answer_shown(coilclaw: Command) -> None:
    coilclaw.home.rmdir()
    done = coilclaw("onboard", "--yes")
    assert done.code == 0, done.err
    assert "No model is configured" in done.out
    assert coilclaw.workspace.is_dir()
    assert coilclaw("config", "validate").code == 0
    before = (coilclaw.home / "config.toml").read_text()
    assert coilclaw("onboard", "--non-interactive", "--no-first-run").code == 0
    assert (coilclaw.home / "config.toml").read_text() == before


def test_a_service_and_its_key_are_kept_apart(coilclaw: Command) -> None:
    done = coilclaw("onboard", "--provider", "anthropic", "--key-stdin", "--no-first-run", stdin=f"{KEY}\n")
    assert done.code == 0, done.err
    config = coilclaw.home / "config.toml"
    assert 'default_provider = "claude"' in config.read_text()
    profiles = coilclaw.home / "auth-profiles.json"
    assert KEY in profiles.read_text()
    assert stat.S_IMODE(profiles.stat().st_mode) == 0o600
    assert KEY not in config.read_text() + done.out + done.err
    (profile,) = coilclaw("auth", "list", "--json").json
    assert (profile["id"], profile["problem"]) == ("anthropic:default", None)


def test_a_service_that_does_not_answer_leaves_everything_else_set_up(coilclaw: Command) -> None:
    server = ("--base-url", "http://127.0.0.1:9/v1", "--model", "$tiny")
    done = coilclaw("onboard", "--yes", "--provider", "openai-compatible", *server, NO_PROXY="127.0.0.1")
    assert (done.code, "did not answer" in done.err) == (1, True)
    assert "coilclaw provider test" in done.err
    assert "Next:" not in done.out
    assert 'default_provider = "openai_compatible"' in (coilclaw.home / "config.toml").read_text()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "nobody is there to answer"),
        (("--yes", "--key-env", KEY), "name of an environment variable"),
        (("--yes", "--base-url", "http://x"), "--base-url"),
        (("--yes", "--provider", "openai-compatible", "--base-url", "my server"), "address of a server"),
        (("--yes", "--provider", "openai-compatible", "--base-url", "localhost:1234"), "address of a server"),
        (("--yes", "--provider", "openai-compatible", "--base-url", "http://"), "address of a server"),
        (("--yes", "--provider", "openai-compatible", "--base-url", "http://x:port/"), "address of a server"),
        (("--yes", "--key-env", "A", "--key-stdin"), "exclude each other"),
        (("--yes", "--provider", "other"), "mock"),
    ],
)
def test_a_mistake_is_told_before_anything_is_configured(coilclaw: Command, args: tuple[str, ...], said: str) -> None:
    done = coilclaw("onboard", *args)
    assert done.code == 2
    assert said in done.err
    assert KEY not in done.err


def test_a_person_is_asked_step_by_step_and_the_key_is_not_shown(coilclaw: Command) -> None:
    place = coilclaw.folder / "elsewhere"
    run = on_terminal(
        coilclaw,
        "onboard",
        "--no-first-run",
        answers=[
            (b"Workspace", f"{place}\r".encode()),
            (b"Which model service?", b"openai-compatible\r"),
            (b"Address", b"http://127.0.0.1:9/v1\r"),
            (b"Model", b"tiny\r"),
            (b"Key", f"{KEY}\r".encode()),
        ],
    )
    assert run.code == 0
    assert KEY not in run.screen
    assert (place / "tools").is_dir()
    text = (coilclaw.home / "config.toml").read_text()
    assert 'base_url = "http://127.0.0.1:9/v1"\nmodel = "tiny"\n' in text
    assert coilclaw("auth", "list", "--json").json[0]["id"] == "openai_compatible:default"


def test_a_configuration_of_a_person_keeps_what_they_wrote(coilclaw: Command) -> None:
    config = coilclaw.home / "config.toml"
    config.write_text('# mine\n[security]\nautonomy = "readonly" # so\n[providers.models.claude]\nkind = "anthropic"\n')
    done = coilclaw("onboard", "--yes", "--provider", "anthropic", "--model", "x", "--no-first-run")
    assert done.code == 0, done.err
    assert config.read_text().splitlines()[:4] == [
        'default_provider = "claude"',
        "# mine",
        "[security]",
        'autonomy = "readonly" # so',
    ]
    assert config.read_text().count("[providers.models.claude]") == 1


def test_in_a_home_that_exists_what_is_said_is_changed_and_the_rest_stays(coilclaw: Command) -> None:
    assert coilclaw("onboard", "--yes", "--no-first-run", "--provider", "anthropic", "--model", "one").code == 0
    config = coilclaw.home / "config.toml"
    config.write_text(config.read_text().replace("[agent]", "[agent]\nmax_tokens = 99  # mine"))
    other = coilclaw.folder / "other"
    given = ("--model", "two", "--key-env", "MY_KEY", "--workspace", other)
    done = coilclaw("onboard", "--yes", "--no-first-run", *given)
    assert done.code == 0, done.err
    assert "nothing was changed" not in done.out
    changed = "workspace_dir, providers.models.claude.model, providers.models.claude.api_key_env"
    assert f"Changed in {config}:\n  {changed}\n" in done.out
    told = tomllib.loads(config.read_text())
    assert told["workspace_dir"] == str(other)
    assert told["default_provider"] == "claude"
    assert told["providers"]["models"]["claude"] == {"kind": "anthropic", "model": "two", "api_key_env": "MY_KEY"}
    assert told["agent"] == {"max_tokens": 99}
    assert "max_tokens = 99  # mine" in config.read_text()
    assert (other / "tools").is_dir()
    before = config.read_text()
    done = coilclaw("onboard", "--yes", "--no-first-run", *given)
    assert "says all of this already" in done.out
    assert config.read_text() == before


def test_without_a_provider_the_one_that_is_used_stays(coilclaw: Command) -> None:
    assert coilclaw("onboard", "--yes", "--no-first-run", "--provider", "anthropic").code == 0
    done = coilclaw("onboard", "--yes", "--no-first-run")
    assert (done.code, "Model service: claude (anthropic)" in done.out) == (0, True)
    assert 'default_provider = "claude"' in (coilclaw.home / "config.toml").read_text()


def test_a_person_is_asked_again_for_an_address_that_is_none(coilclaw: Command) -> None:
    answers = [
        (b"Workspace", b"\r"),
        (b"Which model service?", b"openai-compatible\r"),
        (b"Address of the server", b"my machine\r"),
        (b"Please type the address of a server", b""),
        (b"Address of the server", b"http://127.0.0.1:9/v1\r"),
        (b"Model", b"tiny\r"),
        (b"Key", b"\r"),
    ]
    run = on_terminal(coilclaw, "onboard", "--no-first-run", answers=answers)
    assert run.code == 0
    assert 'base_url = "http://127.0.0.1:9/v1"' in (coilclaw.home / "config.toml").read_text()
