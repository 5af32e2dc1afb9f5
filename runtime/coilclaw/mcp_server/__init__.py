"""The MCP server: the same app for agents that speak the Model Context Protocol."""
