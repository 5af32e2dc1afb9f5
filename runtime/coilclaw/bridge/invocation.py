"""Calling a handler, and judging what it returned."""

from __future__ import annotations

from typing import Any, Final

from coilclaw.sdk import Tool, ToolContext
from coilclaw.sdk.legible import kind_of

__all__ = ["BadOutput", "invoke", "invoke_async", "serialised"]

_PLAIN: Final = frozenset({str, int, float, bool, dict, list, type(None)})
_MOST_DIGITS: Final = 4300
"""Of an integer: no Python reads a longer one from JSON unless it is told to."""


class BadOutput(Exception):
    """A handler returned something its contract does not allow."""


def invoke(tool: Tool, input: Any, context: ToolContext) -> Any:
    """Call a plain handler, and close what it opened through its context."""
    try:
        return _call(tool, input, context)
    finally:
        context.close()


async def invoke_async(tool: Tool, input: Any, context: ToolContext) -> Any:
    """The same for an async one."""
    try:
        return await _call(tool, input, context)
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(type(error).__name__) from None  # It would end the loop that all async tools share.
    finally:
        await context.aclose()


def _call(tool: Tool, input: Any, context: ToolContext) -> Any:
    if tool.takes_model:
        return tool.handler(input, context)
    return tool.handler(context, **input.__dict__)  # The model of its own parameters, and nothing else.


def serialised(tool: Tool, returned: Any) -> bytes:
    """The JSON of what a handler returned, if its contract allows it and a snippet can read it."""
    try:
        is_plain = type(returned) in _PLAIN
        if not is_plain and any(hasattr(returned, name) for name in ("__next__", "__await__", "__anext__")):
            if hasattr(returned, "close"):
                returned.close()  # A coroutine that nobody awaits would complain later, elsewhere.
            raise BadOutput(f"{tool.id} returned a {kind_of(returned)}, which is not a value")
        valid = tool.output.validator.validate_python(returned, strict=True)
        value = tool.result_json(valid)
        if valid is not None and b"null" in value:
            # Perhaps a number that JSON cannot write, which pydantic turns into nothing.
            _check_readable(tool, _with_constants(tool, valid))
        elif b"NaN" in value or b"Infinity" in value or (len(value) > _MOST_DIGITS and _may_hold_long_number(value)):
            _check_readable(tool, value)
        return value
    except (ValueError, TypeError) as error:  # Among them what pydantic raises.
        raise _bad_output(tool, error) from None


def _may_hold_long_number(value: bytes) -> bool:
    """Whether there may be an integer with too many digits: it lies across one of the places that are looked at."""
    return any(
        value[at - 64 : at].isdigit() or value[at : at + 64].isdigit()
        for at in range(_MOST_DIGITS, len(value), _MOST_DIGITS)
    )


def _with_constants(tool: Tool, valid: Any) -> bytes:
    from pydantic_core import to_json

    plain = tool.output.dump_python(valid, warnings="error")
    return to_json(plain, inf_nan_mode="constants", bytes_mode="base64", fallback=lambda other: None)


def _bad_output(tool: Tool, error: ValueError | TypeError) -> BadOutput:
    from pydantic_core import ValidationError

    if not isinstance(error, ValidationError):
        return BadOutput(f"{tool.id} returned something that is not JSON: {error}")
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    problem = f"{place + ': ' if place else ''}{first['msg']}"
    return BadOutput(f"{tool.id} returned a value that does not fit its output type: {problem}")


def _check_readable(tool: Tool, value: bytes) -> None:
    from pydantic_core import from_json

    try:
        from_json(value, allow_inf_nan=False)
    except ValueError:
        raise BadOutput(
            f"{tool.id} returned a number that is not finite or has more than {_MOST_DIGITS} digits, "
            "or values nested too deeply"
        ) from None
