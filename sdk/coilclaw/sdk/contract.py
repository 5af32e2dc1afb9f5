"""The contract of one tool: the only thing that makes something callable."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from coilclaw.sdk.risk import Decision, Forbid, Judged, Raised, Risk

if TYPE_CHECKING:
    from pydantic import BaseModel, TypeAdapter
    from pydantic_core import SchemaSerializer

__all__ = ["Classifier", "Handler", "Interface", "Models", "Tool", "deferred_tool", "problem_with_id"]

Handler: TypeAlias = Callable[..., Any] | Callable[..., Awaitable[Any]]
Classifier: TypeAlias = Callable[[Any, Any], Risk | str | Raised | Judged | Forbid | None]

_ID = r"[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*){1,2}"


def problem_with_id(tool_id: str) -> str | None:
    """Why this id cannot name a tool, or None when it can."""
    if not re.fullmatch(_ID, tool_id):
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


class Models(NamedTuple):
    """What arguments and results are validated with."""

    input: type[BaseModel]
    output: TypeAdapter[Any]


class Interface(NamedTuple):
    """A tool's models as data: what a caller has to know of them."""

    parameters: tuple[str, ...]
    required_parameters: frozenset[str]
    takes_more: bool
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A contract and its handler, frozen when the module that defines it is loaded.

    Calling a `Tool` calls its handler directly, which is what a unit test wants; nothing is
    validated, decided or recorded on that way. Runs never take it.
    """

    id: str
    risk: Risk
    models: Callable[[], Models] = field(repr=False)
    """Gives the same models every time. They are made when the first call needs them, which takes a while."""
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
    known: Interface | None = field(default=None, repr=False)
    """What the models would say, where it is known without making them."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.handler(*args, **kwargs)

    def unknown_argument(self, name: str) -> str:
        """What to say of an argument that this tool does not have."""
        import difflib

        near = difflib.get_close_matches(name[:100], self.parameters, n=1)
        return f"it has no argument {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")

    @cached_property
    def integration(self) -> str:
        return self.id.split(".", 1)[0]

    @property
    def names(self) -> tuple[str, ...]:
        """All its names: `integration.action` too, whether or not it is the only one with that name."""
        first, *middle, last = self.id.split(".")
        return (self.id, f"{first}.{last}", *self.aliases) if middle else (self.id, *self.aliases)

    # Not cached: until Python 3.12 that holds a lock of all tools, while the code of one is perhaps loaded for ever.
    @property
    def input(self) -> type[BaseModel]:
        return self.models().input

    @property
    def output(self) -> TypeAdapter[Any]:
        return self.models().output

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The input's field names in order, by which positional arguments are bound."""
        if self.known is not None:
            return self.known.parameters
        return tuple(info.alias or name for name, info in self.input.model_fields.items())

    @cached_property
    def required_parameters(self) -> frozenset[str]:
        if self.known is not None:
            return self.known.required_parameters
        return frozenset(info.alias or name for name, info in self.input.model_fields.items() if info.is_required())

    @cached_property
    def takes_more(self) -> bool:
        """Whether arguments that the schema does not name are allowed."""
        return self.known.takes_more if self.known else self.input.model_config.get("extra") == "allow"

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        if self.known:
            return self.known.input_schema
        from coilclaw.sdk.models import ContractSchema

        return self.input.model_json_schema(schema_generator=ContractSchema)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        if self.known:
            return self.known.output_schema
        from coilclaw.sdk.models import ContractSchema

        return self.output.json_schema(mode="serialization", schema_generator=ContractSchema)

    def result_json(self, valid: Any) -> bytes:
        """A valid result as a snippet gets it. Raises ValueError or TypeError if it cannot be written."""
        # Not through the adapter's own methods, which hand twenty options on.
        serializer = self.output.serializer
        try:
            written: bytes = serializer.to_json(valid, by_alias=True, warnings="error")
            if not self._returns_bytes or b'"data:;base64,' not in written:
                return written
        except ValueError as error:
            if "utf-8" not in str(error):
                raise
        # A model within takes bytes for text, and these are none, or could be taken for such.
        return self._binary_serializer.to_json(valid, by_alias=True, warnings="error")

    @cached_property
    def _binary_serializer(self) -> SchemaSerializer:
        from coilclaw.sdk.binary_results import binary_serializer

        return binary_serializer(self.output)

    @cached_property
    def _returns_bytes(self) -> bool:
        """Whether bytes are made of some text of its results."""
        return '"binary"' in self.output_plan

    @cached_property
    def output_plan(self) -> str:
        """Where its results hold values of Python's own types; empty if they hold none."""
        from coilclaw.sdk.value_plan import value_plan

        try:
            return value_plan(self.output_schema)
        except Exception:  # The schema hook of an author's type may do anything. The value is passed on as it is.
            return ""

    @cached_property
    def takes_typed_text(self) -> bool:
        """Whether an argument, or a part of one, is text that stands for a date-time or for bytes."""
        from coilclaw.sdk.value_plan import value_plan

        try:
            plan = value_plan(self.input_schema)
            return any(f'"{each}"' in plan for each in ("date-time", "base64", "base64url", "hex"))
        except Exception:
            return False

    def with_source(self) -> Tool:
        """Return the tool with the hash of the file it is defined in, which its version covers."""
        import hashlib

        try:
            source = Path(self.file).read_bytes()
        except OSError:
            source = self.file.encode()
        return replace(self, source_digest=hashlib.sha256(source).hexdigest())

    @cached_property
    def version(self) -> str:
        """Hash of the contract and of the source it came from: another hash is another tool."""
        import hashlib
        import json

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


def deferred_tool(load: Callable[[], Tool], *, classified: bool, **contract: Any) -> Tool:
    """Return a tool with a known contract whose code is loaded when a call first needs it.

    `load` gives the same tool every time, and raises if that one's contract is another one.
    """

    def handle(*args: Any, **kwargs: Any) -> Any:
        return load().handler(*args, **kwargs)

    def classify(input: Any, context: Any) -> Any:
        judge = load().classify
        return judge(input, context) if judge is not None else None

    return Tool(models=lambda: load().models(), handler=handle, classify=classify if classified else None, **contract)
