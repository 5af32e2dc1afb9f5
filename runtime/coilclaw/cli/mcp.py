"""`coilclaw mcp`: be an MCP server, and use the MCP servers of the configuration."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from coilclaw.app import open_servers
from coilclaw.cli.opening import expanded, open_app, settings_for, show_diagnostics
from coilclaw.cli.streams import unguarded
from coilclaw.cli.terminal import counted, say, say_json, warn
from coilclaw.config import Settings
from coilclaw.mcp_server import CLIENTS, configuration_for
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name, one_line
from coilclaw.workspace_tools import mcp_servers

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw

__all__ = ["mcp"]


@click.group()
def mcp() -> None:
    """Serve MCP clients; list and refresh the configured MCP servers.

    \b
    Example:
      coilclaw mcp config cursor
      coilclaw mcp serve
      coilclaw mcp list
      coilclaw mcp refresh
    """


@mcp.command("serve", epilog="Example: coilclaw mcp serve --workspace ~/coilclaw-workspace")
@click.option("--workspace", metavar="DIR", help="The workspace whose tools and files are used.")
def serve(workspace: str | None) -> None:
    """Serve one MCP client on standard input and output, until the input ends.

    A client starts this by itself; `coilclaw mcp config` prints what to tell it. Calls that need approval are asked
    about in the client, if it can ask its person, or wait for `coilclaw approval`.
    """
    _refuse_without_sdk()
    import anyio

    settings = settings_for(workspace)
    reader, writer = _claimed_streams()
    with open_app(settings, pool=settings.config.sandbox.pool, watch=True) as claw:
        claw.load()
        show_diagnostics(claw.tools.registry)
        anyio.run(_serve, claw, reader, writer)


async def _serve(claw: CoilClaw, reader: BinaryIO, writer: BinaryIO) -> None:
    import signal

    import anyio

    from coilclaw.mcp_server import serve_stdio

    async with anyio.create_task_group() as tasks:

        async def end_on_signal() -> None:
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
                async for _ in signals:
                    tasks.cancel_scope.cancel()

        tasks.start_soon(end_on_signal)
        await serve_stdio(claw, reader, writer)
        tasks.cancel_scope.cancel()


def _claimed_streams() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for the protocol alone: whatever tools and their programs read there is empty."""
    reader = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    output = unguarded(sys.stdout)
    output.flush()
    return reader, output.buffer


def _refuse_without_sdk() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise OperatorError("the MCP server needs the `mcp` package", hint="pip install 'coilclaw[mcp]'")


@mcp.command("config", epilog="Example: coilclaw mcp config vscode --http http://127.0.0.1:8625/mcp")
@click.argument("client", type=click.Choice(sorted(CLIENTS)))
@click.option("--workspace", metavar="DIR", help="The workspace that the server uses.")
@click.option("--http", "url", metavar="URL", help="Use a running gateway at this address instead of a command.")
def config(client: str, workspace: str | None, url: str | None) -> None:
    """Print the configuration with which CLIENT uses CoilClaw. No file is changed."""
    command = [str(Path(sys.argv[0]).resolve()), "mcp", "serve"]
    if workspace is not None:
        command += ["--workspace", str(expanded(workspace).resolve())]
    home = os.environ.get("COILCLAW_HOME")
    environment = {"COILCLAW_HOME": str(Path(home).resolve())} if home else {}
    chosen = CLIENTS[client]
    say(f"For {chosen.title}: put this into {chosen.place}", err=True)
    if url is not None:
        say("A token: coilclaw token create --scope run", err=True)
    for line in configuration_for(client, command, environment, url).split("\n"):
        say(line)


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
