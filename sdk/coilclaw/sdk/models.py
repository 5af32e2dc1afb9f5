"""The pydantic models of a tool's input and output. Imported when one is made: importing pydantic takes a while."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import BytesSchema, DecimalSchema

from coilclaw.sdk.contract import Tool
from coilclaw.sdk.errors import ToolDefinitionError
from coilclaw.sdk.plain_types import Fields

__all__ = ["ContractSchema", "check_example", "checked_model", "explained", "input_model", "output_adapter"]

_Error: TypeAlias = Callable[..., ToolDefinitionError]
_NO_SCHEMA = (PydanticUserError, PydanticSchemaGenerationError, NameError, TypeError)
_JSON_TYPES = "use str, int, float, bool, None, datetime, list, dict, a dataclass or a pydantic model"
_AS_BASE64 = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
"""Not every sequence of bytes is text."""


class ContractSchema(GenerateJsonSchema):
    """Makes the schemas of contracts: they tell decimals and hexadecimal bytes from text."""

    def decimal_schema(self, schema: DecimalSchema) -> JsonSchemaValue:
        made = super().decimal_schema(schema)
        text = next((each for each in made.get("anyOf", ()) if each.get("type") == "string"), made)
        text.pop("pattern", None)
        text["format"] = "decimal"
        return made

    def bytes_schema(self, schema: BytesSchema) -> JsonSchemaValue:
        made = super().bytes_schema(schema)
        return {**made, "format": "hex"} if self._config.ser_json_bytes == "hex" else made


def input_model(error: _Error, tool_id: object, fields: Fields) -> type[BaseModel]:
    """Make the model of a signature."""
    name = "".join(part.capitalize() for part in str(tool_id).replace("_", ".").split("."))
    given: dict[str, Any] = dict(fields)
    try:
        return create_model(f"{name}Input", __config__=_AS_BASE64 | ConfigDict(extra="forbid", frozen=True), **given)
    except _NO_SCHEMA as problem:
        for each, (annotation, _) in fields.items():
            if reason := _not_json(annotation):
                raise error("input", f"{each}: {reason}", hint=_JSON_TYPES) from None
        raise error("input", f"not a type that JSON can carry: {_first_line(problem)}") from None


def checked_model(error: _Error, model: object) -> type[BaseModel]:
    """Return what was given as `input=`, if it is a model."""
    if isinstance(model, type) and issubclass(model, BaseModel):
        return model
    hint = "class Input(BaseModel): …, then input=Input"
    raise error("input", f"{model!r} is not a pydantic model class", hint=hint)


def output_adapter(error: _Error, annotation: Any) -> TypeAdapter[Any]:
    """Make what results are validated and serialised with."""
    try:
        return TypeAdapter(annotation, config=_AS_BASE64) if annotation is bytes else TypeAdapter(annotation)
    except _NO_SCHEMA:
        raise error("output", str(_not_json(annotation)), hint=_JSON_TYPES) from None


def check_example(error: _Error, model: type[BaseModel], number: int, example: Mapping[str, Any]) -> None:
    """Refuse an example that is not a possible input."""
    takes = f"an example is the arguments of a call; it takes: {', '.join(_parameters(model)) or 'no arguments'}"
    try:
        model.model_validate(dict(example))
    except ValidationError as problem:
        text = f"example {number} does not fit the input: {explained(problem, 3)}"
        raise error("examples", text, hint=takes) from None
    except (TypeError, ValueError):
        raise error("examples", f"example {number} is not a dict: {example!r}", hint=takes) from None


def _not_json(annotation: Any) -> str | None:
    """Why values of this type cannot cross the bridge, or None when they can."""
    try:
        TypeAdapter(annotation)
    except _NO_SCHEMA as error:
        name = getattr(annotation, "__name__", None) or str(annotation)
        reason = "" if isinstance(error, PydanticSchemaGenerationError) else f" ({_first_line(error)})"
        return f"{name} is not a type that JSON can carry{reason}"
    return None


def _parameters(model: type[BaseModel]) -> Iterable[str]:
    for name, info in model.model_fields.items():
        kind = getattr(info.annotation, "__name__", None) or str(info.annotation)
        yield f"{info.alias or name}: {kind}" + ("" if info.is_required() else " (optional)")


def explained(error: ValidationError, most: int = 5, tool: Tool | None = None) -> str:
    """Say what does not fit, without repeating values; with `tool`, of its arguments."""
    parts = []
    for each in error.errors(include_url=False, include_input=False, include_context=False)[:most]:
        name = ".".join(map(str, each["loc"]))
        if tool is not None and each["type"] == "extra_forbidden" and len(each["loc"]) == 1:
            parts.append(tool.unknown_argument(name))
        else:
            parts.append(f"{name}: {each['msg']}" if name else each["msg"])
    return "; ".join(parts)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0].strip() if lines else type(error).__name__
