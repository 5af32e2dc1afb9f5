"""allow, ask or deny: the strictest of everything that has a say."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from coilclaw.policy.rules import Rule
from coilclaw.sdk import Decision, Forbid, Risk, Tool

__all__ = ["Autonomy", "Policy", "Verdict"]


class Autonomy(StrEnum):
    """How far a run may go without a person."""

    READONLY = "readonly"
    SUPERVISED = "supervised"
    FULL = "full"


_BY_AUTONOMY: Final = {
    Autonomy.READONLY: {Risk.READ: Decision.ALLOW, Risk.WRITE: Decision.DENY, Risk.DESTRUCTIVE: Decision.DENY},
    Autonomy.SUPERVISED: {Risk.READ: Decision.ALLOW, Risk.WRITE: Decision.ASK, Risk.DESTRUCTIVE: Decision.ASK},
    Autonomy.FULL: {Risk.READ: Decision.ALLOW, Risk.WRITE: Decision.ALLOW, Risk.DESTRUCTIVE: Decision.ALLOW},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A decision and why it is not a looser one."""

    decision: Decision
    reason: str


class Policy:
    """Decides about calls. Holds no state but a cache: the same call always gets the same verdict."""

    def __init__(self, autonomy: Autonomy, rules: Sequence[Rule] = ()) -> None:
        self.autonomy = autonomy
        self.rules = tuple(rules)
        self._known: dict[tuple[str, Risk, Decision | None, tuple[str, ...]], Verdict] = {}

    @property
    def digest(self) -> str:
        """Changes with everything that could change a decision."""
        text = "\n".join([self.autonomy.value, *sorted(repr(rule) for rule in self.rules)])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def decide(self, tool: Tool, classified: Risk | Forbid) -> Verdict:
        """The verdict on one call, given what its classification says."""
        if isinstance(classified, Forbid):
            return Verdict(decision=Decision.DENY, reason=f"forbidden: {classified.reason}")
        key = (tool.id, classified, tool.default_decision, tool.aliases)
        verdict = self._known.get(key)
        if verdict is None:
            verdict = self._known[key] = self._strictest(tool, classified)
        return verdict

    def _strictest(self, tool: Tool, risk: Risk) -> Verdict:
        autonomy = f"autonomy {self.autonomy.value!r} and risk {risk.value!r}"
        opinions = [(_BY_AUTONOMY[self.autonomy][risk], autonomy)]
        if tool.default_decision is not None:
            opinions.append((tool.default_decision, "the tool's own contract"))
        opinions += [(rule.decision, str(rule)) for rule in self.rules if rule.applies(tool, risk)]
        decision = max((opinion for opinion, _ in opinions), key=lambda each: each.strictness)
        reasons = [reason for opinion, reason in opinions if opinion is decision]
        return Verdict(decision=decision, reason="; ".join(reasons))
