"""The contract of one tool: the only thing that makes something callable."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from keyword import iskeyword
from typing import Any, TypeAlias

from pydantic import BaseModel, TypeAdapter

from coilclaw.sdk.risk import Decision, Forbid, Judged, Risk

__all__ = ["Classifier", "Handler", "Tool", "problem_with_id"]

Handler: TypeAlias = Callable[..., Any] | Callable[..., Awaitable[Any]]
Classifier: TypeAlias = Callable[[Any, Any], Risk | str | Judged | Forbid | None]

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*){1,2}")


def problem_with_id(tool_id: str) -> str | None:
    """Why this id cannot name a tool, or None when it can."""
    if not _ID.fullmatch(tool_id):
        return (
            f"{tool_id!r} is not of the form integration.action or integration.resource.action "
            "(letters, digits and underscores, each part starting with a letter)"
        )
    for part in tool_id.split("."):
        if iskeyword(part):
            return f"{part!r} is a Python keyword, so tools.{tool_id}(...) could not be written"
    if tool_id.rsplit(".", 1)[1] == "start":
        return "an action cannot be named 'start': tools.<id>.start(...) begins a parallel call"
    return None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A contract and its handler, frozen when the module that defines it is loaded.

    Calling a `Tool` calls its handler directly, which is what a unit test wants; nothing is
    validated, decided or recorded on that way. Runs never take it.
    """

    id: str
    risk: Risk
    input: type[BaseModel]
    output: TypeAdapter[Any] = field(repr=False)
    handler: Handler = field(repr=False)
    description: str = ""
    takes_model: bool = False
    is_async: bool = False
    default_decision: Decision | None = None
    timeout_seconds: float | None = None
    idempotent: bool = False
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    optional_secrets: tuple[str, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ()
    summary: str | None = None
    aliases: tuple[str, ...] = ()
    classify: Classifier | None = field(default=None, repr=False)
    file: str = ""
    line: int = 0
    source_digest: str = ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.handler(*args, **kwargs)

    def unknown_argument(self, name: str) -> str:
        """What to say of an argument that this tool does not have."""
        import difflib

        near = difflib.get_close_matches(name[:100], self.parameters, n=1)
        return f"it has no argument {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")

    @property
    def integration(self) -> str:
        return self.id.split(".", 1)[0]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The input's field names in order, by which positional arguments are bound."""
        return tuple(info.alias or name for name, info in self.input.model_fields.items())

    @cached_property
    def required_parameters(self) -> frozenset[str]:
        return frozenset(info.alias or name for name, info in self.input.model_fields.items() if info.is_required())

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return self.input.model_json_schema()

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        return self.output.json_schema(mode="serialization")

    @cached_property
    def version(self) -> str:
        """Hash of the contract and of the source it came from: another hash is another tool."""
        contract = {
            "id": self.id,
            "risk": self.risk.value,
            "default": self.default_decision.value if self.default_decision else None,
            "timeout": None if self.timeout_seconds is None else str(self.timeout_seconds),
            "idempotent": self.idempotent,
            "hosts": list(self.hosts),
            "secrets": list(self.secrets),
            "optional_secrets": list(self.optional_secrets),
            "aliases": list(self.aliases),
            "summary": self.summary,
            "classified": self.classify is not None,
            "input": self.input_schema,
            "output": self.output_schema,
            "source": self.source_digest,
        }
        text = json.dumps(contract, sort_keys=True, separators=(",", ":"), default=str)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()[:32]
