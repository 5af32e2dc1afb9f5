"""Which values of the configuration may be shown. Every other one may hold a secret and is hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

__all__ = ["HIDDEN", "disclosed", "is_harmless"]

HIDDEN: Final = "[hidden]"

_HARMLESS: Final = frozenset(
    {
        "workspace_dir",
        "security.autonomy",
        "security.forbidden_paths",
        "security.forbidden_commands",
        "security.shell_allow",
        "security.http_domains",
        "security.http_private",
        "gateway.host",
        "sandbox.engine",
        "sandbox.restricted.require",
        "sandbox.restricted.off",
        "receipts.path",
        "receipts.key_path",
        "default_provider",
        "default_model",
        "channels.cli.tools_allow",
        "channels.gateway.tools_allow",
        "memory.backend",
        "memory.path",
        "mcp_server.direct_tools",
        "mcp_server.elicitation",
    }
)
"""Keys of texts that are known to hold no secret. A new key is hidden until it stands here."""

_FOREIGN: Final = ("integrations.", "policy.")
"""Tables whose keys other people choose, so that even a number in them may be a secret."""

_PROGRAM: Final = re.compile(r"[\w./~+-]{1,200}")
_PROVIDER_WORDS: Final = frozenset(
    {"kind", "model", "api_key_env", "profile", "fixture", "providers", "routes", "default"}
)
_RULE_WORDS: Final = frozenset({"tool", "decision", "risk", "channel", "reason"})


def disclosed(key: str, value: Any) -> Any:
    """Return the value of a key as it may be shown."""
    if value is None or value in ("", [], {}) or is_harmless(key):
        return value
    if isinstance(value, bool | int | float) and not key.startswith(_FOREIGN):
        return value
    if key == "policy.rules" and isinstance(value, list):
        return [_rule(rule) for rule in value]
    if key.startswith("providers.models."):
        return _provider(key.split(".")[3:], value)
    if key.startswith("integrations."):
        return _integration(key.split("."), value)
    return _hidden(value)


def is_harmless(key: str) -> bool:
    """Whether the value of a key, or of a place in its list, can be repeated to anybody."""
    return key in _HARMLESS or re.sub(r"\.\d+$", "", key) in _HARMLESS


def _integration(parts: list[str], value: Any) -> Any:
    """An integration's server and a server's program say what is configured; all else may be a credential."""
    is_server = parts[1] == "mcp"
    name = parts[-1] if len(parts) == (4 if is_server else 3) else ""
    if name == "url" and isinstance(value, str):
        return _origin(value)
    if is_server and name == "seconds" and isinstance(value, float):
        return value
    if is_server and name == "command" and isinstance(value, list):
        program = value[0] if isinstance(value[0], str) and _PROGRAM.fullmatch(value[0]) else HIDDEN
        return [program, *(HIDDEN for _ in value[1:])]
    return _hidden(value)


def _provider(parts: list[str], value: Any) -> Any:
    """A model service's address is shown without what may be a credential; a reference to a key is none."""
    if parts == ["base_url"] and isinstance(value, str):
        return _origin(value)
    return value if parts and parts[0] in _PROVIDER_WORDS else _hidden(value)


def _rule(rule: Any) -> Any:
    if not isinstance(rule, dict):
        return HIDDEN
    return {key: value if key in _RULE_WORDS else _hidden(value) for key, value in rule.items()}


def _origin(url: str) -> str:
    """The server alone: names, passwords, paths and queries of a URL have all been used for credentials."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return HIDDEN
    if parts.scheme not in ("http", "https") or not host or not re.fullmatch(r"[\w.:-]+", host):
        return HIDDEN
    shown = f"[{host}]" if ":" in host else host
    origin = f"{parts.scheme}://{shown}" + (f":{port}" if port is not None else "")
    return origin if url in (origin, f"{origin}/") else f"{origin}/{HIDDEN}"


def _hidden(value: Any) -> Any:
    """The shape without the values."""
    if isinstance(value, Mapping):
        return {key: _hidden(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(each) for each in value]
    return value if value is None else HIDDEN
