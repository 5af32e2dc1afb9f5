"""The tools of an app, for whoever shows or chooses them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from coilclaw.app.arguments import check, given_arguments
from coilclaw.app.errors import BadArgument

if TYPE_CHECKING:
    from pydantic import ValidationError

    from coilclaw.app.composition import Composition
    from coilclaw.bridge import Registry, Stubs
    from coilclaw.policy import Explanation, Policy, Window
    from coilclaw.sdk import Forbid, Judged, Raised, Risk, Tool
    from coilclaw.workspace_tools import Change, Watch

__all__ = ["Tools"]

_MOST_PROBLEMS: Final = 5


class Tools:
    """What can be called. A run keeps the registry it began with; the next one sees what was loaded since."""

    def __init__(self, parts: Composition) -> None:
        self._parts = parts

    @property
    def registry(self) -> Registry:
        return self._parts.toolbox().registry

    @property
    def policy(self) -> Policy:
        return self._parts.policy

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.registry.tools.values())

    def get(self, name: str) -> Tool | None:
        """The tool of this id or alias."""
        check(tool=name)
        return self.registry.resolve(name.removeprefix("tools."))

    def _named(self, tool: Tool | str) -> Tool:
        """A tool that is given itself, or by its id or alias. Raises BadArgument if there is none of that name."""
        from coilclaw.sdk import Tool

        found = tool if isinstance(tool, Tool) else self.get(tool)
        if found is None:
            raise BadArgument(f"there is no tool {tool!r}", hint=self.registry.suggestion(str(tool)))
        return found

    def search(self, query: str) -> list[Tool]:
        """The tools that fit the words of a query, best first."""
        from coilclaw.bridge import search_tools

        check(query=query)
        return [match.tool for match in search_tools(self.registry, query)]

    def stubs(self, budget_tokens: int | None = None) -> Stubs:
        """Typed Python stubs for a model's prompt; with a budget, less is said about each tool until they fit."""
        from coilclaw.bridge import registry_stubs

        check(budget_tokens=budget_tokens)
        return registry_stubs(self.registry, budget_tokens=budget_tokens, policy=self.policy, python=self.python)

    @property
    def python(self) -> str:
        """The version of Python that runs snippets."""
        from coilclaw.bridge import GUEST_PYTHON

        native = self._parts.settings.config.sandbox.engine == "restricted"
        return f"{sys.version_info.major}.{sys.version_info.minor}" if native else GUEST_PYTHON

    @property
    def own(self) -> Sequence[Tool]:
        """The tools that come from files of the workspace."""
        return self._parts.toolbox().workspace.tools

    @property
    def loaded(self) -> Change:
        """What the last look at the workspace's tool files brought."""
        return self._parts.toolbox().last_change

    def watch(self, changed: Callable[[Change, Registry], None]) -> Watch:
        """Keep looking at the tool files while this is entered; `changed` is told of every new registry."""
        return self._parts.toolbox().watch(changed)

    def reload(self, *, force: bool = True) -> Change:
        """Load the workspace's tool files again: all of them, or with `force=False` those that changed."""
        return self._parts.toolbox().refresh(force=force)

    def has_secret(self, name: str) -> bool:
        """Whether a tool that needs this secret would get it."""
        check(name=name)
        return self._parts.secrets.has(name)

    def aliases(self, tool: Tool) -> list[str]:
        """The other names by which a tool can be called."""
        return [alias for alias, tool_id in self.registry.aliases.items() if tool_id == tool.id]

    def facts(self, tool: Tool | str) -> dict[str, Any]:
        """A contract, what policy says about it, and which secrets are there, as JSON data. Never a secret's value."""
        from coilclaw.bridge import example_calls, tool_schemas

        tool = self._named(tool)
        verdict = self.policy.decide(tool, tool.risk)
        input_schema, output_schema = tool_schemas(tool)
        return {
            "id": tool.id,
            "aliases": self.aliases(tool),
            "risk": tool.risk.value,
            "description": tool.description,
            "policy": verdict.decision.value,
            "reason": verdict.reason,
            "version": tool.version,
            "input_schema": input_schema,
            "output_schema": output_schema,
            "timeout_seconds": tool.timeout_seconds,
            "idempotent": tool.idempotent,
            "hosts": list(tool.hosts),
            "secrets": list(tool.secrets),
            "optional_secrets": list(tool.optional_secrets),
            "missing_secrets": [name for name in tool.secrets if not self.has_secret(name)],
            "examples": [dict(example) for example in tool.examples],
            "calls": example_calls(tool),
            "file": tool.file,
            "line": tool.line,
        }

    def explain(
        self, tool: Tool | str, arguments: Mapping[str, Any] | None = None, *, channel: str = "app"
    ) -> Explanation:
        """What has a say about a call, and what decides. Nothing is called, though the tool may classify arguments.

        Raises BadArgument if the tool does not take these arguments.
        """
        check(channel=channel)
        tool = self._named(tool)
        if arguments is None:
            return self.policy.explain(tool, tool.risk, channel=channel)
        from pydantic import ValidationError
        from pydantic_core import to_json

        from coilclaw.sdk import Raised
        from coilclaw.sdk.typed_arguments import Unfit, in_schema_form

        try:
            arguments = in_schema_form(dict(given_arguments(arguments)), tool.input_schema)
            input = tool.input.__pydantic_validator__.validate_json(to_json(arguments), strict=True, extra="forbid")
        except ValidationError as error:
            raise BadArgument(f"{tool.id}: {_problems(error)}") from None
        except Unfit as error:
            raise BadArgument(f"{tool.id}: {error}") from None
        judged = self._judged(tool, input)
        why = judged.reason if isinstance(judged, Raised) else ""
        return self.policy.explain(tool, _risk(judged), arguments, channel, input=input, raised_because=why)

    def classified(self, tool: Tool, input: Any) -> Risk | Forbid:
        """How risky the tool itself says that a call with this input is."""
        return _risk(self._judged(tool, input))

    def _judged(self, tool: Tool, input: Any) -> Risk | Raised | Judged | Forbid:
        from coilclaw.app.services import make_bounds
        from coilclaw.net import GuardedNetwork
        from coilclaw.policy import judge
        from coilclaw.sdk import ToolContext

        settings = self._parts.settings
        context = ToolContext(
            workspace=settings.config.workspace_dir.resolve(),
            tool_id=tool.id,
            hosts=tool.hosts,
            bounds=make_bounds(settings),
            settings=settings.config.integrations.settings_of(tool.integration),
            network=GuardedNetwork,
        )
        return judge(tool, input, context)

    def window_for(self, tool: Tool | str, arguments: Mapping[str, Any] | None = None) -> Window | None:
        """The window that would let a call through; without arguments, one that lets some calls of the tool through."""
        if not self._parts.settings.config.receipts.path.exists():
            return None
        from coilclaw.policy import CallOfTool

        tool = self._named(tool)
        call = CallOfTool(tool.id, tool.version, self.policy.digest)
        workspace = str(self._parts.settings.config.workspace_dir.resolve())
        found = self._parts.stores.approvals.windows()
        return next(
            (
                each
                for each in found
                if each.covers(call, workspace, each.arguments if arguments is None else arguments)
            ),
            None,
        )


def _risk(judged: Risk | Raised | Judged | Forbid) -> Risk | Forbid:
    from coilclaw.sdk import Judged, Raised, Risk

    return Risk(judged.risk) if isinstance(judged, Judged | Raised) else judged


def _problems(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False, include_context=False)[:_MOST_PROBLEMS]
    return "; ".join(": ".join(filter(None, (".".join(map(str, each["loc"])), each["msg"]))) for each in problems)
