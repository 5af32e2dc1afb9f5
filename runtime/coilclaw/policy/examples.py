"""Examples that stand beside a rule and are tried whenever the configuration is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coilclaw.policy.rules import Rule
from coilclaw.sdk import Risk

__all__ = ["Example", "problem_with_example"]


@dataclass(frozen=True, kw_only=True)
class Example:
    """A call a rule is meant to be about, or not. What it leaves open (risk, channel) is taken to fit."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    risk: Risk | None = None
    channel: str | None = None

    def __str__(self) -> str:
        written = json.dumps(dict(self.arguments), ensure_ascii=False, default=str)
        return f"{self.tool} {written if len(written) <= 120 else written[:119] + '…'}"


def problem_with_example(rule: Rule, example: Example, *, applies: bool) -> str | None:
    """How an example does not behave as stated, or None when it does."""
    why = _aside(rule, example)
    if applies and why is not None:
        return f"rule {rule.tool!r} should apply to the example {example}, but {why}"
    if not applies and why is None:
        return f"rule {rule.tool!r} should not apply to the example {example}, but it does"
    return None


def _aside(rule: Rule, example: Example) -> str | None:
    if not rule.fits((example.tool,)):
        return f"{example.tool!r} does not fit the pattern {rule.tool!r}"
    return rule.aside(example.risk, example.channel) or rule.unmet(example.arguments)
