"""Names of tools as services allow them: letters, digits, `_` and `-`, where ours have dots."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from coilclaw.providers.chat import ToolSchema

__all__ = ["ToolNames", "allowed"]

_NOT_ALLOWED: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST: Final = 64


def allowed(name: str, longest: int = _LONGEST) -> str:
    """Return a name or id with every character replaced that services do not allow."""
    return _NOT_ALLOWED.sub("_", name)[:longest] or "_"


class ToolNames:
    """The names of one request's tools, on the wire and here. Names that are allowed stay as they are."""

    def __init__(self, tools: Iterable[ToolSchema]) -> None:
        names = list(dict.fromkeys(tool.name for tool in tools))
        self._on_wire = {name: name for name in names if allowed(name) == name}
        taken = set(self._on_wire)
        for name in names:
            if name not in self._on_wire:
                self._on_wire[name] = found = _free(allowed(name), taken)
                taken.add(found)
        self._own = {wire: name for name, wire in self._on_wire.items()}

    def on_wire(self, name: str) -> str:
        """Also of a tool that an earlier request had."""
        return self._on_wire.get(name) or allowed(name)

    def own(self, name: str) -> str:
        """Our name of what a model asks for; a name that nobody gave it stays as it is."""
        return self._own.get(name, name)


def _free(name: str, taken: set[str]) -> str:
    number = 2
    found = name
    while found in taken:
        found, number = f"{name[: _LONGEST - 5]}_{number}", number + 1
    return found
