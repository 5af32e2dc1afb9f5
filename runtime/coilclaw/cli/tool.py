"""`coilclaw tool`: what can be called, and calling it."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Any

import click

from coilclaw.bridge import Registry, registry_stubs, tool_stub
from coilclaw.cli.approval import approver_for
from coilclaw.cli.composition import (
    load_registry,
    make_policy,
    open_parts,
    run_limits,
    settings_for,
    show_diagnostics,
)
from coilclaw.cli.terminal import json_value, show_error
from coilclaw.policy import Policy
from coilclaw.sandbox import Deadline
from coilclaw.sdk import Tool

__all__ = ["tool"]

_workspace = click.option("--workspace", metavar="DIR", help="The workspace whose tools are used.")


@click.group()
def tool() -> None:
    """List, show and call tools.

    \b
    Example:
      coilclaw tool list
      coilclaw tool run files.read --json '{"path": "notes.txt"}'
    """


@tool.command("list", epilog="Example: coilclaw tool list --json")
@_workspace
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_tools(workspace: str | None, as_json: bool) -> None:
    """Every tool, its risk and what policy says about it."""
    settings = settings_for(workspace)
    registry = load_registry(settings.config)
    policy = make_policy(settings.config)
    show_diagnostics(registry)
    if as_json:
        click.echo(json.dumps([_facts(each, policy) for each in registry.tools.values()]))
        return
    width = max((len(tool_id) for tool_id in registry.tools), default=4)
    for each in registry.tools.values():
        decision = policy.decide(each, each.risk).decision.value
        first = each.description.splitlines()[0] if each.description else ""
        click.echo(f"{each.id:<{width}}  {each.risk.value:<11}  {decision:<5}  {first}")


@tool.command("show", epilog="Example: coilclaw tool show files.read")
@click.argument("name")
@_workspace
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(name: str, workspace: str | None, as_json: bool) -> None:
    """One tool: its stub, its schemas and its policy."""
    settings = settings_for(workspace)
    registry = load_registry(settings.config)
    policy = make_policy(settings.config)
    found = _find(registry, name)
    if as_json:
        click.echo(json.dumps(_facts(found, policy)))
        return
    types: dict[str, str] = {}
    stub = tool_stub(found, types)
    for text in types.values():
        click.echo(text)
    click.echo(stub)
    verdict = policy.decide(found, found.risk)
    click.echo(f"id:       {found.id}")
    click.echo(f"risk:     {found.risk.value} ({found.risk.level})")
    click.echo(f"policy:   {verdict.decision.value} ({verdict.reason})")
    click.echo(f"timeout:  {found.timeout_seconds or settings.config.limits.tool_seconds:g} s")
    click.echo(f"secrets:  {', '.join(found.secrets) or 'none'}")
    click.echo(f"hosts:    {', '.join(found.hosts) or 'none'}")
    click.echo(f"version:  {found.version}")
    click.echo(f"defined:  {found.file}:{found.line}")
    for example in found.examples:
        click.echo(f"example:  {json.dumps(dict(example))}")


@tool.command("run", epilog='Example: coilclaw tool run files.list --json \'{"path": "."}\'')
@click.argument("name")
@click.option("--json", "arguments", default="{}", metavar="ARGS", help="The arguments, as a JSON object.")
@_workspace
@click.option("--yes", is_flag=True, help="Approve the call if it asks.")
def run_tool(name: str, arguments: str, workspace: str | None, yes: bool) -> None:
    """Call one tool: the same checks, the same receipts, no snippet. The value is printed as JSON."""
    try:
        given = json_value(arguments)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="--json") from None
    if not isinstance(given, dict):
        raise click.BadParameter('the arguments are a JSON object, e.g. \'{"path": "."}\'', param_hint="--json")
    settings = settings_for(workspace)
    limits = run_limits(settings.config)
    deadline = Deadline(limits.seconds)
    with open_parts(settings, approver_for(yes, deadline)) as parts:
        show_diagnostics(parts.registry)
        with redirect_stdout(sys.stderr):  # What the tool prints is not its value.
            result, report = parts.runtime.call(name, given, parts.registry, limits, deadline=deadline)
    if result.ok:
        click.echo(json.dumps(result.value, indent=2))
        return
    assert result.error is not None
    show_error(f"{result.error.code}: {result.error.message}", result.error.hint)
    if report.status == "cancelled":
        sys.exit(130)
    sys.exit(
        {"approval_required": 3, "missing_secret": 4, "unknown_tool": 2, "invalid_input": 2}.get(result.error.code, 1)
    )


@tool.command("stubs", epilog="Example: coilclaw tool stubs > prompt.pyi")
@_workspace
def stubs(workspace: str | None) -> None:
    """Typed Python stubs of all tools, for a model's prompt."""
    registry = load_registry(settings_for(workspace).config)
    show_diagnostics(registry)
    click.echo(registry_stubs(registry), nl=False)


def _find(registry: Registry, name: str) -> Tool:
    found = registry.resolve(name)
    if found is None:
        raise click.UsageError(f"there is no tool {name!r}; {registry.suggestion(name)}")
    return found


def _facts(tool: Tool, policy: Policy) -> dict[str, Any]:
    verdict = policy.decide(tool, tool.risk)
    return {
        "id": tool.id,
        "risk": tool.risk.value,
        "description": tool.description,
        "policy": verdict.decision.value,
        "reason": verdict.reason,
        "version": tool.version,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "timeout_seconds": tool.timeout_seconds,
        "idempotent": tool.idempotent,
        "hosts": list(tool.hosts),
        "secrets": list(tool.secrets),
        "examples": [dict(example) for example in tool.examples],
        "file": tool.file,
        "line": tool.line,
    }
