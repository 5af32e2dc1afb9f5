"""Environment variables in the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.config.test_load import load

from coilclaw.config import ConfigError


@pytest.mark.req("R290")
def test_variables_are_expanded_in_every_text(tmp_path: Path) -> None:
    text = """
[security]
http_domains = ["$DOMAIN"]
http_private = ["127.0.0.1:${PORT}"]
[integrations.mcp.near]
command = ["${PROGRAM}", "--key=${KEY}", "$KEY-x"]
env = { TOKEN = "${KEY}", PLAIN = "a b" }
[integrations.mcp.far]
url = "https://$DOMAIN/${KEY}"
[integrations.posthog]
url = "https://${DOMAIN}"
"""
    config = load(tmp_path / "home", text, DOMAIN="example.org", PORT="8080", PROGRAM="uvx", KEY="k").config
    assert config.security.http_domains == ("example.org",)
    assert config.security.http_private == ("127.0.0.1:8080",)
    assert config.integrations.mcp["near"].command == ("uvx", "--key=k", "k-x")
    assert config.integrations.mcp["near"].env == {"TOKEN": "k", "PLAIN": "a b"}
    assert config.integrations.mcp["far"].url == "https://example.org/k"
    assert config.integrations.settings_of("posthog") == {"url": "https://example.org"}


def test_two_dollar_signs_are_one_and_a_value_is_not_expanded_again(tmp_path: Path) -> None:
    text = '[integrations.x]\na = "$$HOME $5 $"\nb = "${NAME}"'
    extra = load(tmp_path / "home", text, NAME="${HOME} $$").config.integrations.others
    assert extra["x"] == {"a": "$HOME $5 $", "b": "${HOME} $$"}


def test_rules_are_about_the_text_of_calls_and_stay_as_written(tmp_path: Path) -> None:
    text = '[[policy.rules]]\ntool = "shell.run"\ndecision = "deny"\narguments.command = { matches = "*$HOME*" }'
    (rule,) = load(tmp_path / "home", text).config.policy.rules
    assert rule.arguments == {"command": {"matches": "*$HOME*"}}


@pytest.mark.req("R290", "R296")
def test_variables_that_are_not_set_are_reported_with_everything_else(tmp_path: Path) -> None:
    text = """
workspace_dir = "${NO_PLACE}/x"
[security]
autonomy = "godmode"
forbidden_paths = ["$NO_PATH/x", "relative"]
[limits]
calls = 0
[integrations.mcp.x]
command = ["a", "${NO_KEY}"]
"""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", text)
    problems = caught.value.problems
    for expected in (
        "workspace_dir: the environment variable NO_PLACE is not set",
        "security.forbidden_paths.0: the environment variable NO_PATH is not set",
        "integrations.mcp.x.command.1: the environment variable NO_KEY is not set",
    ):
        assert expected in problems
    for key in ("security.autonomy", "security.forbidden_paths.1", "limits.calls"):
        assert any(problem.startswith(f"{key}: ") for problem in problems)
