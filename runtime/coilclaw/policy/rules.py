"""Rules an operator writes in the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from coilclaw.sdk import Decision, Risk, Tool

__all__ = ["Rule"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A decision about tools whose id fits a pattern, and whose risk is the one named, if any.

    Rules never loosen anything: of all that apply, the strictest decision wins, whatever the order.
    """

    tool: str
    decision: Decision
    risk: Risk | None = None
    reason: str | None = None

    def applies(self, tool: Tool, risk: Risk) -> bool:
        """A rule may name a tool by any name it has."""
        named = any(fnmatchcase(name, self.tool) for name in (tool.id, *tool.aliases))
        return named and (self.risk is None or self.risk is risk)

    def __str__(self) -> str:
        return f"rule {self.tool!r}: {self.decision.value}" + (f" ({self.reason})" if self.reason else "")
