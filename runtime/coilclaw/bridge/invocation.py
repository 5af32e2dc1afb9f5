"""Calling a handler, and judging what it returned."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from coilclaw.sdk import Tool, ToolContext

__all__ = ["BadOutput", "invoke", "invoke_async", "serialised"]


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
    return tool.handler(context, **{name: getattr(input, name) for name in type(input).model_fields})


def serialised(tool: Tool, returned: Any) -> bytes:
    """The JSON of what a handler returned, if its contract allows it."""
    try:
        if hasattr(returned, "__next__") or hasattr(returned, "__await__") or hasattr(returned, "__anext__"):
            raise BadOutput(f"{tool.id} returned a {type(returned).__name__}, which is not a value")
        return tool.output.dump_json(tool.output.validate_python(returned, strict=True), warnings="error")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadOutput(f"{tool.id} returned {place + ': ' if place else ''}{first['msg']}") from None
    except (PydanticSerializationError, ValueError, TypeError) as error:
        raise BadOutput(f"{tool.id} returned something that is not JSON: {error}") from None
