"""`define_tool`: how a function becomes a tool."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from coilclaw.sdk.contract import Classifier, Handler, Models, Tool, problem_with_id
from coilclaw.sdk.errors import ToolDefinitionError
from coilclaw.sdk.plain_types import Fields, fits, is_plain, is_plain_field
from coilclaw.sdk.risk import Decision, Risk, RiskName

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["define_tool"]

_Policy = Mapping[str, str] | str | None


class _Options(TypedDict, total=False):
    """What a contract may say besides id and risk, the same with and without `handler=`."""

    input: type[BaseModel] | None
    output: Any
    policy: _Policy
    requires_approval: bool | None
    timeout: float | None
    idempotent: bool
    hosts: Iterable[str]
    secrets: Iterable[str]
    optional_secrets: Iterable[str]
    examples: Iterable[Mapping[str, Any]]
    summary: str | None
    aliases: Iterable[str]
    classify: Classifier | None
    description: str | None


@overload
def define_tool(*, id: str, risk: Risk | RiskName, handler: Handler, **options: Unpack[_Options]) -> Tool: ...
@overload
def define_tool(
    *, id: str, risk: Risk | RiskName, handler: None = None, **options: Unpack[_Options]
) -> Callable[[Handler], Tool]: ...
def define_tool(
    *,
    id: str,
    risk: Risk | RiskName,
    handler: Handler | None = None,
    input: type[BaseModel] | None = None,
    output: Any = None,
    policy: _Policy = None,
    requires_approval: bool | None = None,
    timeout: float | None = None,
    idempotent: bool = False,
    hosts: Iterable[str] = (),
    secrets: Iterable[str] = (),
    optional_secrets: Iterable[str] = (),
    examples: Iterable[Mapping[str, Any]] = (),
    summary: str | None = None,
    aliases: Iterable[str] = (),
    classify: Classifier | None = None,
    description: str | None = None,
) -> Tool | Callable[[Handler], Tool]:
    """Make a tool out of a function.

    As a decorator, the input is read from the signature: the first parameter is the
    `ToolContext`, every other one is an argument and needs a type, and so does the return value.
    With `handler=` and `input=`, the handler is called as `handler(input, ctx)`.
    """
    caller = sys._getframe(1)
    definition = _Definition(id, caller.f_code.co_filename, caller.f_lineno)

    def build(function: Handler) -> Tool:
        definition.locate(function)
        fields = definition.signature(function) if input is None else None
        result = definition.result(function, output)
        models = cache(lambda: definition.models(input, fields, result))
        plain = fields is not None and all(is_plain_field(name, *each) for name, each in fields.items())
        if not (plain and is_plain(result)):
            models()  # What is wrong with them is said where the tool is defined.
        return Tool(
            id=definition.checked_id(),
            risk=definition.checked_risk(risk),
            models=models,
            handler=function,
            description=inspect.cleandoc(description or getattr(function, "__doc__", None) or ""),
            takes_model=fields is None,
            is_async=inspect.iscoroutinefunction(function),
            default_decision=definition.default_decision(policy, requires_approval),
            timeout_seconds=definition.checked_timeout(timeout),
            idempotent=idempotent,
            hosts=definition.names("hosts", hosts),
            secrets=definition.names("secrets", secrets),
            optional_secrets=definition.names("optional_secrets", optional_secrets),
            examples=tuple(definition.checked_examples(examples, models, fields)),
            summary=definition.checked_summary(summary, models().input.model_fields if fields is None else fields),
            aliases=definition.checked_aliases(aliases),
            classify=classify,
            file=definition.file,
            line=definition.line,
        )

    return build if handler is None else build(handler)


class _Definition:
    """One call of `define_tool`, which knows where it stands in the author's file."""

    def __init__(self, tool_id: str, file: str, line: int) -> None:
        self.id = tool_id
        self.file = file
        self.line = line

    def error(self, field: str, message: str, *, hint: str | None = None) -> ToolDefinitionError:
        return ToolDefinitionError(message, field=field, file=self.file, line=self.line, hint=hint)

    def locate(self, function: Handler) -> None:
        code = getattr(inspect.unwrap(function), "__code__", None)
        if not callable(function) or isinstance(function, type):
            raise self.error("handler", f"{function!r} is not a function", hint="handler=the_function, without ()")
        if code is not None and code.co_filename == self.file:
            self.line = code.co_firstlineno

    def checked_id(self) -> str:
        problem = problem_with_id(self.id) if isinstance(self.id, str) else f"{self.id!r} is not a string"
        if problem:
            raise self.error("id", problem, hint='for example id="weather.forecast" or id="posthog.analytics.visitors"')
        return self.id

    def checked_risk(self, risk: Risk | str) -> Risk:
        try:
            return Risk(risk)
        except ValueError:
            allowed = ", ".join(repr(member.value) for member in Risk)
            raise self.error(
                "risk",
                f"{risk!r} is not one of {allowed}",
                hint="'read' changes nothing, 'write' changes something, 'destructive' cannot be undone",
            ) from None

    def default_decision(self, policy: _Policy, requires_approval: bool | None) -> Decision | None:
        text = policy.get("default") if isinstance(policy, Mapping) else policy
        example = 'policy={"default": "ask"}'
        if isinstance(policy, Mapping) and (unknown := set(policy) - {"default"}):
            raise self.error("policy", f"unknown key {sorted(unknown)[0]!r}; the only key is 'default'", hint=example)
        try:
            decision = None if text is None else Decision(text)
        except ValueError:
            raise self.error("policy", f"{text!r} is not one of 'allow', 'ask', 'deny'", hint=example) from None
        if requires_approval and (decision is None or decision is Decision.ALLOW):
            return Decision.ASK
        return decision

    def checked_timeout(self, timeout: float | None) -> float | None:
        if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
            raise self.error("timeout", f"{timeout!r} is not a positive number of seconds", hint="timeout=10")
        return timeout

    def names(self, field: str, values: Iterable[str]) -> tuple[str, ...]:
        if isinstance(values, str):
            raise self.error(
                field, f"a list of strings is needed, not the string {values!r}", hint=f"{field}=[{values!r}]"
            )
        try:
            result = tuple(values)
        except TypeError:
            raise self.error(field, f"a list of strings is needed, not {values!r}", hint=f'{field}=["…"]') from None
        for value in result:
            if not isinstance(value, str) or not value:
                raise self.error(field, f"{value!r} is not a name", hint=f"leave it out of {field}=[…]")
        return result

    def checked_aliases(self, aliases: Iterable[str]) -> tuple[str, ...]:
        names = self.names("aliases", aliases)
        for name in names:
            if not name.isidentifier() or iskeyword(name) or name.startswith("_"):
                raise self.error(
                    "aliases",
                    f"{name!r} is not one word of letters, digits and underscores",
                    hint='aliases=["visitors"]',
                )
        return names

    def checked_examples(
        self, examples: Iterable[Mapping[str, Any]], models: Callable[[], Models], fields: Fields | None
    ) -> Iterable[Mapping[str, Any]]:
        for number, example in enumerate(examples, start=1):
            if fields is None or not fits(example, fields):
                from coilclaw.sdk.models import check_example

                check_example(self.error, models().input, number, example)
            yield dict(example)

    def checked_summary(self, summary: str | None, fields: Iterable[str]) -> str | None:
        if summary is None:
            return None
        from string import Formatter

        try:
            names = [name for _, name, _, _ in Formatter().parse(summary) if name is not None]
        except ValueError as error:
            raise self.error("summary", str(error), hint="a brace that is meant as such is written twice") from None
        for name in names:
            if name not in fields:
                known = ", ".join(fields) or "none"
                raise self.error(
                    "summary",
                    f"{{{name}}} is not a field of the input (fields: {known})",
                    hint="braces hold the name of a parameter",
                )
        return summary

    def hints(self, function: Handler) -> dict[str, Any]:
        try:
            return typing.get_type_hints(function, include_extras=True)
        except (NameError, TypeError, AttributeError) as error:
            raise self.error(
                "handler",
                f"a type in the signature cannot be resolved: {error}",
                hint="define or import it at the top of the file, not inside a function or under TYPE_CHECKING",
            ) from None

    def signature(self, function: Handler) -> Fields:
        """The fields of the input: the parameters after the context."""
        parameters = list(inspect.signature(function).parameters.values())
        if not parameters:
            raise self.error(
                "handler", "the first parameter must be the ToolContext", hint="def handler(ctx: ToolContext, …)"
            )
        hints = self.hints(function)
        self._check_context(parameters[0], hints.get(parameters[0].name))
        fields: dict[str, Any] = {}
        for parameter in parameters[1:]:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise self.error(
                    "handler",
                    f"parameter {parameter} is not allowed: arguments are passed by name",
                    hint="name every argument, or take a list or a dict",
                )
            if parameter.name not in hints:
                raise self.error(
                    parameter.name, "the parameter has no type", hint=f"give it one, e.g. {parameter.name}: str"
                )
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (hints[parameter.name], default)
        return fields

    def _check_context(self, first: inspect.Parameter, hint: Any) -> None:
        kind = typing.get_origin(hint) or hint
        if isinstance(kind, type) and hasattr(kind, "model_fields"):
            raise self.error(
                "handler",
                f"the first parameter is {first.name}: {kind.__name__}, but it must be the ToolContext",
                hint=f"def handler(ctx: ToolContext, …), or pass input={kind.__name__} to define_tool",
            )
        if kind in (str, int, float, bool, bytes, list, dict, tuple, set):
            raise self.error(
                "handler",
                f"the first parameter is {first}, but it must be the ToolContext",
                hint=f"def handler(ctx: ToolContext, {first})",
            )

    def result(self, function: Handler, output: Any) -> Any:
        """The type of what the tool returns."""
        if output is not None:
            return output
        hints = self.hints(function)
        if "return" not in hints:
            raise self.error(
                "output",
                "the tool has no output type",
                hint="say what it returns after the parameters, e.g. -> str or -> dict[str, int]",
            )
        return hints["return"]

    def models(self, input: object, fields: Fields | None, result: Any) -> Models:
        from coilclaw.sdk.models import checked_model, input_model, output_adapter

        model = checked_model(self.error, input) if fields is None else input_model(self.error, self.id, fields)
        return Models(model, output_adapter(self.error, result))
