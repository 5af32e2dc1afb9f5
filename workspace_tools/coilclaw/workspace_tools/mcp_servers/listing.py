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

__all__ = ["Listing", "OfferedTool", "read_listing", "write_listing"]

_FORMAT: Final = 1
_MOST_BYTES: Final = 8 * 1024 * 1024
MOST_TOOLS: Final = 500


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

    @property
    def digest(self) -> str:
        text = json.dumps(self.__dict__, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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
    texts = (tool.name, tool.description)
    facts = (tool.read_only, tool.destructive, tool.idempotent)
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(fact, bool) for fact in facts):
        raise TypeError
    return tool


def write_listing(file: Path, listing: Iterable[OfferedTool]) -> None:
    """Keep a listing, whole or not at all. That it cannot be kept is no reason to do without the server."""
    text = json.dumps({"format": _FORMAT, "tools": [tool.__dict__ for tool in listing]})
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix=".new-", dir=file.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as copy:
                copy.write(text)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
