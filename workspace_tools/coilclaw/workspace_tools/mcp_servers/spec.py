"""Which server, and how it is reached."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from coilclaw.sdk.credential_shapes import is_secret_variable, without_credentials

__all__ = ["ServerSpec", "Unreachable"]

_SHORTEST_SECRET: Final = 6


@dataclass(frozen=True, kw_only=True)
class ServerSpec:
    """One server: a command to start, or a URL. `seconds` bounds starting it, and each call."""

    name: str
    command: tuple[str, ...] | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str | None = None
    seconds: float = 30.0

    @property
    def key(self) -> str:
        """Names what is remembered about the server. The values in `env` are left out: some are secrets."""
        facts = [self.name, list(self.command or ()), sorted(self.env), self.url]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:24]

    @property
    def place(self) -> str:
        """Where a person finds it."""
        return f"[integrations.mcp.{self.name}]"

    def without_secrets(self, text: str) -> str:
        """The text without values of `env` that are secrets by their name, and what looks like a credential."""
        for name, value in self.env.items():
            if len(value) >= _SHORTEST_SECRET and is_secret_variable(name, of_program=True):
                text = text.replace(value, f"[secret {name}]")
        return without_credentials(text)


class Unreachable(Exception):
    """The server could not be started, or did not speak the protocol in time. The message says which."""
