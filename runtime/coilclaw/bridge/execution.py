"""Running the handler of an admitted call, and turning every way in which it can end into a value or a refusal."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.call_receipts import bounded
from coilclaw.bridge.calls import Admitted
from coilclaw.bridge.handlers import LoopBlocked
from coilclaw.bridge.invocation import BadOutput, invoke, invoke_async, serialised
from coilclaw.bridge.services import Services
from coilclaw.sandbox import Abandoned, Deadline
from coilclaw.sdk import Tool, ToolFailure
from coilclaw.sdk.errors import crash_of, failing_of

__all__ = ["crashed", "execute"]


def execute(admitted: Admitted, around: Services, deadline: Deadline, given_up: Callable[[], Refusal | None]) -> bytes:
    """Return the JSON of what the handler returned, bounded and without secrets. Raises `Refusal` for any other end."""
    tool, context = admitted.tool, admitted.context
    seconds = tool.timeout_seconds or around.tool_seconds
    timeout = min(seconds, deadline.remaining)
    ends = time.monotonic() + timeout
    try:
        if tool.is_async:
            if tool.hosts:
                import coilclaw.net.transport  # noqa: F401 - On the loop, loading it would hold up everybody else.
            returned = around.handlers.run_async(
                lambda: _coroutine(admitted), timeout, deadline, tool=tool.id, version=tool.version
            )
            # Not on the loop: a serialiser is the author's code too, and may take its time.
            left = min(ends - time.monotonic(), deadline.remaining)
            value = around.handlers.run(f"{tool.version} output", lambda: serialised(tool, returned), left, deadline)
        else:
            # Serialised on the handler's thread: that may run the author's code too.
            def job() -> bytes:
                return serialised(tool, invoke(tool, admitted.input, context))

            guarded = admitted.guarded
            value = around.handlers.run(
                tool.version, job if guarded is None else lambda: guarded.run(job), timeout, deadline
            )
    except Abandoned:
        if ended := given_up():
            raise ended from None
        raise Refusal(
            code="timeout",
            message=f"{tool.id} did not finish within {timeout:g} s; what it did is unknown",
            hint="give it longer with define_tool(timeout=…)" if timeout == seconds else None,
        ) from None
    except LoopBlocked as error:
        raise Refusal(
            code="loop_blocked",
            message=f"{tool.id} was not called: too many async tools block without end ({error})",
            hint="the authors of those tools have to await what takes long",
        ) from None
    except ToolFailure as error:
        raise _redacted(admitted, *failing_of(error)) from None
    except BadOutput as error:
        raise _redacted(admitted, "invalid_output", str(error), "the tool's author has to fix it") from None
    except BaseException as error:
        raise crashed(admitted, error) from None
    _check_size(tool, around.response_bytes, value)
    redacted = admitted.redaction.json(value)
    _check_size(tool, around.response_bytes, redacted)  # The name of a secret may be longer than its value.
    return redacted


def _check_size(tool: Tool, most: int, value: bytes) -> None:
    if len(value) > most:
        raise Refusal(
            code="output_too_large",
            message=f"{tool.id} returned {len(value)} bytes; at most {most} are passed on",
            hint="ask for less at a time",
        )


def _coroutine(admitted: Admitted) -> Coroutine[Any, Any, Any]:
    coroutine = invoke_async(admitted.tool, admitted.input, admitted.context)
    return coroutine if admitted.guarded is None else admitted.guarded.run_async(coroutine)


def crashed(admitted: Admitted, error: BaseException) -> Refusal:
    return _redacted(admitted, "tool_crashed", f"{admitted.tool.id} crashed: {crash_of(error)}", None)


def _redacted(admitted: Admitted, code: str, message: str, hint: str | None) -> Refusal:
    clean = admitted.redaction.text
    return Refusal(
        code=bounded(clean(code)), message=bounded(clean(message)), hint=bounded(clean(hint)) if hint else None
    )
