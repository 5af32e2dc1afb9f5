"""`coilclaw tool show`: everything about one tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from coilclaw.app import Tools
from coilclaw.bridge import Spelling, example_calls, tool_schemas, tool_stub
from coilclaw.cli.opening import open_app, settings_for
from coilclaw.cli.terminal import say, say_json, say_text
from coilclaw.sdk import Tool
from coilclaw.sdk.legible import one_line

__all__ = ["show"]

_MOST_IDS = 20


@click.command("show", epilog="Example: coilclaw tool show files.read")
@click.argument("name")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools are used.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object, with both schemas in full.")
def show(name: str, workspace: str | None, as_json: bool) -> None:
    """Show one tool by NAME, an id or an alias: its stub, its schemas, its policy, and what it needs."""
    settings = settings_for(workspace)
    with open_app(settings, record=False) as claw:
        found = _found(name, claw.tools)
        if as_json:
            say_json(claw.tools.facts(found))
            return
        say_text(tool_stub(found, aliases=(), policy=claw.tools.policy))
        for line in _schema_rows(found):
            say(line)
        for label, text in _rows(found, claw.tools, settings.config.limits.tool_seconds):
            say(f"{label + ':':<12}{one_line(text)}")


def _found(name: str, tools: Tools) -> Tool:
    found, registry = tools.get(name), tools.registry
    if found is None and (ids := [tool_id for tool_id in registry.tools if tool_id.startswith(f"{name}.")]):
        more = ", …" if len(ids) > _MOST_IDS else ""
        raise click.UsageError(f"{name} is an integration; its tools: {', '.join(ids[:_MOST_IDS])}{more}")
    if found is None:
        raise click.UsageError(f"there is no tool {name[:200]!r}; {registry.suggestion(name)}")
    return found


def _rows(tool: Tool, tools: Tools, seconds: float) -> Iterator[tuple[str, str]]:
    verdict = tools.policy.decide(tool, tool.risk)
    yield "id", tool.id
    yield "aliases", ", ".join(tools.aliases(tool)) or "none"
    raised = "; a call may be judged higher by its arguments" if tool.classify is not None else ""
    yield "risk", f"{tool.risk.value} ({tool.risk.level}){raised}"
    yield "policy", f"{verdict.decision.value} ({verdict.reason})"
    yield "timeout", f"{tool.timeout_seconds or seconds:g} s"
    yield "idempotent", "yes; a call may be repeated" if tool.idempotent else "not declared"
    if not tool.secrets and not tool.optional_secrets:
        yield "secrets", "none"
    for secret in tool.secrets:
        yield (
            "secrets",
            f"{secret} present"
            if tools.has_secret(secret)
            else f"{secret} missing; set it: coilclaw secret set {secret}",
        )
    for secret in tool.optional_secrets:
        yield "secrets", f"{secret} {'present' if tools.has_secret(secret) else 'missing'} (optional)"
    yield "hosts", ", ".join(tool.hosts) or "none"
    yield "version", tool.version
    yield "defined", f"{tool.file}:{tool.line}"
    for call in example_calls(tool):
        yield "example", call


def _schema_rows(tool: Tool) -> Iterator[str]:
    """The schemas as a person reads them: one row for each field."""
    for title, schema, given in zip(("input", "output"), tool_schemas(tool), (True, False), strict=True):
        spelling = Spelling(schema, None, tool.integration, given=given)
        properties = schema.get("properties")
        if isinstance(properties, dict) and properties:
            yield f"{title}:"
            yield from _field_rows(properties, schema.get("required"), spelling, given)
        else:
            yield f"{title + ':':<10}{'nothing' if given else spelling.type(schema)}"
    yield ""


def _field_rows(properties: dict[str, Any], required: Any, spelling: Spelling, given: bool) -> Iterator[str]:
    needed = required if isinstance(required, list) else []
    width = min(24, max(len(str(name)) for name in properties))
    for name, field in properties.items():
        need = "" if name in needed else "optional" if given else "may be absent"
        parts = [f"{name!s:<{width}}  {spelling.type(field)}", need, spelling.note(field)]
        yield "  " + "  ".join(part for part in parts if part).rstrip()
