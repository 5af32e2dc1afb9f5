"""The tools of a conversation as a model is shown them, and what its requests mean."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from coilclaw.agent.tool_texts import ToolTexts, key_of
from coilclaw.bridge import allowed_tools, first_sentence, registry_stubs, search_tools, tool_schemas
from coilclaw.providers import ToolSchema
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.tokens import estimated_tokens

if TYPE_CHECKING:
    from coilclaw.agent.tool_texts import ToolTextFile
    from coilclaw.bridge import Registry
    from coilclaw.policy import Policy
    from coilclaw.providers import ToolRequest
    from coilclaw.sdk import Tool

__all__ = [
    "FIND_TOOLS",
    "RUN_PYTHON",
    "DirectCall",
    "FindTools",
    "Meaning",
    "Misunderstood",
    "SnippetCode",
    "Toolset",
]

RUN_PYTHON: Final = ToolSchema(
    name="run_python",
    description=(
        "Run Python in the sandbox and get its last expression, its output and what its calls did. "
        "`tools` has every tool; use it for anything that takes more than one call."
    ),
    input_schema={
        "type": "object",
        "properties": {"code": {"type": "string", "description": "Python source."}},
        "required": ["code"],
        "additionalProperties": False,
    },
)
FIND_TOOLS: Final = ToolSchema(
    name="find_tools",
    description="Find tools by words. Those found can be called directly from then on, and in run_python.",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "A few words about what the tool should do."}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST_FOUND: Final = 8
_LONGEST_DESCRIPTION: Final = 300
_CATALOGUE: Final = "registry"
"""The integration with which snippets look into their registry; `find_tools` is the same for direct calls."""


class SnippetCode(Frozen):
    """A snippet to run."""

    code: str


class DirectCall(Frozen):
    """One call of a tool. The name is the model's: whether there is such a tool, admission says."""

    tool: str
    arguments: Mapping[str, Any]


class FindTools(Frozen):
    """A search in the catalogue. Nothing is called."""

    query: str


class Misunderstood(Frozen):
    """A request that cannot be carried out as it is."""

    problem: str


Meaning: TypeAlias = SnippetCode | DirectCall | FindTools | Misunderstood


class Toolset:
    """The tools of one registry that a conversation may call."""

    def __init__(
        self,
        registry: Registry,
        allowed: Sequence[str] | None,
        policy: Policy,
        *,
        tokens: int,
        python: str,
        kept: ToolTextFile | None = None,
    ) -> None:
        """What a prompt says about the tools is looked for in `kept` before it is drawn."""
        self._whole = registry
        self._policy = policy
        self._tokens = tokens
        self._python = python
        self._kept = kept
        ids = registry.tools.keys() if allowed is None else allowed_tools(registry, allowed)
        tools = {tool_id: tool for tool_id, tool in registry.tools.items() if tool_id in ids}
        self.registry = replace(registry, tools=MappingProxyType(tools))

    def is_of(self, registry: Registry) -> bool:
        """Whether this was made from that very registry."""
        return self._whole is registry

    @property
    def stubs(self) -> str:
        """Typed Python stubs, within the budget."""
        return self._texts.stubs

    @cached_property
    def _texts(self) -> ToolTexts:
        tools = self.registry.tools.values()
        key = key_of(tools, self._tokens, self._python, self._policy.digest)
        if self._kept is not None and (found := self._kept.read(key)) is not None:
            return found
        made = ToolTexts(
            stubs=registry_stubs(
                self.registry, budget_tokens=self._tokens, policy=self._policy, python=self._python
            ).text,
            listed=self._drawn(),
        )
        if self._kept is not None:
            self._kept.write(key, made)
        return made

    def schemas(self, found: Iterable[str] = ()) -> tuple[ToolSchema, ...]:
        """What a request advertises. `found` are ids that the model has searched for; they come last, in their order,
        so that what stood before them stays the same."""
        if (listed := self._texts.listed) is not None:
            return (RUN_PYTHON, *listed)
        known = (self.registry.tools.get(tool_id) for tool_id in dict.fromkeys(found))
        return (RUN_PYTHON, FIND_TOOLS, *(_schema(tool) for tool in known if tool is not None and _is_callable(tool)))

    def _drawn(self) -> tuple[ToolSchema, ...] | None:
        """Every tool for a direct call; None if that would take more than half of the budget."""
        made = tuple(_schema(tool) for tool in self.registry.tools.values() if _is_callable(tool))
        total = 0
        for schema in made:
            total += estimated_tokens(f"{schema.name} {schema.description} {json.dumps(schema.input_schema)}")
            if total > self._tokens // 2:
                return None
        return made

    def search(self, query: str) -> list[Tool]:
        """The tools that fit some words, best first."""
        return [match.tool for match in search_tools(self.registry, query)][:_MOST_FOUND]

    def meaning(self, request: ToolRequest) -> Meaning:
        """What a model asks for."""
        if request.problem is not None:
            return Misunderstood(problem=f"the arguments could not be read: {request.problem}")
        if request.name == RUN_PYTHON.name:
            return _text_argument(request, "code", lambda code: SnippetCode(code=code))
        if request.name == FIND_TOOLS.name:
            return _text_argument(request, "query", lambda query: FindTools(query=query))
        return DirectCall(tool=self._tool_name(request.name), arguments=request.arguments)

    def _tool_name(self, name: str) -> str:
        """The id behind the name that a schema had; a name that is none of these stays as it is."""
        plain = name.removeprefix("tools.")
        for each in (plain, plain.replace("__", ".")):
            if (tool := self._whole.resolve(each)) is not None:
                return tool.id
        return plain


def _text_argument(request: ToolRequest, name: str, make: Any) -> Meaning:
    value = request.arguments.get(name)
    if isinstance(value, str) and len(request.arguments) == 1:
        made: Meaning = make(value)
        return made
    return Misunderstood(problem=f"{request.name} takes one argument, {name!r}, which is text")


def _schema(tool: Tool) -> ToolSchema:
    risk = "" if tool.risk.value == "read" else f" [{tool.risk.value}]"
    return ToolSchema(
        name=_direct_name(tool),
        description=first_sentence(tool.description, _LONGEST_DESCRIPTION) + risk,
        input_schema=tool_schemas(tool)[0] or {"type": "object"},
    )


def _direct_name(tool: Tool) -> str:
    return tool.id.replace(".", "__")


def _is_callable(tool: Tool) -> bool:
    return tool.integration != _CATALOGUE and _NAME.fullmatch(_direct_name(tool)) is not None
