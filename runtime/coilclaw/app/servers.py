"""The MCP servers of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coilclaw.config import Config, Settings
    from coilclaw.workspace_tools import mcp_servers  # Imported where it is used: most homes have no servers.

__all__ = ["open_servers", "server_specs"]


def server_specs(config: Config) -> list[mcp_servers.ServerSpec]:
    """The servers of the configuration, in its order."""
    from coilclaw.workspace_tools import mcp_servers

    return [
        mcp_servers.ServerSpec(
            name=name, command=server.command, env=dict(server.env), url=server.url, seconds=server.seconds
        )
        for name, server in config.integrations.mcp.items()
    ]


def open_servers(
    settings: Settings,
    environment: Mapping[str, str],
    on_change: Callable[[], object] = lambda: None,
    *,
    progress: Callable[[str], None] = lambda message: None,
) -> mcp_servers.McpServers:
    """The servers, with what is remembered about them in the home folder."""
    from coilclaw.workspace_tools import mcp_servers

    return mcp_servers.McpServers(
        server_specs(settings.config),
        settings.home / "cache/mcp",
        on_change,
        environment=environment,
        progress=progress,
    )
