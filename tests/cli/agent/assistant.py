"""A home whose model says what a test tells it to say."""

from __future__ import annotations

import json
from typing import Any

from tests.cli.conftest import Command, Done

__all__ = ["Assistant"]


class Assistant:
    """A fresh home whose model gives the replies of a fixture."""

    def __init__(self, coilclaw: Command) -> None:
        self.coilclaw = coilclaw
        assert coilclaw("init").code == 0

    def replies(self, *replies: dict[str, Any]) -> None:
        (self.coilclaw.home / "replies.json").write_text(json.dumps({"replies": replies}))
        config = self.coilclaw.home / "config.toml"
        line = 'fixture = "replies.json"\n'
        text = config.read_text()
        if line not in text:
            config.write_text(text.replace('kind = "mock"\nmodel = "mock"\n', f'kind = "mock"\nmodel = "mock"\n{line}'))

    def says(self, message: str, *options: str) -> Done:
        return self.coilclaw("agent", "-m", message, *options)

    def receipts(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.coilclaw("receipt", "list", "--limit", "1000", "--json").json
        return found

    def config(self, old: str, new: str) -> None:
        """Change the configuration that `init` wrote."""
        path = self.coilclaw.home / "config.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def turns(self, conversation: str) -> list[tuple[str, str]]:
        """The roles and the texts of a conversation."""
        shown = self.coilclaw("memory", "show", conversation, "--json").json
        return [(turn["role"], turn["content"]) for turn in shown["turns"]]
