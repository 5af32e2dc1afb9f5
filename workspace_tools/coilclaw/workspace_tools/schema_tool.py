"""Tools whose contract was written elsewhere, as JSON Schema: those of plugins and of MCP servers."""

from __future__ import annotations

import inspect
from string import Formatter
from typing import Annotated, Any, ClassVar, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PrivateAttr,
    TypeAdapter,
    WithJsonSchema,
    create_model,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from coilclaw.sdk import Handler, Risk, Tool, ToolDefinitionError
from coilclaw.sdk.contract import Models
from coilclaw.workspace_tools.names import action_name, shown_text
from coilclaw.workspace_tools.schema_rules import Rules

__all__ = ["SchemaInput", "schema_tool"]

_LONGEST_DESCRIPTION: Final = 4_000
_MOST_PARAMETERS: Final = 200


class SchemaInput(BaseModel):
    """The input of a tool that is described by JSON Schema; `arguments` is what the caller passed."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)
    rules: ClassVar[Rules]

    _arguments: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def arguments(self) -> dict[str, Any]:
        return self._arguments

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return cls.rules.shown()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls._accept, serialization=core_schema.plain_serializer_function_ser_schema(lambda input: input.arguments)
        )

    @classmethod
    def _accept(cls, data: Any) -> SchemaInput:
        if not isinstance(data, dict):
            raise _invalid("the arguments are not an object")
        names = {info.alias: name for name, info in cls.model_fields.items()}
        unknown = [] if cls.model_config.get("extra") == "allow" else [name for name in data if name not in names]
        problems = [f"it has no argument {name[:100]!r}" for name in unknown[:5]] or cls.rules.problems(data)
        if problems:
            raise _invalid("; ".join(problems))
        made = cls.model_construct(**{names[name]: value for name, value in data.items() if name in names})
        made._arguments = data
        return made


class OpenSchemaInput(SchemaInput):
    """The same for a schema that takes names it does not list."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True, extra="allow")


def _invalid(problem: str) -> PydanticCustomError:
    return PydanticCustomError("json_schema", "{problem}", {"problem": problem})


def schema_tool(
    *,
    id: str,
    handler: Handler,
    input_schema: object,
    output_schema: object = None,
    risk: Risk = Risk.WRITE,
    description: str = "",
    timeout: float | None = None,
    idempotent: bool = False,
    secrets: tuple[str, ...] = (),
    optional_secrets: tuple[str, ...] = (),
    summary: str | None = None,
    file: str = "",
    line: int = 0,
    source_digest: str = "",
) -> Tool:
    """A tool from JSON Schemas. The handler is called as `handler(input, ctx)`; `input.arguments` is a plain dict.

    Raises `ToolDefinitionError` for a schema that cannot be used.
    """
    for part in id.split("."):
        if action_name(part) != part:
            raise ToolDefinitionError(f"{part[:80]!r} cannot be part of a tool's id", field="id")
    rules = Rules(input_schema, field="schema")
    models = Models(_input_model(id, rules), _output(output_schema))
    _check_summary(summary, models.input)
    return Tool(
        id=id,
        risk=risk,
        models=lambda: models,
        handler=handler,
        description=shown_text(description, _LONGEST_DESCRIPTION),
        takes_model=True,
        is_async=inspect.iscoroutinefunction(handler),
        timeout_seconds=timeout,
        idempotent=idempotent,
        secrets=secrets,
        optional_secrets=optional_secrets,
        summary=summary,
        file=file,
        line=line,
        source_digest=source_digest,
    )


def _input_model(tool_id: str, rules: Rules) -> type[SchemaInput]:
    if rules.given.get("type", "object") != "object":
        raise ToolDefinitionError("the input is not of type object", field="schema")
    names, required, opened = rules.surface()
    if len(names) > _MOST_PARAMETERS:
        raise ToolDefinitionError(f"the input has more than {_MOST_PARAMETERS} properties", field="schema")
    fields: dict[str, Any] = {
        # The fields have names of their own: a property may be called anything, even like a method of the model.
        f"argument_{number}": (Any, Field(... if name in required else None, alias=name))
        for number, name in enumerate(names)
    }
    title = "".join(part.capitalize() for part in tool_id.replace("_", ".").split("."))
    model: type[SchemaInput] = create_model(
        f"{title}Input", __base__=OpenSchemaInput if opened else SchemaInput, **fields
    )
    model.rules = rules
    return model


def _output(schema: object) -> TypeAdapter[Any]:
    if schema is None:
        return _ANYTHING
    rules = Rules(schema, field="output")

    def fits(value: Any) -> Any:
        if problems := rules.problems(value):
            raise _invalid("; ".join(problems))
        return value

    return TypeAdapter(
        Annotated[Any, AfterValidator(fits), WithJsonSchema(rules.inlined())], config=ConfigDict(defer_build=True)
    )


_ANYTHING: Final[TypeAdapter[Any]] = TypeAdapter(Any)


def _check_summary(summary: str | None, model: type[BaseModel]) -> None:
    known = [info.alias for info in model.model_fields.values()]
    try:
        names = [name for _, name, _, _ in Formatter().parse(summary or "") if name is not None]
    except ValueError as error:
        raise ToolDefinitionError(str(error), field="summary") from None
    for name in names:
        if name not in known:
            raise ToolDefinitionError(f"{{{name}}} is not a property of the input", field="summary")
