"""Rules in the configuration: what they may say, and that they do what their examples say."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from coilclaw.config import Config, ConfigError, config_text, load_settings
from coilclaw.sdk import Decision, Risk


def load(home: Path, rules: str) -> Config:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(rules)
    return load_settings({"COILCLAW_HOME": str(home), "HOME": str(home)}).config


def problems(home: Path, rules: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(home, rules)
    return caught.value.problems


def test_a_rule_says_everything_a_policy_can_use(tmp_path: Path) -> None:
    text = """
[[policy.rules]]
tool = "mail.*"
decision = "deny"
risk = "write"
reason = "not outside"
channel = ["cli", "slack"]
arguments.subject = "x"
arguments.folder = ["in", "out"]
arguments."to.*" = { not_matches = "*@example.org", ignore_case = true }
match = [
  { tool = "mail.send", arguments = { subject = "x", folder = "in", to = ["a@b.org"] } },
  { tool = "mail.send", arguments = { subject = "x", folder = "in", to = ["a@b.org"] }, risk = "write", channel = "cli" },
]
not_match = [
  { tool = "mail.send", arguments = { subject = "x", folder = "in", to = ["a@EXAMPLE.org"] } },
  { tool = "mail.send", arguments = { subject = "x", folder = "in", to = ["a@b.org"] }, channel = "telegram" },
  { tool = "mail.send", arguments = { subject = "x", folder = "in", to = ["a@b.org"] }, risk = "read" },
  { tool = "files.write" },
]

[[policy.rules]]
tool = "*"
decision = "ask"
channel = "slack"
"""
    first, second = (each.rule() for each in load(tmp_path, text).policy.rules)
    assert (first.tool, first.decision, first.risk, first.reason) == (
        "mail.*",
        Decision.DENY,
        Risk.WRITE,
        "not outside",
    )
    assert first.channels == ("cli", "slack")
    assert {each.path: dict(each.demands) for each in first.constraints} == {
        "subject": {"equals": "x"},
        "folder": {"one_of": ["in", "out"]},
        "to.*": {"not_matches": "*@example.org", "ignore_case": True},
    }
    assert (second.channels, second.constraints) == (("slack",), ())


@pytest.mark.req("R291", "R482")
def test_examples_that_do_not_behave_are_all_told_with_their_rule(tmp_path: Path) -> None:
    text = """
[[policy.rules]]
tool = "files.read"
decision = "ask"
match = [{ tool = "files.read" }]

[[policy.rules]]
tool = "files.write"
decision = "deny"
arguments.path = { starts_with = "private/" }
match = [{ tool = "files.write", arguments = { path = "private/x" } }, { tool = "files.write", arguments = { path = "public/x" } }]
not_match = [{ tool = "files.write", arguments = { path = "private/y" } }]

[[policy.rules]]
tool = "http.*"
decision = "ask"
match = [{ tool = "https.get" }]
"""
    told = problems(tmp_path, text)
    assert len(told) == 3
    for problem, place, words in zip(
        told,
        ("policy.rules.1.match.1", "policy.rules.1.not_match.0", "policy.rules.2.match.0"),
        (
            'rule \'files.write\' should apply to the example files.write {"path": "public/x"}, '
            'but path is "public/x"; demanded: starts_with "private/"',
            'rule \'files.write\' should not apply to the example files.write {"path": "private/y"}, but it does',
            "rule 'http.*' should apply to the example https.get {}, but 'https.get' does not fit the pattern 'http.*'",
        ),
        strict=True,
    ):
        assert problem.startswith(place)
        assert words in problem


@pytest.mark.parametrize(
    ("rule", "place", "words"),
    [
        ("arguments.path = { starts_wiht = 'x' }", "arguments.path.starts_wiht", "did you mean 'starts_with'?"),
        ("arguments.to.address = 'x'", "arguments.to.address", '"to.address"'),
        ("arguments.n = { above = 5, below = 2 }", "arguments.n", "can never hold"),
        ("arguments.n = { above = nan }", "arguments.n.above", "must be a number"),
        ("arguments.n = { above = '5' }", "arguments.n.above", "must be a number"),
        ("arguments.n = []", "arguments.n.one_of", "at least one value"),
        ("arguments.n = {}", "arguments.n", "must demand something"),
        ('arguments."a..b" = 1', "arguments.a..b", "must be a path"),
        ("arguments = 'x'", "arguments", ""),
        ("channel = []", "channel", "must name a channel"),
        ("channel = ''", "channel", "must name a channel"),
        ("channel = 5", "channel", ""),
        ("match = [{ arguments = {} }]", "match.0.tool", "required"),
        ("match = [{ tool = 'x.y', argument = {} }]", "match.0.argument", "did you mean 'arguments'?"),
        ("argument.n = 1", "argument", "did you mean 'arguments'?"),
        ("no_match = []", "no_match", "did you mean 'not_match'?"),
    ],
)
def test_a_rule_that_cannot_apply_is_an_error(tmp_path: Path, rule: str, place: str, words: str) -> None:
    told = problems(tmp_path, f'[[policy.rules]]\ntool = "files.*"\ndecision = "deny"\n{rule}')
    assert told[0].startswith(f"policy.rules.0.{place}")
    assert words in told[0]


def test_a_pattern_that_no_tool_can_fit_is_an_error(tmp_path: Path) -> None:
    for pattern in ("files write", "files/*", "tools.files.read()"):
        told = problems(tmp_path, f'[[policy.rules]]\ntool = "{pattern}"\ndecision = "deny"')
        assert "must be a pattern that a tool's id can fit" in told[0]


@pytest.mark.req("R291")
def test_problems_of_rules_come_with_all_others(tmp_path: Path) -> None:
    text = """
[limits]
seconds = -1
[[policy.rules]]
tool = "a.*"
decision = "perhaps"
[[policy.rules]]
tool = "b.*"
decision = "deny"
arguments.x = { above = "a", belwo = 3 }
arguments.y = { equals = 1, above = 2 }
[[policy.rules]]
tool = "c.*"
decision = "deny"
match = [{ tool = "d.e" }]
"""
    told = problems(tmp_path, text)
    places = [each.split(":", 1)[0].split(" (")[0] for each in told]
    assert places == [
        "limits.seconds",
        "policy.rules.0.decision",
        "policy.rules.1.arguments.x.belwo",
        "policy.rules.1.arguments.x.above",
        "policy.rules.1.arguments.y",
        "policy.rules.2.match.0",
    ]


def test_the_rules_shown_in_the_template_are_valid(tmp_path: Path) -> None:
    lines = config_text(tmp_path).splitlines()
    begin = lines.index("# [[policy.rules]]")
    end = lines.index("", begin)
    shown = [line.removeprefix("# ") for line in lines[begin:end]]
    text = "\n".join(line for line in shown if line.startswith("[[") or (" = " in line and line[0].islower()))
    assert len(tomllib.loads(text)["policy"]["rules"]) == 2
    rules = load(tmp_path / "home", text).policy.rules
    assert rules[1].match
    assert rules[1].not_match
