"""From what a snippet sent to the canonical arguments of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from coilclaw.bridge.answers import Refusal
from coilclaw.receipts import NotCanonical, contents_json
from coilclaw.sdk import OperatorError, Tool
from coilclaw.sdk.legible import kind_of
from coilclaw.sdk.typed_arguments import MARK, Unfit, in_schema_form

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

__all__ = ["bind", "signature", "validate"]

MAX_INPUT_BYTES: Final = 1024 * 1024

MAX_VALUES: Final = 50_000
"""In the arguments of one call. Validation holds the interpreter for all of them at once, whatever the deadline."""

_MOST_PROBLEMS: Final = 1000
"""Putting each of more problems than these into words would take longer than finding them."""


def bind(tool: Tool | None, sent: bytes, *, by_snippet: bool = False) -> bytes | Refusal:
    """The canonical JSON object of the arguments: what is hashed, decided about, validated and run."""
    from pydantic_core import from_json

    if len(sent) > MAX_INPUT_BYTES:
        return _invalid(f"the arguments exceed {MAX_INPUT_BYTES} bytes")
    try:
        given = from_json(sent, allow_inf_nan=False)
    except ValueError as error:
        return _invalid(f"the arguments are not JSON: {error}")
    # A value and what separates it from the next take two bytes.
    if len(sent) > 2 * MAX_VALUES and _holds_more(given, MAX_VALUES):
        return _invalid(f"the arguments hold more than {MAX_VALUES} values", "pass less at a time, or pass it as text")
    if isinstance(given, list):
        given = _by_name(tool, given)
        if isinstance(given, Refusal):
            return given
    if not isinstance(given, dict):
        return _invalid("the arguments are not an object")
    if "" in given:
        # The guest could not write the arguments as JSON and sent the reason instead.
        return _invalid(str(given[""])[:500], "pass JSON data")
    if tool is not None and (tool.takes_typed_text or MARK in sent):
        try:
            given = in_schema_form(given, tool.input_schema, by_snippet=by_snippet)
        except Unfit as error:
            return _invalid(f"{tool.id}: {error}", f"it takes: {signature(tool)}")
    try:
        return contents_json(given)
    except NotCanonical as error:
        return _invalid(f"the arguments are not JSON data: {error}")


def _invalid(message: str, hint: str | None = None) -> Refusal:
    return Refusal(code="invalid_input", message=message, hint=hint)


def _holds_more(value: Any, most: int) -> bool:
    """Whether there are more than `most` values in it; looks at no more than that."""
    waiting: list[Any] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list | dict):
            most -= len(each)
            if most < 0:
                return True
            waiting.extend(each.values() if isinstance(each, dict) else each)
    return False


def _by_name(tool: Tool | None, given: list[Any]) -> dict[str, Any] | Refusal:
    """Positional arguments take the parameters' names in order; one object alone is the whole input."""
    if len(given) != 2 or not isinstance(given[0], list) or not isinstance(given[1], dict):
        return _invalid("the arguments are not an object")
    positional, named = given
    if len(positional) == 1 and isinstance(positional[0], dict) and not named:
        return positional[0]
    parameters = tool.parameters if tool is not None else tuple(f"argument{n}" for n in range(1, len(positional) + 1))
    if len(positional) > len(parameters):
        takes = signature(tool) if tool is not None else "no arguments"
        return _invalid(f"{len(positional)} positional arguments given", f"it takes: {takes}")
    bound = dict(zip(parameters, positional, strict=False))
    if twice := bound.keys() & named.keys():
        return _invalid(f"{sorted(twice)[0]!r} is given twice")
    return {**bound, **named}


def validate(tool: Tool, arguments: bytes) -> BaseModel | Refusal:
    """The input model. Strict: a string is not a number, and unknown names are errors."""
    try:
        valid: BaseModel = tool.input.__pydantic_validator__.validate_json(arguments, strict=True, extra="forbid")
        return valid
    except BaseException as error:  # A validator of the tool's author may do anything.
        return _not_valid(tool, error)


def _not_valid(tool: Tool, error: BaseException) -> Refusal:
    from pydantic_core import ValidationError

    if isinstance(error, ValidationError):
        return _invalid(f"{tool.id}: {_explain(tool, error)}", f"it takes: {signature(tool)}")
    if isinstance(error, OperatorError):  # Its code cannot be loaded.
        return Refusal(code="tool_crashed", message=f"{tool.id}: {error.message}", hint=error.hint)
    return Refusal(code="tool_crashed", message=f"{tool.id} could not validate its input: {kind_of(error)}")


def _explain(tool: Tool, error: ValidationError) -> str:
    """The first problems in words; what a validator raised may have no text at all."""
    try:
        return _problems(tool, error)
    except BaseException as problem:
        return f"the input is invalid, and why could not be said ({kind_of(problem)})"


def _problems(tool: Tool, error: ValidationError) -> str:
    if error.error_count() > _MOST_PROBLEMS:
        return f"{error.error_count()} values do not fit"
    parts = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False)[:5]:
        name = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "bytes_invalid_encoding":
            parts.append(f"{name}: takes bytes, which are written in base64 or hex where they are JSON")
        elif problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
            parts.append(tool.unknown_argument(name))
        else:
            parts.append(f"{name}: {problem['msg']}" if name else problem["msg"])
    return "; ".join(parts)[:1000]


def signature(tool: Tool) -> str:
    """The parameters in short, spelled as in the stubs: `path: str, limit?: int`."""
    from coilclaw.bridge.stubs import parameter_words

    return ", ".join(parameter_words(tool)) or "no arguments"
