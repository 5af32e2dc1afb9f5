"""Tools of MCP servers that the operator configured under `[integrations.mcp.NAME]`.

A server is a program that is started, or an address that is spoken to. Its tools become `tools.NAME.<tool>`,
under the same policy and with the same receipts as any other tool.

What a server says is not trusted. Its annotations are hints: `readOnlyHint` makes a tool `read`, `destructiveHint`
makes it `destructive`, everything else is `write`. They choose the row of the policy table and nothing more; the
operator's rules apply on top, and no hint can make a decision milder than a rule (`tool = "NAME.*"`, `decision =
"ask"` makes every call of a server ask). Its descriptions are shown to the model, so a server is a thing to choose
with care. A tool whose schema or hints change is another version of the tool; texts for readers do not count, since
some servers write the date there.

What a server offers is remembered, so it is started by the first call of one of its tools. One that could not be
used is left alone for a while, by other processes too; `refresh` tries it at once.

A server gets `PATH`, `HOME` and `LANG` of the environment it is passed here, and what its `env` table says.
Requests it makes of us (sampling, elicitation, roots) are declined.
"""

from coilclaw.workspace_tools.mcp_servers.servers import McpServers, ServerState
from coilclaw.workspace_tools.mcp_servers.spec import ServerSpec

__all__ = ["McpServers", "ServerSpec", "ServerState"]
