"""All tools of a registry within a budget: as much about each as fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from coilclaw.bridge.registry import Registry
from coilclaw.bridge.stubs.functions import brief_line, function_stub, short_stub
from coilclaw.bridge.stubs.spelling import Types
from coilclaw.bridge.stubs.text import words
from coilclaw.bridge.stubs.tokens import estimated_tokens
from coilclaw.policy import Policy
from coilclaw.sdk import Tool

__all__ = ["Level", "Stubs", "registry_stubs"]

Level: TypeAlias = Literal["full", "short", "names", "summary", "none"]

_HEADER: Final = """\
# The only thing a snippet can reach. A call returns Ok(value) or Err(code, message, hint):
#     result = tools.files.read(path="notes.txt")
#     if result.ok: print(result.value)          # or result.unwrap(), which raises on Err
# In parallel: pending = [tools.x.y.start(...) for ...]; results = [p.result() for p in pending]
#     or: results = await asyncio.gather(*pending)
# Behind a signature stands its risk (nothing: it only reads) and what policy says (nothing: it is allowed).
"""
_SHORT_HEADER: Final = "# A call in a snippet returns Ok(value) or Err(code, message, hint): tools.x.y(a=1).unwrap()\n"
_NAMES_IN_A_SUMMARY: Final = (1000, 300, 80, 0)


@dataclass(frozen=True)
class Stubs:
    """Python source for a prompt, an estimate of what it costs, and how much of the tools it tells."""

    text: str
    tokens: int
    level: Level


def registry_stubs(registry: Registry, *, budget_tokens: int | None = None, policy: Policy | None = None) -> Stubs:
    """Stubs of all tools: in full if that fits; else shorter, but always valid Python, and never over the budget.

    Each shorter form says how to learn more. A budget that has no room even for that gets nothing.
    """
    forms: list[tuple[Level, Callable[[int | None], str | None]]] = [
        ("full", lambda most: _full(registry, policy, most)),
        ("short", lambda most: _short(registry, policy, most)),
        ("names", lambda most: _names(registry, most, with_description=True)),
        ("names", lambda most: _names(registry, most, with_description=False)),
        *(("summary", lambda most, room=room: _summary(registry, room)) for room in _NAMES_IN_A_SUMMARY),
        ("summary", lambda most: _counts(registry, most)),
    ]
    for level, form in forms:
        text = form(budget_tokens)
        if text is None:
            continue
        tokens = estimated_tokens(text)
        if budget_tokens is None or tokens <= budget_tokens:
            return Stubs(text, tokens, level)
    return Stubs("", 0, "none")


def _full(registry: Registry, policy: Policy | None, most: int | None) -> str | None:
    types = Types()
    aliases: dict[str, list[str]] = {}
    for alias, tool_id in registry.aliases.items():
        if alias in registry.tools[tool_id].aliases:
            aliases.setdefault(tool_id, []).append(alias)
    tree = _tree(
        registry, lambda tool: "@staticmethod\n" + function_stub(tool, types, aliases.get(tool.id, ()), policy), most
    )
    return None if tree is None else "\n".join([_HEADER, *types.texts.values(), *_drawn("tools", tree, 0), ""])


def _short(registry: Registry, policy: Policy | None, most: int | None) -> str | None:
    tree = _tree(registry, lambda tool: short_stub(tool, policy), most)
    return None if tree is None else "\n".join([_HEADER + _more(registry), *_drawn("tools", tree, 0), ""])


def _names(registry: Registry, most: int | None, *, with_description: bool) -> str | None:
    lines: list[str] = []
    spent = 0
    for tool in registry.tools.values():
        lines.append(f"# {brief_line(tool, with_description=with_description)}")
        spent += estimated_tokens(lines[-1])
        if most is not None and spent > most:
            return None
    return "\n".join([_SHORT_HEADER + _more(registry), *lines, ""])


def _summary(registry: Registry, room: int) -> str:
    """One line for each integration, with as many of its tools' names as there is room for."""
    lines = []
    for name, tools in _by_integration(registry).items():
        actions = words((tool.id.removeprefix(f"{name}.") for tool in tools), room) if room else ""
        lines.append(f"# tools.{name}: {len(tools)} tools{f': {actions}' if actions else ''}")
    return "\n".join([_SHORT_HEADER + _more(registry), *lines, ""])


def _counts(registry: Registry, most: int | None) -> str:
    """How many tools there are, and of the largest integrations as many as fit."""
    integrations = sorted(_by_integration(registry).items(), key=lambda each: (-len(each[1]), each[0]))
    text = f"# {len(registry.tools)} tools. {_search(registry)}\n"
    for name, tools in integrations:
        longer = f"{text}# tools.{name}: {len(tools)} tools\n"
        if most is not None and estimated_tokens(longer) > most:
            break
        text = longer
    return text


def _by_integration(registry: Registry) -> dict[str, list[Tool]]:
    found: dict[str, list[Tool]] = {}
    for tool in registry.tools.values():
        found.setdefault(tool.integration, []).append(tool)
    return found


def _search(registry: Registry) -> str:
    if "registry.search" in registry.tools:
        return 'Find some: tools.registry.search(query="words")'
    return "Find some: `coilclaw tool list WORDS`"


def _more(registry: Registry) -> str:
    """How to learn what was left out: from inside a snippet, and on the command line."""
    inside = ""
    if "registry.search" in registry.tools and "registry.describe" in registry.tools:
        inside = (
            '# One tool in full: tools.registry.describe(id="x.y").value["stub"]; '
            'tools for a purpose: tools.registry.search(query="words").\n'
        )
    return f"# Shortened.\n{inside}# A person finds them with `coilclaw tool list WORDS` and `coilclaw tool show ID`.\n"


def _tree(registry: Registry, stub: Callable[[Tool], str], most: int | None) -> dict[str, Any] | None:
    """The tools as they are nested under `tools`, or None as soon as they cannot fit any more.

    A tool and a folder may share a name: `a.b` beside `a.b.c`. Tools are strings, folders are dicts under
    a name with a dot.
    """
    tree: dict[str, Any] = {}
    spent = 0
    for tool in registry.tools.values():
        *folders, action = tool.id.split(".")
        place = tree
        for folder in folders:
            place = place.setdefault(f"{folder}.", {})
        place[action] = stub(tool)
        spent += estimated_tokens(place[action])
        if most is not None and spent > most:
            return None
    return tree


def _drawn(name: str, tree: Mapping[str, Any], depth: int) -> Iterator[str]:
    indent = "    " * depth
    yield f"{indent}class {name}:"
    if not tree:
        yield f"{indent}    pass  # There are no tools."
    for key, value in tree.items():
        if isinstance(value, str):
            yield from (f"{indent}    {line}".rstrip() for line in value.split("\n"))
        else:
            yield from _drawn(key.removesuffix("."), value, depth + 1)
