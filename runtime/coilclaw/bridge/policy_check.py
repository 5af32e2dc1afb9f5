"""Judge the calls of one run by policy and by the tools' own classifiers."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.tool_bounds import allowed_tools
from coilclaw.policy import judge
from coilclaw.sandbox import Abandoned
from coilclaw.sdk import Decision, Judged, Raised, Risk

if TYPE_CHECKING:
    from coilclaw.bridge.identified_call import Identity
    from coilclaw.bridge.run_spec import RunSpec
    from coilclaw.bridge.services import Services
    from coilclaw.policy import Verdict
    from coilclaw.sdk import Forbid, Tool, ToolContext

__all__ = ["Classified", "PolicyCheck", "denial_by_policy", "rule_facts"]

_logger = logging.getLogger(__name__)

_CLASSIFY_SECONDS: Final = 1.0
_LARGE_BYTES: Final = 4096
"""Of arguments: so many could keep a classifier busy that was always quick before."""


class Classified(NamedTuple):
    """How a tool judges one call of itself."""

    opinion: Risk | Forbid
    runs: str | None = None
    """What will run, with secrets taken out, if the tool says more about that than the arguments do."""
    why: str = ""
    """Why the tool raises the risk, if it says so."""


_AS_DECLARED: Final = {risk: Classified(risk) for risk in Risk}


class PolicyCheck:
    """Asks policy about the calls of one run, and tools about their own."""

    def __init__(self, services: Services, run: RunSpec) -> None:
        self._services = services
        self._run = run
        self._denials: dict[str, Refusal | None] = {}

    def denial_of_tool(self, tool: Tool) -> Refusal | None:
        """The refusal that policy gives to all calls of a tool. Looked up once: nothing it goes by changes in a run."""
        if tool.id not in self._denials:
            self._denials[tool.id] = self._denial_by_bounds(tool) or self._denial_by_rules(tool)
        return self._denials[tool.id]

    def _denial_by_rules(self, tool: Tool) -> Refusal | None:
        verdict = self._denied_at_any_risk(tool, None, None)
        return None if verdict is None else denial_by_policy(verdict, verdict.reason)

    def _denial_by_bounds(self, tool: Tool) -> Refusal | None:
        """The refusal of a tool that the run's caller, or whoever began the run, does not let it call."""
        if all(tool.id in each for each in self._allowed):
            return None
        return Refusal(
            code="denied",
            message=f"{tool.id} is not among the tools that this conversation may call (tools_allow)",
            hint="ask the operator to add it to tools_allow of the channel, or do without this call",
            denied=True,
            facts={"matched_rule": "tools_allow"},
        )

    @cached_property
    def _allowed(self) -> Sequence[frozenset[str]]:
        now = self._run.caller.tools_allow
        lists = self._run.tools_allow if now is None else (*self._run.tools_allow, now)
        return [allowed_tools(self._run.registry, each) for each in lists]

    def denial_by_arguments(self, identity: Identity, input: Any) -> Refusal | None:
        """The refusal that rules about arguments give, where a tool's own judgement would come before `decide`."""
        tool = identity.call.tool
        if tool is None or tool.classify is None or identity.given is None:
            return None
        verdict = self._denied_at_any_risk(tool, identity.given, input)
        return None if verdict is None else denial_by_policy(verdict, identity.redaction.text(verdict.reason))

    def classify(self, identity: Identity, tool: Tool, input: Any, context: ToolContext) -> Classified | None:
        """Let the tool judge this call, for a moment: its code must not hold up a decision. None if it took longer."""
        if tool.classify is None:
            return _AS_DECLARED[tool.risk]
        deadline = self._run.deadline
        try:
            opinion: Risk | Raised | Judged | Forbid = self._services.handlers.run(
                f"{tool.version} classify",
                lambda: judge(tool, input, context),
                min(_CLASSIFY_SECONDS, deadline.remaining),
                deadline,
                in_place=len(identity.arguments) <= _LARGE_BYTES,
            )
        except Abandoned:
            _logger.warning("classify of %s took too long and was left alone", tool.id)
            return None
        if isinstance(opinion, Raised):
            return Classified(Risk(opinion.risk), why=opinion.reason)
        if not isinstance(opinion, Judged):
            return Classified(opinion)
        # The handler is held to the very text; a person and the store get it as they get arguments.
        context.judged = opinion.runs
        return Classified(Risk(opinion.risk), identity.redaction.named(opinion.runs))

    def decide(self, tool: Tool, opinion: Risk | Forbid, given: Mapping[str, Any] | None, input: Any) -> Verdict:
        return self._services.policy.decide(tool, opinion, given, self._run.caller.channel, input=input)

    def _denied_at_any_risk(self, tool: Tool, given: Mapping[str, Any] | None, input: Any) -> Verdict | None:
        """Policy's denial of a call that holds whatever risk the tool's classifier would name."""
        verdict = self.decide(tool, tool.risk, given, input)
        if verdict.decision is not Decision.DENY:
            return None
        if tool.classify is not None:
            for risk in Risk:
                higher = risk.rank > tool.risk.rank
                if higher and self.decide(tool, risk, given, input).decision is not Decision.DENY:
                    return None
        return verdict


def denial_by_policy(verdict: Verdict, reason: str, hint: str = "") -> Refusal:
    """The refusal of a call that policy denies, or that its own tool forbids, which no policy can change."""
    hint = hint or (
        "change the call as the message says, or do without it; no policy rule allows it as it is"
        if verdict.forbidden
        else "ask the operator to change the policy, or do without this call"
    )
    return Refusal(code="denied", message=reason, hint=hint, denied=True, facts=rule_facts(verdict))


def rule_facts(verdict: Verdict) -> dict[str, str]:
    """Which rule decided, as receipts say it."""
    return {"matched_rule": verdict.matched_rule}
