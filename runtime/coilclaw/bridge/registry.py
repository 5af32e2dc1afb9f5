"""The registry: an immutable snapshot of all tools."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from coilclaw.sdk import Diagnostic
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.sdk import Quarantined, Tool

__all__ = ["Registry", "build_registry"]


class Registry(Frozen):
    """One generation of tools. A run keeps the one it started with; a reload makes another."""

    generation: int
    tools: Mapping[str, Tool]
    diagnostics: tuple[Diagnostic, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Other names of tools: those a contract gives, and `integration.action` for `integration.resource.action`.

        A name that could mean more than one tool means none.
        """
        names = [
            (alias, tool_id)
            for tool_id, tool in self.tools.items()
            for alias in dict.fromkeys((*tool.aliases, f"{tool_id.split('.')[0]}.{tool_id.split('.')[-1]}"))
            if alias != tool_id
        ]
        meant = Counter(alias for alias, _ in names)
        return MappingProxyType(
            {alias: tool_id for alias, tool_id in names if meant[alias] == 1 and alias not in self.tools}
        )

    def resolve(self, name: str) -> Tool | None:
        """The tool of this id or short alias."""
        tool = self.tools.get(name)
        if tool is None and (tool_id := self.aliases.get(name)):
            tool = self.tools[tool_id]
        return tool

    def suggestion(self, name: str) -> str | None:
        """What to say after 'no such tool': the nearest names, or what there is at all."""
        for held in self.quarantined:
            if name.split(".", 1)[0] == held.integration:
                return f"{held.name} waits for a person's trust: {held.command}"
        known = [*self.tools, *self.aliases]
        nearest: dict[str, str] = {}  # One name for each tool.
        for each in difflib.get_close_matches(name[:200], known, n=6, cutoff=0.65):
            nearest.setdefault(self.aliases.get(each, each), each)
        near = list(nearest.values())[:3]
        if not near:
            action = name.rsplit(".", 1)[-1][:100]
            near = [tool_id for tool_id in self.tools if tool_id.rsplit(".", 1)[-1] == action][:3]
        if near:
            return "did you mean " + " or ".join(f"tools.{each}" for each in near) + "?"
        if not known:
            return "this registry has no tools"
        integrations = sorted({tool.integration for tool in self.tools.values()})
        return f"there are tools of: {', '.join(integrations[:20])}"


def build_registry(
    groups: Sequence[tuple[Iterable[Tool], Iterable[Diagnostic]]],
    *,
    generation: int = 1,
    quarantined: tuple[Quarantined, ...] = (),
    own: Callable[[Callable[[], Registry]], Iterable[Tool]] | None = None,
) -> Registry:
    """Put tools together. Earlier groups win over later ones; within a group an id that stands twice names nothing.

    `own` makes the tools that speak of this very registry (`registry_tools`). They come before all groups.
    """
    tools: dict[str, Tool] = {}
    diagnostics: list[Diagnostic] = []
    made: list[Registry] = []
    for group, problems in [(own(lambda: made[0]) if own else (), ()), *groups]:
        diagnostics.extend(problems)
        members = list(group)
        places: dict[str, list[Tool]] = {}
        for tool in members:
            places.setdefault(tool.id, []).append(tool)
        for tool_id, found in places.items():
            winner = [tools[tool_id]] if tool_id in tools else []
            if not winner and len(found) == 1:
                tools[tool_id] = found[0] if found[0].source_digest else found[0].with_source()
                continue
            # One line for all of them: it names every place, whichever file a reader has in mind.
            places_of_others = ", ".join(f"{each.file}:{each.line}" for each in (*winner, *found[1:]))
            diagnostics.append(
                Diagnostic(
                    file=found[0].file,
                    line=found[0].line,
                    message=f"the id {tool_id!r} is also defined in {places_of_others}",
                    hint="rename one of them; until then "
                    + ("the other one is used" if winner else "neither can be called"),
                )
            )
    registry = Registry(
        generation=generation,
        tools=MappingProxyType(dict(sorted(tools.items()))),
        diagnostics=tuple(diagnostics),
        quarantined=quarantined,
    )
    if lost := _lost_aliases(registry):
        registry = replace(registry, diagnostics=(*registry.diagnostics, *lost))
    made.append(registry)
    return registry


def _lost_aliases(registry: Registry) -> list[Diagnostic]:
    """An alias that several tools claim names none of them, which their authors are told."""
    claims: dict[str, list[Tool]] = {}
    for tool in registry.tools.values():
        for alias in dict.fromkeys(tool.aliases):
            claims.setdefault(alias, []).append(tool)
    return [
        Diagnostic(
            file=tool.file,
            line=tool.line,
            message=f"the alias {alias!r} of {tool.id!r} is also one of {other.id!r}",
            hint="rename one of them; until then it names neither",
        )
        for alias, tools in claims.items()
        for tool, other in zip(tools, [*tools[1:], tools[0]], strict=True)
        if len(tools) > 1
    ]
