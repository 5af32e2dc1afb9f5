"""`coilclaw mcp`: the MCP servers of the configuration."""

from __future__ import annotations

import os

import click

from coilclaw.app import open_servers
from coilclaw.cli.opening import settings_for
from coilclaw.cli.terminal import counted, say, say_json, warn
from coilclaw.config import Settings
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name, one_line
from coilclaw.workspace_tools import mcp_servers

__all__ = ["mcp"]


@click.group()
def mcp() -> None:
    """List and refresh the configured MCP servers.

    \b
    Example:
      coilclaw mcp list
      coilclaw mcp refresh
    """


@mcp.command("list", epilog="Example: coilclaw mcp list --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_servers(as_json: bool) -> None:
    """List every configured server, its state and its tools. One that was never seen is started to learn them."""
    settings = settings_for()
    servers = _open(settings)
    try:
        loaded = servers.load()
        states = servers.states()
    finally:
        servers.close()
    ids = {state.name: [tool.id for tool in loaded.tools if tool.file == place] for state, place in _places(states)}
    if as_json:
        facts = [
            {"name": each.name, "state": each.state, "problem": each.problem, "tools": ids[each.name]}
            for each in states
        ]
        say_json(facts)
        return
    if not states:
        say(f"No servers: write [integrations.mcp.NAME] in {as_name(str(settings.path))}", err=True)
    for each in states:
        say(f"{as_name(each.name)}  {one_line(each.state)}  {counted(len(ids[each.name]), 'tool')}")
        for tool_id in ids[each.name]:
            say(f"  {as_name(tool_id)}")
    for diagnostic in loaded.diagnostics:
        warn(str(diagnostic))


@mcp.command("refresh", epilog="Example: coilclaw mcp refresh clock")
@click.argument("name", required=False)
def refresh_servers(name: str | None) -> None:
    """Start every server, or the one called NAME, and learn its tools anew.

    A server that failed is tried at once, and has as long as its `seconds` say.
    """
    settings = settings_for()
    if name is not None and name not in settings.config.integrations.mcp:
        known = ", ".join(settings.config.integrations.mcp) or "none"
        raise OperatorError(f"there is no server {as_name(name, 80)}", hint=f"configured: {one_line(known, 500)}")
    servers = _open(settings)
    try:
        servers.refresh(name)
        loaded = servers.load()
        states = [state for state in servers.states() if name is None or state.name == name]
    finally:
        servers.close()
    places = {place for _, place in _places(states)}
    for state, place in _places(states):
        count = len([tool for tool in loaded.tools if tool.file == place])
        say(f"{as_name(state.name)}  {one_line(state.state)}  {counted(count, 'tool')}")
    for diagnostic in loaded.diagnostics:
        if diagnostic.file in places:
            warn(str(diagnostic))
    if any(state.state == "failed" for state in states):
        raise SystemExit(1)


def _places(states: list[mcp_servers.ServerState]) -> list[tuple[mcp_servers.ServerState, str]]:
    return [(each, mcp_servers.ServerSpec(name=each.name).place) for each in states]


def _open(settings: Settings) -> mcp_servers.McpServers:
    return open_servers(settings, os.environ, progress=lambda message: say(one_line(message), err=True))
