"""Settings that are valid and yet cannot do what somebody meant by them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from coilclaw.bridge import Registry
from coilclaw.config import Config
from coilclaw.policy import Rule
from coilclaw.sdk.legible import as_name

__all__ = ["doubts_about"]


def doubts_about(config: Config, registry: Registry, *, complete: bool) -> Iterator[str]:
    """Yield what has no effect: rules that match no tool, and programs that are refused whatever the list says.

    Unless the registry is complete, a rule may be meant for a tool that is not in it; then only those are told that
    name an integration in it, or nearly a tool in it.
    """
    for number, each in enumerate(config.policy.rules):
        rule = each.rule()
        if any(rule.names(tool) for tool in registry.tools.values()):
            continue
        near = _nearest(rule, registry)
        integrations = {tool.integration for tool in registry.tools.values()}
        if complete or near or rule.tool.partition(".")[0] in integrations:
            hint = f"; did you mean {near}?" if near else ""
            yield f"policy.rules.{number}.tool: {as_name(rule.tool)} matches no tool{hint}"
    from coilclaw.integrations.shell.programs import REFUSED

    for number, program in enumerate(config.security.shell_allow):
        if reason := REFUSED.get(program):
            yield f"security.shell_allow.{number}: has no effect, because `{program}` {reason}"


def _nearest(rule: Rule, registry: Registry) -> str | None:
    near = difflib.get_close_matches(rule.tool[:200], [*registry.tools, *registry.aliases], n=1, cutoff=0.75)
    return near[0] if near else None
