"""Configuration for well-known MCP clients, to be printed: no file of theirs is read or changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from coilclaw.sdk.frozen import Frozen

__all__ = ["CLIENTS", "ClientFormat", "configuration_for"]

_TOKEN: Final = "YOUR_TOKEN"  # noqa: S105
_BEARER: Final = f"Bearer {_TOKEN}"


class ClientFormat(Frozen):
    """Where a client keeps its servers, and how they are written there."""

    title: str
    place: str
    stdio: Callable[[Sequence[str], Mapping[str, str]], str]
    http: Callable[[str], str]


def configuration_for(client: str, command: Sequence[str], environment: Mapping[str, str], url: str | None) -> str:
    """The text for one of `CLIENTS`: it starts the command, or with `url` it uses a running server."""
    chosen = CLIENTS[client]
    return chosen.stdio(command, environment) if url is None else chosen.http(url)


def _stdio(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    made: dict[str, Any] = {"command": command[0], "args": list(command[1:])}
    return {**made, "env": dict(environment)} if environment else made


def _http(url: str) -> dict[str, Any]:
    return {"url": url, "headers": {"Authorization": _BEARER}}


def _under(key: str, **more: str) -> tuple[Callable[..., str], Callable[[str], str]]:
    """The usual form: a JSON object of servers under one key, each perhaps with its type."""

    def stdio(command: Sequence[str], environment: Mapping[str, str]) -> str:
        kind = {"type": "stdio"} if "http" in more else {}
        return _json({key: {"coilclaw": {**kind, **_stdio(command, environment)}}})

    def http(url: str) -> str:
        kind = {"type": more["http"]} if "http" in more else {}
        return _json({key: {"coilclaw": {**kind, **_http(url)}}})

    return stdio, http


def _bridged(url: str) -> str:
    """For a client that only starts commands: a small program of npm passes the messages on."""
    command = ["npx", "-y", "mcp-remote", url, "--header", "Authorization:${COILCLAW_AUTHORIZATION}"]
    return _json({"mcpServers": {"coilclaw": _stdio(command, {"COILCLAW_AUTHORIZATION": _BEARER})}})


def _toml_stdio(command: Sequence[str], environment: Mapping[str, str]) -> str:
    lines = [
        "[mcp_servers.coilclaw]",
        f"command = {json.dumps(command[0])}",
        f"args = {json.dumps(list(command[1:]))}",
    ]
    if environment:
        lines += [
            "",
            "[mcp_servers.coilclaw.env]",
            *(f"{name} = {json.dumps(environment[name])}" for name in environment),
        ]
    return "\n".join(lines)


def _toml_http(url: str) -> str:
    return f'[mcp_servers.coilclaw]\nurl = {json.dumps(url)}\nbearer_token_env_var = "COILCLAW_TOKEN"'


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


_USUAL, _USUAL_HTTP = _under("mcpServers")
_TYPED, _TYPED_HTTP = _under("mcpServers", http="http")
_CODE, _CODE_HTTP = _under("servers", http="http")
_ZED, _ZED_HTTP = _under("context_servers")

CLIENTS: Final[Mapping[str, ClientFormat]] = {
    "generic": ClientFormat(
        title="any other MCP client", place="its configuration file", stdio=_TYPED, http=_TYPED_HTTP
    ),
    "claude-code": ClientFormat(title="Claude Code", place=".mcp.json in the project", stdio=_TYPED, http=_TYPED_HTTP),
    "claude-desktop": ClientFormat(
        title="Claude Desktop",
        place="claude_desktop_config.json (Settings, Developer, Edit Config)",
        stdio=_USUAL,
        http=_bridged,
    ),
    "codex": ClientFormat(title="Codex", place="~/.codex/config.toml", stdio=_toml_stdio, http=_toml_http),
    "cursor": ClientFormat(title="Cursor", place="~/.cursor/mcp.json", stdio=_USUAL, http=_USUAL_HTTP),
    "vscode": ClientFormat(title="VS Code", place=".vscode/mcp.json in the project", stdio=_CODE, http=_CODE_HTTP),
    "zed": ClientFormat(title="Zed", place="~/.config/zed/settings.json", stdio=_ZED, http=_ZED_HTTP),
}
