"""`coilclaw provider`: what is configured, what each is used with, and whether it answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.test_auth import KEY, Discreet
from tests.planted import leaks

CONFIGURED = """
default_provider = "claude"
[providers.models.claude]
kind = "anthropic"
model = "claude-x"
[providers.models.lm]
kind = "openai-compatible"
base_url = "http://127.0.0.1:1/v1"
model = "small"
[providers.models.paid]
kind = "openai-compatible"
base_url = "http://127.0.0.1:1/v1"
model = "large"
api_key_env = "PAID_KEY"
[providers.models.safe]
kind = "reliable"
providers = ["claude", "lm"]
"""


@pytest.fixture
def coilclaw(tmp_path: Path) -> Iterator[Discreet]:
    command = Discreet(tmp_path)
    yield command
    assert leaks(tmp_path) == []


@pytest.mark.req("R244", "R419")
def test_a_fresh_home_has_the_mock(coilclaw: Discreet) -> None:
    done = coilclaw("provider", "list")
    assert (done.code, done.out) == (0, "* local  mock  mock  needs no credential\n")


@pytest.mark.req("R244", "R419")
def test_providers_are_listed_with_the_credential_they_would_use(coilclaw: Discreet) -> None:
    (coilclaw.home / "config.toml").write_text(CONFIGURED)
    rows = {row["name"]: row for row in coilclaw("provider", "list", "--json").json}
    assert {name: row["credential"] for name, row in rows.items()} == {
        "local": "not needed", "claude": "missing", "lm": "not needed", "paid": "missing", "safe": "not needed"
    }  # fmt: skip
    assert [name for name, row in rows.items() if row["default"]] == ["claude"]
    assert (rows["claude"]["kind"], rows["claude"]["model"]) == ("anthropic", "claude-x")
    assert "coilclaw auth anthropic setup-token" in rows["claude"]["hint"]
    coilclaw("auth", "add", "paid", stdin=KEY)
    rows = {row["name"]: row for row in coilclaw("provider", "list", "--json", ANTHROPIC_API_KEY=KEY).json}
    assert rows["claude"]["profile"] == "env:ANTHROPIC_API_KEY"
    assert rows["paid"]["profile"] == "paid:default"
    text = coilclaw("provider", "list", ANTHROPIC_API_KEY=KEY).out
    assert "* claude  anthropic          claude-x  uses env:ANTHROPIC_API_KEY\n" in text


@pytest.mark.req("R245", "R419")
def test_the_mock_answers(coilclaw: Discreet) -> None:
    done = coilclaw("provider", "test", "local")
    assert (done.code, "local answers as mock: " in done.out) == (0, True)
    facts = coilclaw("provider", "test", "--json").json
    assert (facts["provider"], facts["ok"], facts["model"]) == ("local", True, "mock")


@pytest.mark.req("R245")
@pytest.mark.parametrize("kind", ["timeout", "network", "rate_limit", "billing", "server"])
def test_a_provider_that_fails_says_how(coilclaw: Discreet, kind: str) -> None:
    fixture = coilclaw.folder / "fixture.json"
    fixture.write_text(json.dumps({"replies": [{"error": kind}]}))
    (coilclaw.home / "config.toml").write_text(f'[providers.models.scripted]\nkind = "mock"\nfixture = "{fixture}"\n')
    done = coilclaw("provider", "test", "scripted")
    assert (done.code, f"scripted failed ({kind})" in done.err) == (1, True), done.err
    done = coilclaw("provider", "test", "scripted", "--json")
    assert (done.code, done.json["ok"], done.json["kind"]) == (1, False, kind)


def test_a_provider_that_is_not_configured_is_refused(coilclaw: Discreet) -> None:
    done = coilclaw("provider", "test", "nobody")
    assert done.code == 2
    assert "nobody is not configured" in done.err
