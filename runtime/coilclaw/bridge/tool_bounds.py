"""Which tools a list of names and patterns allows, such as `tools_allow` of a channel."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from coilclaw.bridge.registry import Registry

__all__ = ["allowed_tools"]

_WILD: Final = frozenset("*?[")


def allowed_tools(registry: Registry, entries: Iterable[str]) -> frozenset[str]:
    """Return the ids of the tools that the entries name: by id, by alias, or by a pattern such as `crm.*`.

    A name means what it means in a call: an alias that several tools claim allows none of them.
    """
    names = {**registry.aliases, **{tool_id: tool_id for tool_id in registry.tools}}
    found: set[str] = set()
    for entry in entries:
        name = entry.removeprefix("tools.")
        if not _WILD.isdisjoint(name):
            found.update(tool_id for known, tool_id in names.items() if fnmatchcase(known, name))
        elif name in names:
            found.add(names[name])
    return frozenset(found)
