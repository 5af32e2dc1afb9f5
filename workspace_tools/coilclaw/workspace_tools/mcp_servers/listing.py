"""What a server says it offers, bounded, and how that is remembered between processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = ["Listing", "OfferedTool", "read_listing", "write_listing", "write_whole"]

_FORMAT: Final = 2
_MOST_BYTES: Final = 8 * 1024 * 1024
MOST_TOOLS: Final = 500
_TEXTS: Final = frozenset(("$comment", "deprecated", "description", "examples", "title"))
_VALUES: Final = frozenset(("const", "default", "enum", "required"))
_BY_NAME: Final = frozenset(("$defs", "definitions", "dependentSchemas", "patternProperties", "properties"))


@dataclass(frozen=True, kw_only=True)
class OfferedTool:
    """One tool as its server describes it. Nothing here has been checked."""

    name: str
    description: str
    input_schema: Any
    output_schema: Any
    read_only: bool
    destructive: bool
    idempotent: bool
    problem: str | None = None
    """Why the protocol does not allow this tool, if so; nothing but its name is known then."""

    @property
    def digest(self) -> str:
        """Hash of what a call of the tool means. Texts for readers are left out: some servers write the date there."""
        facts = {
            **self.__dict__,
            "description": None,
            "input_schema": _meaning(self.input_schema),
            "output_schema": _meaning(self.output_schema),
        }
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _meaning(schema: Any) -> Any:
    """A schema without what does not change which values fit it."""
    if isinstance(schema, list):
        return [_meaning(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value
        if key in _VALUES
        else {name: _meaning(each) for name, each in value.items()}
        if key in _BY_NAME and isinstance(value, dict)
        else _meaning(value)
        for key, value in schema.items()
        if key not in _TEXTS
    }


Listing: TypeAlias = tuple[OfferedTool, ...]


def read_listing(file: Path) -> Listing | None:
    """The listing kept in a file; None if there is none, or it is not what we write."""
    try:
        if file.stat().st_size > _MOST_BYTES:
            return None
        data = json.loads(file.read_bytes())
        if data["format"] != _FORMAT or not isinstance(data["tools"], list) or len(data["tools"]) > MOST_TOOLS:
            return None
        return tuple(_tool(each) for each in data["tools"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _tool(data: Any) -> OfferedTool:
    tool = OfferedTool(**data)
    texts = (tool.name, tool.description, tool.problem or "")
    facts = (tool.read_only, tool.destructive, tool.idempotent)
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(fact, bool) for fact in facts):
        raise TypeError
    return tool


def write_listing(file: Path, listing: Iterable[OfferedTool]) -> None:
    """Keep a listing, whole or not at all. That it cannot be kept is no reason to do without the server."""
    write_whole(file, json.dumps({"format": _FORMAT, "tools": [tool.__dict__ for tool in listing]}))


def write_whole(file: Path, text: str) -> None:
    """Write a file in one step, or leave it as it was."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix=".new-", dir=file.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as copy:
                copy.write(text)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
