"""The MCP server: the same app for agents that speak the Model Context Protocol.

Each name is imported when it is first used: the protocol's SDK takes longer to load than most commands do.
"""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.mcp_server.client import LOCAL_CLIENT, Client
    from coilclaw.mcp_server.client_config import CLIENTS, configuration_for
    from coilclaw.mcp_server.http import McpEndpoint
    from coilclaw.mcp_server.stdio import serve_stdio
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "client": "LOCAL_CLIENT Client",
            "client_config": "CLIENTS configuration_for",
            "http": "McpEndpoint",
            "stdio": "serve_stdio",
        },
    )

__all__ = ["CLIENTS", "LOCAL_CLIENT", "Client", "McpEndpoint", "configuration_for", "serve_stdio"]
