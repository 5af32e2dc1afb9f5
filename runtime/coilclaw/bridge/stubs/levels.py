"""All tools of a registry within a budget: as much about each as fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from coilclaw.bridge.registry import Registry
from coilclaw.bridge.stubs.functions import brief_line, function_stub, short_stub
from coilclaw.bridge.stubs.spelling import Types
from coilclaw.bridge.stubs.text import words
from coilclaw.policy import Policy
from coilclaw.sdk import Tool
from coilclaw.sdk.tokens import estimated_tokens

__all__ = ["GUEST_PYTHON", "Level", "Stubs", "registry_stubs"]

Level: TypeAlias = Literal["full", "short", "names", "summary", "none"]

GUEST_PYTHON: Final = "3.14"
"""The version of Python in the guest of the wasm engine."""

_HEADER: Final = """\
# Python {python} in a sandbox: no files, network, packages, threads or input(); only `tools` reaches outside.
# The last expression is the snippet's value; display(x) shows text, a list of records or an image.
# Ok, Err and ToolCallError are there. A call returns a Result:
#     match tools.x.y(a=1):
#         case Ok(value): print(value["name"])
#         case Err(error): print(error.code, error.message)  # invalid_input, denied, timeout, tool_crashed, …
# or tools.x.y(a=1).unwrap(), which raises ToolCallError. In parallel:
#     import asyncio; results = await asyncio.gather(*[tools.x.y.start(a=a) for a in many])
# Behind a signature: its risk (none: it only reads) and what policy says (nothing: allowed).
"""
_SHORT_HEADER: Final = "# A call in a snippet returns Ok(value) or Err(code, message, hint): tools.x.y(a=1).unwrap()\n"
_STEPS: Final[tuple[tuple[Level, Level], ...]] = (("full", "full"), ("full", "short"), ("full", "names"))
_NAMES_IN_A_SUMMARY: Final = (1000, 300, 80, 0)


@dataclass(frozen=True)
class Stubs:
    """Python source for a prompt, an estimate of what it costs, and the least that it tells of any tool."""

    text: str
    tokens: int
    level: Level


def registry_stubs(
    registry: Registry, *, budget_tokens: int | None = None, policy: Policy | None = None, python: str = GUEST_PYTHON
) -> Stubs:
    """Stubs of all tools: in full if that fits; else shorter, but always valid Python, and never over the budget.

    Tools are shortened one by one, those first that are least likely to be needed: the tools of the integrations that
    have most of them, the longest stubs first. Each shorter form says how to learn more. A budget that has no room
    even for that gets nothing. `python` is the version that runs the snippets.
    """
    drawing = _Drawing(registry, policy, python, budget_tokens)
    for better, worse in _STEPS:
        if (text := drawing.with_least_worse(better, worse)) is not None:
            return Stubs(text, estimated_tokens(text), worse)
    bare: list[tuple[Level, Callable[[], str | None]]] = [
        ("names", lambda: _bare_names(registry, budget_tokens)),
        *(("summary", partial(_summary, registry, room)) for room in _NAMES_IN_A_SUMMARY),
        ("summary", lambda: _counts(registry, budget_tokens)),
    ]
    for level, form in bare:
        text = form()
        if text is not None and (tokens := estimated_tokens(text)) <= (budget_tokens or 0):
            return Stubs(text, tokens, level)
    return Stubs("", 0, "none")


class _Drawing:
    """Draws the tools of a registry, each in one of the forms `full`, `short` and `names`."""

    def __init__(self, registry: Registry, policy: Policy | None, python: str, budget: int | None) -> None:
        self._registry = registry
        self._policy = policy
        self._python = python
        self._budget = budget

    def with_least_worse(self, better: Level, worse: Level) -> str | None:
        """The text with as few tools in the worse form as the budget allows; None if even all of them are too much."""
        ids = list(self._registry.tools)
        smallest = self._fitting(dict.fromkeys(ids, worse))
        if smallest is None or better == worse:
            return smallest
        order = self._least_needed_first()
        low, high = 1, len(order)  # With so many in the worse form it may fit; with so many it does.
        while low < high:
            middle = (low + high) // 2
            shortened = set(order[:middle])
            text = self._fitting({each: worse if each in shortened else better for each in ids})
            if text is None:
                low = middle + 1
            else:
                smallest, high = text, middle
        return smallest

    def _least_needed_first(self) -> list[str]:
        sizes = {name: len(tools) for name, tools in _by_integration(self._registry).items()}
        lengths = {
            tool.id: len(function_stub(tool, Types(in_place=True, brief=True), self._policy))
            for tool in self._registry.tools.values()
        }
        tools = self._registry.tools
        return sorted(tools, key=lambda each: (-sizes[tools[each].integration], -lengths[each], each))

    def _fitting(self, forms: Mapping[str, Level]) -> str | None:
        """The text, or None as soon as it cannot fit any more."""
        named, in_place = Types(brief=True), Types(in_place=True, brief=True)
        tree: dict[str, Any] = {}
        lines: list[str] = []
        spent = 0
        for tool in self._registry.tools.values():
            match forms[tool.id]:
                case "full":
                    part = _put(tree, tool, function_stub(tool, named, self._policy))
                case "short":
                    part = _put(tree, tool, short_stub(tool, in_place, self._policy))
                case _:
                    part = f"# {brief_line(tool)}"
                    lines.append(part)
            spent += estimated_tokens(part) if self._budget is not None else 0
            if self._budget is not None and spent > self._budget:
                return None
        named.imported |= in_place.imported
        header = _HEADER.format(python=self._python) if tree or not forms else _SHORT_HEADER
        more = _more(self._registry) if set(forms.values()) - {"full"} else ""
        classes = list(_drawn("tools", tree, 0)) if tree or not lines else []
        text = "\n".join([header + more + "\n".join(named.imports), *named.texts.values(), *classes, *lines, ""])
        return text if self._budget is None or estimated_tokens(text) <= self._budget else None


def _put(tree: dict[str, Any], tool: Tool, stub: str) -> str:
    """Put a tool where it is under `tools`.

    A tool and a folder may share a name: `a.b` beside `a.b.c`. Tools are strings, folders are dicts under
    a name with a dot.
    """
    *folders, action = tool.id.split(".")
    for folder in folders:
        tree = tree.setdefault(f"{folder}.", {})
    tree[action] = stub
    return stub


def _bare_names(registry: Registry, most: int | None) -> str | None:
    lines: list[str] = []
    spent = 0
    for tool in registry.tools.values():
        lines.append(f"# {brief_line(tool, with_description=False)}")
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
