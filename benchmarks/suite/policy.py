"""How long it takes to decide about one call, at its slowest percentile."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from coilclaw.policy import Autonomy, Policy, Rule, classify
from coilclaw.sdk import Decision, Tool, ToolContext, define_tool

__all__ = ["PolicyProbe"]

_DECISIONS: Final = 10_000
_FIRST_DECISIONS: Final = 2_000


def _tool(number: int) -> Tool:
    def handler(context: ToolContext, path: str) -> str:
        return path

    return define_tool(id=f"notes{number}.page.read", risk="read", handler=handler)


class PolicyProbe:
    """Fifty tools and twenty rules: more than a workspace usually has."""

    def __init__(self, folder: Path) -> None:
        self._tools = [_tool(number) for number in range(50)]
        self._rules = [Rule(tool=f"other{number}.*.delete", decision=Decision.ASK) for number in range(20)]
        self._context = ToolContext(workspace=folder)
        self._input: Any = self._tools[0].input(path="a.txt")

    def decision(self) -> dict[str, float]:
        """The 99th percentile of decisions in a running process, and of first decisions about a tool."""
        policy = Policy(Autonomy.SUPERVISED, self._rules)
        return {
            "coilclaw": self._p99(lambda: policy, _DECISIONS),
            "coilclaw, first decision about a tool": self._p99(
                lambda: Policy(Autonomy.SUPERVISED, self._rules), _FIRST_DECISIONS
            ),
        }

    def _p99(self, policy_for_sample: Callable[[], Policy], count: int) -> float:
        samples = []
        for number in range(count):
            tool, policy = self._tools[number % len(self._tools)], policy_for_sample()
            began = time.perf_counter_ns()
            policy.decide(tool, classify(tool, self._input, self._context))
            samples.append(time.perf_counter_ns() - began)
        return sorted(samples)[count * 99 // 100] / 1e9
