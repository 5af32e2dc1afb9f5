"""The MCP servers of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coilclaw.config import Settings
    from coilclaw.workspace_tools import mcp_servers  # Imported where it is used: most homes have no servers.

__all__ = ["open_servers"]


def open_servers(
    settings: Settings,
    environment: Mapping[str, str],
    on_change: Callable[[], object] = lambda: None,
    *,
    progress: Callable[[str], None] = lambda message: None,
) -> mcp_servers.McpServers:
    """The servers in the order of the configuration, with what is remembered about them in the home folder."""
    from coilclaw.workspace_tools import mcp_servers

    specs = [
        mcp_servers.ServerSpec(
            name=name, command=server.command, env=dict(server.env), url=server.url, seconds=server.seconds
        )
        for name, server in settings.config.integrations.mcp.items()
    ]
    remembered = settings.home / "cache/mcp"
    return mcp_servers.McpServers(specs, remembered, on_change, environment=environment, progress=progress)
