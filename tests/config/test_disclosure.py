"""What `config show` and the errors of the configuration say, and never say."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.config.test_load import load

from coilclaw.config import Config, ConfigError
from coilclaw.config.disclosure import HIDDEN, disclosed, is_harmless
from coilclaw.config.section import Section

SECRET = "COILCLAW-PLANTED-Zx9"


def shown(home: Path, text: str, **environment: str) -> dict[str, Any]:
    rows = {key: value for key, value, _ in load(home, text, **environment).rows()}
    assert SECRET not in json.dumps(rows)
    return rows


@pytest.mark.req("R295")
def test_credentials_of_servers_are_hidden_wherever_they_stand(tmp_path: Path) -> None:
    rows = shown(
        tmp_path / "home",
        f"""
[integrations.mcp.local]
command = ["uvx", "server", "--token={SECRET}", "-H", "Authorization: Bearer {SECRET}", "{SECRET}"]
env = {{ PLAIN_NAME = "{SECRET}", "token.x" = "{SECRET}", url = "{SECRET}", seconds = "{SECRET}", command = "{SECRET}" }}
[integrations.mcp.odd]
command = ["env TOKEN={SECRET} server"]
[integrations.mcp.far]
url = "https://user:{SECRET}@example.org:8443/{SECRET}?key={SECRET}#{SECRET}"
[integrations.mcp."dotted.name"]
url = "https://example.org/{SECRET}"
[integrations.posthog]
url = "https://{SECRET}:x@eu.example.org/"
key = "{SECRET}"
[integrations."mcp.x"]
seconds = "{SECRET}"
command = "{SECRET}"
""",
    )
    assert rows["integrations.mcp.local.command"] == ["uvx", HIDDEN, HIDDEN, HIDDEN, HIDDEN, HIDDEN]
    assert rows["integrations.mcp.local.env.PLAIN_NAME"] == HIDDEN
    assert rows["integrations.mcp.odd.command"] == [HIDDEN]
    assert rows["integrations.mcp.far.url"] == f"https://example.org:8443/{HIDDEN}"
    assert rows["integrations.mcp.far.seconds"] == 30.0
    assert rows["integrations.posthog.url"] == f"https://eu.example.org/{HIDDEN}"
    assert rows["integrations.posthog.key"] == HIDDEN


@pytest.mark.req("R295")
def test_the_value_of_a_variable_is_hidden(tmp_path: Path) -> None:
    text = '[integrations.mcp.x]\ncommand = ["uvx", "${TOKEN}"]\nenv = { A = "$TOKEN" }'
    shown(tmp_path / "home", text, TOKEN=SECRET)


@pytest.mark.req("R295")
def test_arguments_of_rules_are_hidden_and_the_rest_of_a_rule_is_not(tmp_path: Path) -> None:
    rule = f'[[policy.rules]]\ntool = "mail.send"\ndecision = "ask"\narguments.token = {{ equals = "{SECRET}" }}'
    (row,) = shown(tmp_path / "home", rule)["policy.rules"]
    assert (row["tool"], row["decision"], row["arguments"]) == ("mail.send", "ask", {"token": {"equals": HIDDEN}})


@pytest.mark.req("R295")
def test_a_key_that_nobody_called_harmless_is_hidden() -> None:
    for key in ("gateway.extra", "security.extra", "providers.x.api_key", "new", "integrations.x.y.z"):
        assert disclosed(key, SECRET) == HIDDEN
        assert disclosed(key, [SECRET, {"a": SECRET}]) == [HIDDEN, {"a": HIDDEN}]
    assert disclosed("integrations.x.pin", 1234) == HIDDEN


def test_what_is_harmless_is_shown_as_it_is(tmp_path: Path) -> None:
    settings = load(tmp_path / "home")
    for key, value, _ in settings.rows():
        assert HIDDEN not in json.dumps(value), key
    assert {key: value for key, value, _ in settings.rows()}["limits.calls"] == 1000


def test_every_text_key_of_the_model_was_thought_about(tmp_path: Path) -> None:
    """A key with text in it is listed as harmless, or lies in a table that is hidden on purpose."""
    texts = [key for key, value in leaves(Config()) if not isinstance(value, bool | int | float)]
    unlisted = [
        key for key in texts if not is_harmless(key) and not key.startswith(("policy.", "integrations.", "providers."))
    ]
    assert unlisted == []


def leaves(model: Section, prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name in (each.name for each in fields(model)):
        value = getattr(model, name)
        found += leaves(value, f"{prefix}{name}.") if isinstance(value, Section) else [(f"{prefix}{name}", value)]
    return found


@pytest.mark.req("R295")
@pytest.mark.parametrize(
    "text",
    [
        f'workspace_dir = ["{SECRET}"]',
        f'security = "{SECRET}"',
        f'[security]\nautonomy = "{SECRET}"',
        f'[security]\nshell_allow = "{SECRET}"',
        f'[security]\nhttp_domains = ["https://x:{SECRET}@example.org/"]',
        f'[security]\nhttp_private = ["http://x:{SECRET}@127.0.0.1:1/"]',
        f'[security]\nforbidden_paths = "{SECRET}"',
        f'[limits]\nseconds = "{SECRET}"',
        f'[sandbox]\nengine = "{SECRET}"',
        f'[sandbox.restricted]\nrequire = ["{SECRET}"]',
        f'[integrations]\ngithub = "{SECRET}"',
        f'[integrations.github]\ntoken = ["{SECRET}"]',
        f'[integrations.mcp]\nx = "{SECRET}"',
        f'[integrations.mcp.x]\ncommand = "{SECRET}"',
        f'[integrations.mcp.x]\ncommand = ["a"]\nurl = "{SECRET}"',
        f'[integrations.mcp.x]\ncommand = ["a"]\nenv = "{SECRET}"',
        f'[integrations.mcp.x]\ncommand = ["a"]\nenv = {{ A = ["{SECRET}"] }}',
        f'[integrations.mcp.x]\ncommand = ["a"]\nheaders = {{ Authorization = "{SECRET}" }}',
        f'[integrations.mcp.x]\ncommand = ["a"]\nseconds = "{SECRET}"',
        f'[integrations.mcp.x]\ncommand = ["a"]\nenv = {{ A = "{SECRET}$Zq1pass" }}',
        f'[secrets]\nkeyring = "{SECRET}"',
        f'token = "{SECRET}"',
        f'[providers.x]\napi_key = "{SECRET}"',
        f'[integrations.x]\nkey = "{SECRET}',
        f'[[policy.rules]]\ntool = ["{SECRET}"]\ndecision = "{SECRET}"',
    ],
)
def test_no_error_repeats_a_value(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", text)
    assert SECRET not in str(caught.value)
    assert "Zq1pass" not in str(caught.value)


def test_a_value_of_the_wrong_kind_is_named_by_its_kind(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", '[limits]\nseconds = "5"\ncalls = true\n[security]\nshell_allow = "ls"')
    assert sorted(caught.value.problems) == [
        "limits.calls: must be a valid integer, not true or false",
        "limits.seconds: must be a valid number, not text",
        "security.shell_allow: must be a valid array, not text",
    ]


@pytest.mark.req("R295")
def test_the_repr_of_a_configuration_has_no_credentials(tmp_path: Path) -> None:
    text = f'[integrations.mcp.x]\ncommand = ["a", "{SECRET}"]\nenv = {{ A = "{SECRET}" }}'
    assert SECRET not in repr(load(tmp_path / "home", text))
    assert SECRET not in repr(load(tmp_path / "home", f'[integrations.mcp.x]\nurl = "https://{SECRET}.example"'))
    assert SECRET not in repr(load(tmp_path / "home", f'[integrations.github]\nkey = "{SECRET}"'))
