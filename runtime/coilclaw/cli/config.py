"""`coilclaw config`: checking and showing the configuration."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from coilclaw.cli.opening import settings_for
from coilclaw.cli.terminal import say, say_json, warn
from coilclaw.config import load_settings
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.bridge import Registry
    from coilclaw.config import Settings
    from coilclaw.policy import Rule

__all__ = ["config", "doubts_about"]


@click.group()
def config() -> None:
    """Check and show the configuration.

    \b
    Example:
      coilclaw config validate
      coilclaw config show --json
    """


@config.command("validate", epilog="Example: coilclaw config validate")
def validate() -> None:
    """Check config.toml and report every problem at once.

    What is valid but has no effect is a warning, and the exit code stays 0. Rules are compared with the tools that are
    installed; `coilclaw doctor` knows those of the workspace too.
    """
    from coilclaw.app import installed_registry, make_policy

    settings = load_settings(os.environ, workspace_exists=True)
    for doubt in doubts_about(settings, installed_registry(make_policy(settings.config)), complete=False):
        warn(doubt)
    found = settings.path if settings.path.exists() else f"{settings.path} does not exist; the defaults"
    say(f"Valid: {one_line(str(found))}")


@config.command("show", epilog="Example: coilclaw config show --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(as_json: bool) -> None:
    """Show every value in force and where it comes from. Values that may hold a secret are hidden."""
    rows = list(settings_for().rows())
    if as_json:
        say_json({key: {"value": value, "source": source} for key, value, source in rows})
        return
    width = max(len(key) for key, _, _ in rows)
    for key, value, source in rows:
        say(f"{as_name(key):<{width}}  {one_line(json.dumps(value))}  # {one_line(source)}")


def doubts_about(settings: Settings, registry: Registry, *, complete: bool) -> Iterator[str]:
    """Yield settings that are valid and have no effect.

    These are rules that match no tool, programs that are refused whatever the list says, and another file for
    conversations than that of the receipts. Unless the registry is complete, a rule may be meant for a tool that is
    not in it; then only those are named that name an integration in it, or nearly a tool in it.
    """
    config = settings.config
    if "memory.path" in settings.sources and config.memory.path != config.receipts.path:
        yield f"memory.path: has no effect, because conversations are kept in {as_name(str(config.receipts.path))}"
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
    import difflib

    near = difflib.get_close_matches(rule.tool[:200], [*registry.tools, *registry.aliases], n=1, cutoff=0.75)
    return near[0] if near else None
