"""Rules an operator writes in the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Any, Final

from coilclaw.policy.constraints import Constraint, Problem, read_constraint
from coilclaw.sdk import Decision, Risk, Tool

__all__ = ["BadRule", "Rule"]

_PATTERN: Final = re.compile(r"[\w.*?\[\]!-]+", re.ASCII)


class BadRule(ValueError):
    """A rule that could never apply, or that nobody can read. Holds everything that is wrong with it."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{'.'.join(each.place)}: {each.message}" for each in problems))


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A decision about calls: by the tool's name, its risk, the channel and the arguments, as far as they are given.

    Rules never loosen anything: of all that apply, the strictest decision wins, whatever the order. An
    `allow` therefore changes nothing; it writes down what is meant to be possible.
    """

    tool: str
    decision: Decision
    risk: Risk | None = None
    reason: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """From a path to what is demanded of it; see `coilclaw.policy.constraints`."""
    channels: tuple[str, ...] | None = None
    """Where the call comes from; None means anywhere."""
    number: int = field(default=0, compare=False)
    """Its place among the rules of a policy, from 1; 0 before it is in one."""
    constraints: tuple[Constraint, ...] = field(init=False, repr=False, compare=False)
    _names: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        problems: list[Problem] = []
        if not _PATTERN.fullmatch(self.tool):
            problems.append(
                Problem(place=("tool",), message="must be a pattern that a tool's id can fit", given=self.tool)
            )
        if self.channels is not None and not all(self.channels or ("",)):
            problems.append(
                Problem(place=("channel",), message="must name a channel, or be left out", given=self.channels)
            )
        read = [read_constraint(path, raw) for path, raw in self.arguments.items()]
        for each in read:
            problems += each if isinstance(each, list) else ()
        if problems:
            raise BadRule(problems)
        constraints = tuple(each for each in read if isinstance(each, Constraint))
        object.__setattr__(self, "constraints", constraints)
        object.__setattr__(self, "_names", re.compile(translate(self.tool)))

    def names(self, tool: Tool) -> bool:
        """A rule may name a tool by any name it has, the short one included."""
        return self.fits(tool.names)

    def fits(self, names: Iterable[str]) -> bool:
        return any(map(self._names.match, names))

    def aside(self, risk: Risk | None, channel: str | None) -> str | None:
        """Why the rule is not about calls of this risk from this channel, or None. What is None is not asked about."""
        if self.risk is not None and risk is not None and self.risk is not risk:
            return f"it is about risk {self.risk.value!r}, not {risk.value!r}"
        if self.channels is not None and channel is not None and channel not in self.channels:
            return f"it is about channel {' or '.join(map(repr, self.channels))}, not {channel!r}"
        return None

    def holds(self, sent: Mapping[str, Any], meant: Any = None) -> bool:
        """Whether the arguments meet every demand; see `Constraint.holds`."""
        for constraint in self.constraints:  # noqa: SIM110  # On the path of every call.
            if not constraint.holds(sent, meant):
                return False
        return True

    def unmet(self, sent: Mapping[str, Any], meant: Any = None) -> str | None:
        """The first demand that the arguments do not meet, or None when they meet all."""
        for constraint in self.constraints:
            if (why := constraint.unmet(sent, meant)) is not None:
                return why
        return None

    @property
    def canonical(self) -> dict[str, Any]:
        """Everything the rule says, in one way of writing it."""
        return {
            "tool": self.tool,
            "decision": self.decision.value,
            "risk": self.risk.value if self.risk else None,
            "reason": self.reason,
            "channels": sorted(set(self.channels)) if self.channels else None,
            "arguments": {each.path: dict(each.demands) for each in self.constraints},
        }

    def __str__(self) -> str:
        number = f" {self.number}" if self.number else ""
        return f"rule{number} {self.tool!r}: {self.decision.value}" + (f" ({self.reason})" if self.reason else "")
