"""allow, ask or deny: the strictest of everything that has a say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.policy.explanation import Explanation, Opinion, Verdict
from coilclaw.sdk import Decision, Forbid, Risk

if TYPE_CHECKING:
    from coilclaw.policy.rules import Rule
    from coilclaw.sdk import Tool

__all__ = ["Autonomy", "Policy"]


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
_MOST_KNOWN: Final = 10_000
_MOST_SOURCES: Final = 4
"""Of one decision, named in a receipt: any number of rules may agree."""
_WILD: Final = frozenset("*?[]")
_number: Final = attrgetter("number")


class _Said(NamedTuple):
    """The decision of one source, its reason and its name."""

    decision: Decision
    reason: str
    source: str


class _Known(NamedTuple):
    """What holds for every call of a tool at one risk: the verdict so far, and the rules that depend on arguments."""

    verdict: Verdict
    verdict_if_none_apply: Verdict
    opinions: tuple[_Said, ...]
    open: tuple[tuple[Rule, _Said], ...]


class Policy:
    """Decides about calls. Holds no state but a cache: the same call always gets the same verdict."""

    def __init__(self, autonomy: Autonomy, rules: Sequence[Rule] = ()) -> None:
        self.autonomy = autonomy
        self.rules = tuple(replace(rule, number=number) for number, rule in enumerate(rules, 1))
        self._by_channel = any(rule.channels for rule in self.rules)
        self._by_end = _by_end(self.rules)
        self._concerned: dict[tuple[str, tuple[str, ...]], tuple[Rule, ...]] = {}
        self._by_risk = {risk: self._nothing_but(risk) for risk in Risk}
        self._known: dict[tuple[str, Risk, Decision | None, tuple[str, ...], str], _Known] = {}

    def decide(
        self,
        tool: Tool,
        classified: Risk | Forbid,
        arguments: Mapping[str, Any] | None = None,
        channel: str = "cli",
        *,
        input: Any = None,
    ) -> Verdict:
        """The verdict on one call, given what its classification says.

        `arguments` is what the caller sent; `input`, if it is given, what the tool made of that, with its
        defaults. Without arguments the question is about the tool: what its rules would say about
        some arguments is then in `conditional` and not in the decision.
        """
        if isinstance(classified, Forbid):
            return _forbidden(classified)
        key = (tool.id, classified, tool.default_decision, tool.aliases, channel if self._by_channel else "")
        known = self._known.get(key)
        if known is None:
            known = self._look(tool, classified, channel)
            if len(self._known) < _MOST_KNOWN:
                self._known[key] = known
        if arguments is None or not known.open:
            return known.verdict
        applying = [said for rule, said in known.open if rule.holds(arguments, input)]
        return _strictest([*known.opinions, *applying]) if applying else known.verdict_if_none_apply

    def constrained(self, tool: Tool) -> bool:
        """Whether arguments can matter to the decision about this tool."""
        return any(rule.constraints for rule in self._concerning(tool))

    def explain(
        self,
        tool: Tool,
        classified: Risk | Forbid,
        arguments: Mapping[str, Any] | None = None,
        channel: str = "cli",
        *,
        input: Any = None,
        raised_because: str = "",
    ) -> Explanation:
        """Everything that has a say about a call, what it says, and what decides.

        `raised_because` is the reason that the tool itself gives for the risk of the call.
        """
        risk = tool.risk if isinstance(classified, Forbid) else classified
        of_tool = _of_classification(tool, classified, arguments, raised_because)
        opinions = [self._of_autonomy(risk), _of_contract(tool), of_tool]
        opinions += [_of_rule(rule, tool, risk, arguments, channel, input) for rule in self.rules]
        verdict = self.decide(tool, classified, arguments, channel, input=input)
        forbidden = isinstance(classified, Forbid)
        decided = tuple(
            replace(
                opinion,
                decides=opinion.applied == "yes"
                and opinion.decision is verdict.decision
                and (not forbidden or opinion.source == "classification"),
            )
            for opinion in opinions
        )
        return Explanation(tool=tool.id, risk=risk, channel=channel, verdict=verdict, opinions=decided)

    @cached_property
    def digest(self) -> str:
        """The same for policies that decide alike by the same words; the order of rules makes no difference."""
        rules = sorted({_written(rule.canonical) for rule in self.rules})
        return "sha256:" + hashlib.sha256(_written([self.autonomy.value, *rules]).encode()).hexdigest()

    def _look(self, tool: Tool, risk: Risk, channel: str) -> _Known:
        concerned = [rule for rule in self._concerning(tool) if rule.aside(risk, channel) is None]
        if not concerned and tool.default_decision is None:
            return self._by_risk[risk]
        opinions = [*self._by_risk[risk].opinions]
        if tool.default_decision is not None:
            opinions.append(_Said(tool.default_decision, "the tool's own contract", "contract"))
        opinions += [_by_rule(rule) for rule in concerned if not rule.constraints]
        verdict = _strictest(opinions)
        # What is looser than the verdict without it cannot matter, whatever the arguments.
        floor = verdict.decision.strictness
        opened = [rule for rule in concerned if rule.constraints and rule.decision.strictness >= floor]
        tighter = tuple(rule for rule in opened if rule.decision.strictness > floor)
        about_tool = replace(verdict, conditional=tighter) if tighter else verdict
        said = tuple((rule, _by_rule(rule)) for rule in opened)
        return _Known(about_tool, verdict, tuple(opinions), said)

    def _nothing_but(self, risk: Risk) -> _Known:
        """What is known of a tool of which nothing else is: the autonomy's word."""
        said = _Said(_BY_AUTONOMY[self.autonomy][risk], self._words(risk), "autonomy")
        verdict = _strictest([said])
        return _Known(verdict, verdict, (said,), ())

    def _concerning(self, tool: Tool) -> tuple[Rule, ...]:
        """The rules that name a tool, in their order."""
        key = (tool.id, tool.aliases)
        known = self._concerned.get(key)
        if known is not None:
            return known
        names = tool.names
        near = [*self._by_end.get("", ())]
        for end in {end for name in names for end in _ends(name)}:
            near += self._by_end.get(end, ())
        found = tuple(sorted((rule for rule in near if rule.fits(names)), key=_number))
        if len(self._concerned) < _MOST_KNOWN:
            self._concerned[key] = found
        return found

    def _words(self, risk: Risk) -> str:
        return f"autonomy {self.autonomy.value!r} and risk {risk.value!r}"

    def _of_autonomy(self, risk: Risk) -> Opinion:
        return Opinion(
            source="autonomy", decision=_BY_AUTONOMY[self.autonomy][risk], applied="yes", why=self._words(risk)
        )


