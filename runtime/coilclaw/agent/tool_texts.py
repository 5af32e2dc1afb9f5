"""What a prompt says about tools, kept between processes: drawing it anew takes longer than a short exchange.

The file is a copy of what the tools themselves say, and is used for exactly the tools, the policy and the budget it was
made for. No call goes by it: a call is checked against the tool's own contract.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from coilclaw.providers import ToolSchema
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.private_file import PrivateFile, replace_file
from coilclaw.sdk.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from coilclaw.sdk import Tool

__all__ = ["ToolTextFile", "ToolTexts", "key_of"]

_LARGEST_FILE: Final = 8 * 1024 * 1024


class ToolTexts(Frozen):
    """The stubs of tools, and a schema for a direct call of each; None if those would take too much of the budget."""

    stubs: str
    listed: tuple[ToolSchema, ...] | None


def key_of(tools: Iterable[Tool], *facts: object) -> str:
    """A digest of everything that the texts are made from: the tools' contracts and sources, and the facts."""
    contracts = [
        (
            tool.id,
            tool.risk.value,
            tool.default_decision.value if tool.default_decision else None,
            tool.description,
            tool.aliases,
            [dict(each) for each in tool.examples],
            tool.source_digest,
        )
        for tool in tools
    ]
    return sha256(json.dumps([VERSION, facts, contracts], default=str).encode()).hexdigest()


class ToolTextFile:
    """The texts that were used last in a home."""

    def __init__(self, home: Path) -> None:
        self._path = home / "tool-texts.json"
        self._file = PrivateFile(self._path, most_bytes=_LARGEST_FILE, remedy="it is made again by itself")

    def read(self, key: str) -> ToolTexts | None:
        """The texts for this key, if they are there and nobody else could have written them."""
        try:
            found: Any = json.loads(self._file.read() or b"null")
            if found is None or found["key"] != key:
                return None
            listed = found["listed"]
            made = None if listed is None else tuple(ToolSchema(**each) for each in listed)
            return ToolTexts(stubs=str(found["stubs"]), listed=made)
        except (OperatorError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def write(self, key: str, texts: ToolTexts) -> None:
        """Keep texts in place of those before. What cannot be kept is drawn again."""
        listed = None if texts.listed is None else [asdict(each) for each in texts.listed]
        with suppress(OSError, TypeError, ValueError):
            replace_file(self._path, json.dumps({"key": key, "stubs": texts.stubs, "listed": listed}).encode())
