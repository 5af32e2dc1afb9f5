"""How long it takes to decide about one call, at its slowest percentile."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from coilclaw.policy import Autonomy, Policy, Rule, classify
from coilclaw.sdk import Decision, Tool, ToolContext, define_tool
from suite.names import DECISION_BY_ARGUMENTS, FIRST_DECISION

__all__ = ["PolicyProbe"]

_TOOLS: Final = 2_000
_DECISIONS: Final = 10_000
_SENT: Final = {"path": "private/a.txt", "method": "PUT", "amount": 200}
_CONSTRAINTS: Final[Sequence[Mapping[str, Any]]] = (
    {"path": {"matches": "secret/*", "ignore_case": True}},
    {"method": ["PATCH", "DELETE"]},
    {"amount": {"above": 10_000}},
)


def _tool(number: int) -> Tool:
    def handler(context: ToolContext, path: str, method: str, amount: int) -> str:
        return path

    return define_tool(id=f"notes{number}.page.read", risk="read", handler=handler)


class PolicyProbe:
    """Twenty rules about other tools, and three that have to look at the arguments: more than most policies have."""

    def __init__(self, folder: Path) -> None:
        self._tools = [_tool(number) for number in range(_TOOLS)]
        # Half of them name another integration, half leave it open and have to be tried on every tool.
        patterns = [f"{'other' if number % 2 else '*'}{number}.*.delete" for number in range(20)]
        self._rules = [Rule(tool=pattern, decision=Decision.ASK) for pattern in patterns]
        self._about_arguments = [
            Rule(tool="notes*", decision=Decision.ASK, arguments=demand) for demand in _CONSTRAINTS
        ]
        self._context = ToolContext(workspace=folder)
        self._input: Any = self._tools[0].input(**_SENT)

    def decision(self) -> dict[str, float]:
        """The 99th percentile of first decisions about a tool, of later ones, and of those by three arguments."""
        policy = Policy(Autonomy.SUPERVISED, self._rules)
        first = self._p99(policy, self._tools, None)
        looking = Policy(Autonomy.SUPERVISED, [*self._rules, *self._about_arguments])
        known = [self._tools[number % 50] for number in range(_DECISIONS)]
        self._p99(looking, self._tools[:50], _SENT)
        return {
            "coilclaw": self._p99(policy, known, None),
            DECISION_BY_ARGUMENTS: self._p99(looking, known, _SENT),
            FIRST_DECISION: first,
        }

    def _p99(self, policy: Policy, tools: Sequence[Tool], sent: Mapping[str, Any] | None) -> float:
        samples = []
        for tool in tools:
            began = time.perf_counter_ns()
            policy.constrained(tool)
            policy.decide(tool, classify(tool, self._input, self._context), sent, input=self._input)
            samples.append(time.perf_counter_ns() - began)
        return sorted(samples)[len(samples) * 99 // 100] / 1e9