def _by_end(rules: Sequence[Rule]) -> dict[str, list[Rule]]:
    """Rules by the integration or the action that their pattern spells out; under "" if it leaves both open."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        spelled = (end for end in _ends(rule.tool) if _WILD.isdisjoint(end))
        found.setdefault(next(spelled, ""), []).append(rule)
    return found


def _ends(name: str) -> tuple[str, str]:
    """Its first part with the dot behind it, and its last with the dot before it."""
    first, dot, _ = name.partition(".")
    return first + dot, dot + name.rpartition(".")[2]


def _by_rule(rule: Rule) -> _Said:
    return _Said(rule.decision, str(rule), f"rule {rule.number}")


def _strictest(opinions: Sequence[_Said]) -> Verdict:
    decision, deciding = opinions[0].decision, [opinions[0]]
    for said in opinions[1:]:
        if said.decision is decision:
            deciding.append(said)
        elif said.decision.strictness > decision.strictness:
            decision, deciding = said.decision, [said]
    return Verdict(
        decision=decision,
        reason="; ".join(said.reason for said in deciding),
        matched_rule=", ".join(said.source for said in deciding[:_MOST_SOURCES]),
    )


def _forbidden(opinion: Forbid) -> Verdict:
    return Verdict(
        decision=Decision.DENY,
        reason=opinion.reason,
        matched_rule="classification",
        forbidden=True,
        hint=opinion.hint,
    )


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _of_contract(tool: Tool) -> Opinion:
    if tool.default_decision is None:
        return Opinion(source="contract", decision=None, applied="no", why="the tool's contract says nothing")
    return Opinion(source="contract", decision=tool.default_decision, applied="yes", why="the tool's own contract")


def _of_classification(
    tool: Tool, classified: Risk | Forbid, arguments: Mapping[str, Any] | None, because: str
) -> Opinion:
    if isinstance(classified, Forbid):
        return Opinion(source="classification", decision=Decision.DENY, applied="yes", why=classified.reason)
    if tool.classify is None:
        why = "the tool judges all its calls alike"
    elif arguments is None:
        return Opinion(
            source="classification", decision=None, applied="depends", why="the tool judges each call by its arguments"
        )
    elif classified is tool.risk:
        why = f"the tool leaves this call at risk {classified.value!r}"
    else:
        why = f"the tool raises the risk of this call from {tool.risk.value!r} to {classified.value!r}"
        why += f": {because}" if because else ""
    return Opinion(source="classification", decision=None, applied="no", why=why)


def _of_rule(
    rule: Rule, tool: Tool, risk: Risk, arguments: Mapping[str, Any] | None, channel: str, input: Any
) -> Opinion:
    source = f"rule {rule.number}"
    about = f"{rule.tool!r}" + (f": {rule.reason}" if rule.reason else "")
    if not rule.names(tool):
        return Opinion(
            source=source, decision=rule.decision, applied="no", why=f"{rule.tool!r} does not name this tool"
        )
    aside = rule.aside(risk, channel)
    if aside is None and rule.constraints:
        if arguments is None:
            demands = "; ".join(f"{each.path}: {each}" for each in rule.constraints)
            return Opinion(source=source, decision=rule.decision, applied="depends", why=f"{about}, if {demands}")
        aside = rule.unmet(arguments, input)
    if aside is not None:
        return Opinion(source=source, decision=rule.decision, applied="no", why=f"{rule.tool!r}: {aside}")
    if rule.decision is Decision.ALLOW:
        about += " (an allow loosens nothing; it documents what is meant)"
    return Opinion(source=source, decision=rule.decision, applied="yes", why=about)
