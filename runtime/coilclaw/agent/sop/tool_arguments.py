"""The arguments of a tool step: checked against the tool's contract, and filled with the outputs of earlier steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from coilclaw.sdk import Tool

__all__ = ["argument_problems", "as_text", "bounded", "filled"]

_MOST_PROBLEMS: Final = 20


def argument_problems(tool: Tool, arguments: Mapping[str, Any], referenced: frozenset[str]) -> Iterator[str]:
    """Yield what is wrong with the arguments that are known now; `referenced` are filled when the step starts."""
    if not tool.takes_more:
        for name in (*arguments, *referenced):
            if name not in tool.parameters:
                yield tool.unknown_argument(name)
    for name in tool.parameters:
        if name in tool.required_parameters and name not in arguments and name not in referenced:
            yield f"it needs the argument {name!r}"
    yield from _wrong_values(tool, arguments)


def _wrong_values(tool: Tool, arguments: Mapping[str, Any]) -> Iterator[str]:
    from pydantic import ValidationError
    from pydantic_core import to_json

    try:
        tool.input.__pydantic_validator__.validate_json(to_json(dict(arguments)), strict=True, extra="ignore")
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False, include_context=False)[:_MOST_PROBLEMS]:
            # Names are checked above; a validator of the whole input would miss what is filled later.
            if each["loc"] and (each["type"] != "missing" or len(each["loc"]) > 1):
                yield f"{'.'.join(map(str, each['loc']))}: {each['msg']}"
    except Exception:  # A validator of the tool's author may do anything; the call itself will say what is wrong.
        return


def filled(tool: Tool | None, arguments: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, with outputs of earlier steps by the argument's name.

    Where a tool takes only text, an output that is none is written as JSON.
    """
    properties = tool.input_schema.get("properties") if tool is not None else None
    fields = properties if isinstance(properties, dict) else {}
    made = {name: as_text(value) if _only_text(fields.get(name)) else value for name, value in outputs.items()}
    return {**arguments, **made}


def as_text(output: Any) -> str:
    """Return an output as text: text as it is, anything else as JSON."""
    return output if isinstance(output, str) else json.dumps(output, indent=2, ensure_ascii=False)


def bounded(text: str, most: int) -> str:
    """Return at most so many characters of a text; one that is cut says how many it has."""
    return text if len(text) <= most else f"{text[: most - 50]}\n… ({len(text)} characters in all)"


def _only_text(field: Any) -> bool:
    if not isinstance(field, dict):
        return False
    options = field.get("anyOf")
    if isinstance(options, list):
        kinds = [each.get("type") if isinstance(each, dict) else None for each in options]
        return "string" in kinds and set(kinds) <= {"string", "null"}
    return field.get("type") == "string"
