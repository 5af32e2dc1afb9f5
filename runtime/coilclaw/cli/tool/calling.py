"""`coilclaw tool run`: one call, without a snippet."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Any, Final

import click

from coilclaw.bridge import Registry, tool_schemas
from coilclaw.cli.arguments import json_arguments, json_value, named_texts
from coilclaw.cli.opening import settings_for, show_diagnostics
from coilclaw.cli.run_report import exit_code, tell_waiting, workspace_option
from coilclaw.cli.terminal import say_text, show_error
from coilclaw.cli.waiting import open_for_run
from coilclaw.sandbox import Deadline

__all__ = ["run_tool"]

_EXIT_CODES: Final = {"approval_required": 3, "missing_secret": 4, "unknown_tool": 2, "invalid_input": 2}


@click.command("run", epilog="Example: coilclaw tool run files.read path=notes.txt")
@click.argument("name")
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--json", "arguments", metavar="ARGS", help="The arguments as a JSON object, or @FILE, or - for stdin.")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools are used.")
@click.option("--yes", is_flag=True, help="Approve the call if it needs approval.")
@click.option("--wait", is_flag=True, help="Ask nobody here; stay until the decision is made elsewhere.")
def run_tool(
    name: str, pairs: tuple[str, ...], arguments: str | None, workspace: str | None, yes: bool, wait: bool
) -> None:
    """Call one tool by NAME, an id or an alias: the same checks, the same receipts, no snippet.

    Arguments are given as KEY=VALUE, or together as JSON. A VALUE is text where the tool takes text, and JSON
    otherwise (limit=3, recursive=true). What the tool returns is printed as JSON.
    A call that needs approval while nobody is at the terminal is left pending, with exit code 3; `coilclaw resume`
    makes it once it is approved.
    """
    given = json_arguments(arguments) or {}
    texts = named_texts(pairs, "KEY=VALUE, e.g. path=notes.txt")
    if twice := sorted(texts.keys() & given.keys()):
        raise click.UsageError(f"{twice[0]!r} is given twice, as {twice[0]}=… and in --json")
    settings, options = settings_for(workspace), workspace_option(workspace)
    deadline = Deadline(settings.config.limits.seconds)
    with open_for_run(settings, deadline, yes=yes, wait=wait) as command:
        registry = command.claw.tools.registry
        show_diagnostics(registry)
        name = name.removeprefix("tools.")
        given |= {key: _value(name, key, text, registry) for key, text in texts.items()}
        with redirect_stdout(sys.stderr):  # What the tool prints is not its value.
            done = command.claw.call(name, given, caller=command.caller, deadline=deadline)
    if done.error is None:
        say_text(json.dumps(done.value, indent=2))
        return
    if done.status == "suspended":
        tell_waiting(done.report, options)
        sys.exit(exit_code(done.report))
    show_error(f"{done.error.code}: {done.error.message}", done.error.hint)
    if done.status == "cancelled":
        sys.exit(130)
    sys.exit(_EXIT_CODES.get(done.error.code, 1))


def _value(name: str, key: str, text: str, registry: Registry) -> Any:
    """Text where the tool takes text, else the JSON it spells; what is neither is left to the tool's own check."""
    tool = registry.resolve(name)
    schema = tool_schemas(tool)[0] if tool is not None else {}
    properties = schema.get("properties")
    field = properties.get(key) if isinstance(properties, dict) else None
    if _takes_text(field, schema):
        return text
    try:
        return json_value(text)
    except ValueError:
        return text


def _takes_text(field: Any, schema: dict[str, Any], depth: int = 0) -> bool:
    if not isinstance(field, dict) or depth > 8:
        return False
    if isinstance(reference := field.get("$ref"), str):
        definitions = schema.get("$defs")
        target = definitions.get(reference.rsplit("/", 1)[-1]) if isinstance(definitions, dict) else None
        return _takes_text(target, schema, depth + 1)
    options = [*_listed(field, "anyOf"), *_listed(field, "oneOf"), *_listed(field, "allOf")]
    return (
        field.get("type") == "string"
        or "string" in _listed(field, "type")
        or any(isinstance(choice, str) for choice in [*_listed(field, "enum"), field.get("const")])
        or any(_takes_text(option, schema, depth + 1) for option in options)
    )


def _listed(field: dict[str, Any], key: str) -> list[Any]:
    value = field.get(key)
    return value if isinstance(value, list) else []
