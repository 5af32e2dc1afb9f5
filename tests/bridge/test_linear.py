"""Whatever looks at a call before it is decided takes time in proportion to its size."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic_core import from_json
from tests.sampling import sample

from coilclaw.bridge import build_registry
from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.arguments import bind, validate
from coilclaw.bridge.redaction import Redaction
from coilclaw.net import GuardedNetwork
from coilclaw.policy import Rule, classify
from coilclaw.sdk import Decision, Tool, ToolContext
from coilclaw.workspace_tools import load_installed

SMALL: Final = 64 * 1024
LARGE: Final = 1024 * 1024 - 4096
GROWTH: Final = LARGE / SMALL
UNITS: Final = (
    "a", "a|", "$[", "{a,b}", "(", "[", "\\", '"', "../", "/", "./a/", "%2e", "*", "*a", "[!a]*", "-", "=", ";", "\n",
    " ", "\0", "http://a@", "a.", ":", "1", "T00:", "FREQ=DAILY;", "~^@{", "\u0301", "\u212b", "\U0001f468\u200d",
)  # fmt: skip

TOOLS: Final = {tool.id: tool for tool in load_installed().tools}
REGISTRY: Final = build_registry([(TOOLS.values(), ())])


def _text(unit: str, size: int) -> str:
    return unit * (size // len(unit.encode()))


def _seconds(job: Callable[[], object]) -> float:
    """Processor time of this thread: what else the machine does is not counted."""
    began = time.thread_time()
    job()
    return time.thread_time() - began


def _is_linear(job: Callable[[str], object], unit: str) -> None:
    """Sixteen times the input takes at most about sixteen times as long, or next to nothing."""
    small, large = _text(unit, SMALL), _text(unit, LARGE)
    took = _seconds(lambda: job(large))
    if took < 0.02:
        return
    if took > _seconds(lambda: job(small)) * GROWTH * 3 + 0.05:
        took = min(_seconds(lambda: job(large)) for _ in range(3))
        assert took < max(_seconds(lambda: job(small)) for _ in range(3)) * GROWTH * 3 + 0.05, f"{unit!r}: {took:.3f} s"


def test_what_is_not_linear_is_noticed() -> None:
    def quadratic(text: str) -> None:
        for start in range(0, len(text), 32):
            text.find("b", start)

    with pytest.raises(AssertionError, match="'a': "):
        _is_linear(quadratic, "a")


def _arguments(tool: Tool, text: str) -> list[bytes]:
    base = dict(tool.examples[0]) if tool.examples else {}
    base |= {name: "a" for name in tool.required_parameters if name not in base}
    return [json.dumps({**base, name: text}, ensure_ascii=False).encode() for name in (*tool.parameters, "unknown")]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("tool_id", sorted(TOOLS))
def test_binding_validating_and_judging_a_call_is_linear(tool_id: str, tmp_path: Path) -> None:
    if tool_id == "shell.run":
        pytest.skip("its judge has tests of its own")
    tool = TOOLS[tool_id]
    context = ToolContext(workspace=tmp_path, tool_id=tool.id, hosts=tool.hosts, network=GuardedNetwork)

    def admitted(text: str) -> None:
        for sent in _arguments(tool, text):
            bound = bind(tool, sent)
            input = bound if isinstance(bound, Refusal) else validate(tool, bound)
            if not isinstance(input, Refusal):
                classify(tool, input, context)

    for unit in sample(UNITS, share=8):
        _is_linear(admitted, unit)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("unit", UNITS[::2])
def test_names_and_their_suggestions_are_linear(unit: str) -> None:
    _is_linear(REGISTRY.resolve, unit)
    _is_linear(REGISTRY.suggestion, unit)


CONSTRAINTS: Final[tuple[Any, ...]] = (
    {"matches": "*a*a*a*b"},
    {"matches": "*[a-z]*.*", "ignore_case": True},
    {"not_matches": ["*a*b*c", "?*?*?"]},
    {"starts_with": "a"},
    {"one_of": ["a", "b", 1, True]},
    {"above": 3},
    {"length_at_least": 5},
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("demand", CONSTRAINTS, ids=lambda each: next(iter(each)))
def test_rules_about_arguments_are_linear(demand: dict[str, Any]) -> None:
    rule = Rule(tool="a.b", decision=Decision.DENY, arguments={"text": demand})
    for unit in UNITS[::3]:
        _is_linear(lambda text: rule.holds({"text": text}), unit)


@pytest.mark.timeout(300)
def test_redaction_is_linear() -> None:
    secrets = {"A": "aaaaaaab", "B": "abababab", "C": "http://a@http://b", "D": "....", "E": "1111"}
    redaction = Redaction(secrets)
    for unit in UNITS:
        _is_linear(lambda text: redaction.json(json.dumps({"x": text}).encode()), unit)
        _is_linear(redaction.text, unit)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("sent", ["[" * 1000, '{"a":' * 1000, "9" * 1000, '"\\ud800"', '{"a":1,', "[[],{}]"])
def test_reading_arguments_is_linear_in_what_was_sent(sent: str) -> None:
    tool = TOOLS["files.read"]
    _is_linear(lambda text: bind(tool, text.encode()), sent)
    assert from_json(b"{}") == {}
