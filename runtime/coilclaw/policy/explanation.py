"""What was decided about a call, and what everything that has a say said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from coilclaw.sdk import Decision, Risk
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.policy.rules import Rule

__all__ = ["Explanation", "Opinion", "Verdict"]


class Verdict(Frozen):
    """A decision and why it is not a looser one."""

    decision: Decision
    reason: str
    matched_rule: str
    """The sources that decided, as `Opinion.source` names them: `autonomy`, or `contract, rule 3`."""
    forbidden: bool = False
    """Whether the tool itself forbids the call; the reason is then a sentence of its own, and no rule can allow it."""
    hint: str = ""
    """What the tool says to do instead, if it forbids the call and says so."""
    conditional: tuple[Rule, ...] = ()
    """Rules that would make it stricter for some arguments; only where the arguments are not known yet."""

    @property
    def strictest(self) -> Decision:
        """The decision if every rule that depends on arguments applied."""
        return max((self.decision, *(rule.decision for rule in self.conditional)), key=lambda each: each.strictness)

    def __str__(self) -> str:
        """`allow`, or `allow (asks for some arguments)`."""
        if not self.conditional:
            return self.decision.value
        others = sorted({rule.decision for rule in self.conditional}, key=lambda each: each.strictness)
        words = {Decision.ASK: "asks", Decision.DENY: "denied"}
        return f"{self.decision.value} ({' or '.join(words[each] for each in others)} for some arguments)"


class Opinion(Frozen):
    """What one source says about a call."""

    source: str
    decision: Decision | None
    """What it says, or would say if it applied; None for a source that has no opinion."""
    applied: Literal["yes", "no", "depends"]
    """`depends` on arguments that are not known."""
    why: str
    decides: bool = False
    """Whether the decision is what this source says."""


class Explanation(Frozen):
    """Every opinion about one call, and the verdict that follows from them."""

    tool: str
    risk: Risk
    channel: str
    verdict: Verdict
    opinions: tuple[Opinion, ...]
